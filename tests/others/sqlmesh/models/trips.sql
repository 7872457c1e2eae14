MODEL (
  name bikes.trips,
  kind SEED (path '../seeds/trips.csv'),
  columns (trip_id INT, member STRING, station STRING, day DATE, km DOUBLE),
  grain trip_id
);
