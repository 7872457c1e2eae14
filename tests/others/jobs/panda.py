"""A job of a pandas user, on Spark: the cells of a notebook, one after the other."""

import sys
from pathlib import Path

import pyspark.pandas as ps
from pyspark.sql import SparkSession

folder = Path(sys.argv[1])
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    .getOrCreate()
)
# In[1]
orders = [(1, 10, 5.0, 2, "ok"), (2, 11, 7.5, 1, "bad"), (3, 10, 2.5, 4, "ok"), (4, 12, 1.0, 9, "ok")]
spark.createDataFrame(orders, "order_id int, customer_id int, amount double, qty int, status string").write.parquet(
    str(folder / "orders")
)
customers = [(10, "Ann", "DE"), (11, "Bob", "FR"), (12, "Cas", "DE")]
spark.createDataFrame(customers, "customer_id int, name string, country string").write.parquet(
    str(folder / "customers")
)
# In[2]
o = ps.read_parquet(str(folder / "orders"))
c = ps.read_parquet(str(folder / "customers"))
print(o.head(2), len(o), o.dtypes)
# In[3]
o["total"] = o["amount"] * o["qty"]
good = o[o["status"] == "ok"]
joined = good.merge(c, on="customer_id", how="left")
# In[4]
by_country = joined.groupby("country", as_index=False).agg({"total": "sum", "order_id": "count"})
by_country = by_country.rename(columns={"order_id": "orders"}).sort_values("total", ascending=False)
by_country.to_parquet(str(folder / "by_country"))
# In[5]
joined["rank"] = joined.groupby("country")["total"].rank(ascending=False)
joined["label"] = joined["name"].str.upper() + "/" + joined["country"].fillna("?")
joined[["order_id", "label", "rank", "total"]].to_table("ranked")
# In[6]
joined.to_spark(index_col="position").select("position", "name").write.parquet(str(folder / "positions"))
spark.stop()
