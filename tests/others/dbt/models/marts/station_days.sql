select day, station, count(*) as starts, sum(cost) as income
from (
    select day, from_station as station, cost from {{ ref('fct_trips') }}
    union all
    select day, to_station as station, cast(null as double) as cost from {{ ref('fct_trips') }}
)
group by day, station
