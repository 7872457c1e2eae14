MODEL (
  name bikes.station_days,
  kind INCREMENTAL_BY_TIME_RANGE (time_column day),
  cron '@daily'
);

SELECT station, day, COUNT(*) AS trips, SUM(metres) AS metres
FROM bikes.long_trips
WHERE day BETWEEN @start_date AND @end_date
GROUP BY station, day
