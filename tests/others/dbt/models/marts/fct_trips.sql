{{ config(
    materialized='incremental',
    incremental_strategy='insert_overwrite',
    partition_by=['day'],
    file_format='parquet'
) }}
select
    t.trip_id,
    t.member_id,
    s.station_name as from_station,
    e.station_name as to_station,
    c.cost,
    cast(t.started_at as date) as day
from {{ ref('stg_trips') }} t
join {{ ref('stg_stations') }} s on s.station_id = t.start_station
join {{ ref('stg_stations') }} e on e.station_id = t.end_station
left join {{ ref('int_trip_costs') }} c on c.trip_id = t.trip_id
{% if is_incremental() %}
where cast(t.started_at as date) >= (select max(day) from {{ this }})
{% endif %}
