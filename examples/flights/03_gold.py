"""The tables that the reports read: one row per airline and month, and the fleet that flew.

Run it: python 03_gold.py LAKE
"""

import sys

from pyspark.sql import SparkSession

SCORECARD = """
CREATE TABLE gold.scorecard (
  carrier STRING, month INT, flights BIGINT, late_share DOUBLE, seat_hours_lost DOUBLE, windy_delay DOUBLE,
  place BIGINT, change DOUBLE
) USING parquet LOCATION '{lake}/gold/scorecard'
"""

# By position: `airline` becomes `carrier`, `late` becomes `late_share`.
FILL_SCORECARD = """
INSERT OVERWRITE gold.scorecard
WITH months AS (
  SELECT
    airline,
    month(flight_date) AS month,
    count(*) AS flights,
    avg(CASE WHEN outcome = 'late' THEN 1.0 ELSE 0.0 END) AS late,
    sum(CASE WHEN outcome = 'late' THEN seats * arr_delay / 60 ELSE 0 END) AS lost,
    avg(arr_delay) FILTER (WHERE weather.wind_speed > 20) AS windy
  FROM flights
  GROUP BY airline, month(flight_date)
)
SELECT
  airline, month, flights, late, lost, windy,
  rank() OVER (PARTITION BY month ORDER BY late),
  late - lag(late) OVER (PARTITION BY airline ORDER BY month)
FROM months
"""

FLEET = """
SELECT airline, family, count(DISTINCT tailnum) AS planes, sum(seats) AS seats, sum(seats * km) AS seat_km
FROM flights
WHERE outcome <> 'cancelled'
GROUP BY ROLLUP (airline, family)
"""

WORST = """
CREATE VIEW gold.worst AS
SELECT carrier, month, late_share, seat_hours_lost FROM gold.scorecard WHERE place > 10
"""


def main(lake: str) -> None:
    spark = SparkSession.builder.appName("flights_gold").getOrCreate()
    spark.read.parquet(f"{lake}/silver/flights").createOrReplaceTempView("flights")

    spark.sql(f"CREATE DATABASE gold LOCATION '{lake}/gold'")
    spark.sql(SCORECARD.format(lake=lake))
    spark.sql(FILL_SCORECARD)
    spark.sql(FLEET).write.mode("overwrite").option("path", f"{lake}/gold/fleet").saveAsTable("gold.fleet")
    spark.sql(WORST)

    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
