MODEL (name bikes.members, kind FULL);

SELECT t.member, SHA2(t.member, 256) AS member_key, SUM(t.metres) AS metres, MAX(s.trips) AS busiest
FROM bikes.long_trips AS t
JOIN bikes.station_days AS s ON s.station = t.station AND s.day = t.day
GROUP BY t.member
