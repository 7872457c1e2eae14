"""A model that is trained with MLlib while MLflow logs parameters, metrics and data by itself; its predictions."""

import sys
from pathlib import Path

import mlflow
from pyspark.ml import Pipeline
from pyspark.ml.classification import LogisticRegression
from pyspark.ml.evaluation import BinaryClassificationEvaluator
from pyspark.ml.feature import StringIndexer, VectorAssembler
from pyspark.ml.tuning import CrossValidator, ParamGridBuilder
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

folder = Path(sys.argv[1]).resolve()
spark = (
    SparkSession.builder.master("local[1]").config("spark.sql.warehouse.dir", str(folder / "warehouse")).getOrCreate()
)
rows = [
    (number, ("web", "shop")[number % 2], float(number % 7), float(number * number % 11), float(number % 7 > 2))
    for number in range(60)
]
schema = "customer int, channel string, visits double, spent double, left double"
spark.createDataFrame(rows, schema).write.parquet(str(folder / "customers"))

mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
mlflow.set_experiment(
    experiment_id=mlflow.create_experiment("churn", artifact_location=(folder / "artifacts").as_uri())
)
mlflow.pyspark.ml.autolog(log_models=False)

customers = spark.read.parquet(str(folder / "customers"))
train, test = customers.where("customer % 4 > 0"), customers.where("customer % 4 = 0")
regression = LogisticRegression(labelCol="left", maxIter=5)
stages = [
    StringIndexer(inputCol="channel", outputCol="channel_index"),
    VectorAssembler(inputCols=["channel_index", "visits", "spent"], outputCol="features"),
    regression,
]
evaluator = BinaryClassificationEvaluator(labelCol="left")
with mlflow.start_run(run_name="one"):
    model = Pipeline(stages=stages).fit(train)
    predicted = model.transform(test)
    mlflow.log_metric("area", evaluator.evaluate(predicted))
predicted.select("customer", "left", "prediction").write.parquet(str(folder / "predictions"))

grid = ParamGridBuilder().addGrid(regression.regParam, [0.0, 0.1]).build()
validator = CrossValidator(
    estimator=Pipeline(stages=stages), estimatorParamMaps=grid, evaluator=evaluator, numFolds=2, seed=7
)
with mlflow.start_run(run_name="several"):
    best = validator.fit(train)
best.transform(customers).select("customer", F.col("prediction").alias("leaves")).write.parquet(str(folder / "best"))

runs = mlflow.search_runs()
logged = runs[sorted(name for name in runs if name.startswith(("params.", "metrics.")))].round(6)
(folder / "printed").mkdir()
(folder / "printed" / "logged.txt").write_text("\n".join(sorted(logged.to_csv(index=False).splitlines())))
spark.stop()
