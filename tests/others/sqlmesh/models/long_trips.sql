MODEL (name bikes.long_trips, kind VIEW);

SELECT trip_id, member, station, day, km * 1000 AS metres
FROM bikes.trips
WHERE km > 1
