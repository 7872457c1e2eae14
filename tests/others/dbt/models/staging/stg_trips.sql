with typed as (
    select
        trip_id, member_id, start_station, end_station,
        cast(started_at as timestamp) as started_at,
        cast(ended_at as timestamp) as ended_at,
        km
    from {{ ref('trips') }}
)
select *, (unix_timestamp(ended_at) - unix_timestamp(started_at)) / 60 as minutes
from typed
where ended_at > started_at
