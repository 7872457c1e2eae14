"""A job of an ibis user, on its PySpark backend: tables, views, joins, windows, a function, an insert."""

import sys
from pathlib import Path

import ibis
from ibis import _
from pyspark.sql import SparkSession

folder = Path(sys.argv[1])
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    .config("spark.sql.session.timeZone", "UTC")
    .getOrCreate()
)
sales = [
    (1, "north", "tea", "2026-03-02 10:00:00", 4, 2.5),
    (2, "north", "milk", "2026-03-02 11:30:00", 1, 1.2),
    (3, "south", "tea", "2026-04-05 09:15:00", 7, 2.4),
    (4, "south", "soap", "2026-04-06 16:45:00", 2, None),
]
spark.createDataFrame(
    sales, "sale_id int, shop string, product string, at string, qty int, price double"
).write.parquet(str(folder / "sales"))
shops = [("north", "Ann", [1, 2]), ("south", "Bob", [3])]
spark.createDataFrame(shops, "shop string, owner string, tills array<int>").write.parquet(str(folder / "shops"))

con = ibis.pyspark.connect(spark)
sales = con.read_parquet(str(folder / "sales"), table_name="sales")
shops = con.read_parquet(str(folder / "shops"), table_name="shops")


@ibis.udf.scalar.pandas
def initials(name: str) -> str:
    """The first letter of a name, with a dot."""
    return name.str[:1] + "."


priced = sales.mutate(at=_.at.cast("timestamp"), amount=_.qty * _.price.fill_null(0.0)).filter(_.qty > 0)
con.create_table("priced", priced)
priced = con.table("priced")

monthly = (
    priced.group_by(_.shop, month=_.at.truncate("M"))
    .aggregate(amount=_.amount.sum(), products=_.product.nunique(), best=_.product.argmax(_.amount))
    .order_by("shop", "month")
)
con.create_view("monthly", monthly)

ranked = (
    con.table("monthly")
    .join(shops, "shop", how="left")
    .mutate(
        place=ibis.rank().over(ibis.window(order_by=ibis.desc("amount"))),
        share=_.amount / _.amount.sum().over(ibis.window(group_by="month")),
        size=ibis.cases((_.amount > 10, "large"), else_="small"),
        owner_initial=initials(_.owner),
    )
    .drop("tills")
)
ranked.to_parquet(str(folder / "ranked"))
con.create_table("tills", shops.select("shop", till=_.tills.unnest()))
con.insert("tills", shops.mutate(till=_.tills.length() + 100).select("shop", "till"))
sold = priced.semi_join(shops.filter(_.owner == "Ann"), "shop").select("sale_id", "product")
rest = priced.anti_join(shops.filter(_.owner == "Ann"), "shop").select("sale_id", product=_.product.upper())
ibis.union(sold, rest).distinct().to_parquet(str(folder / "products"))
print(con.table("tills").order_by("till").to_pandas())
spark.stop()
