{{ config(materialized='ephemeral') }}
select
    t.trip_id,
    case when m.plan = 'year' then 0 else 0.2 * t.minutes end as cost
from {{ ref('stg_trips') }} t
join {{ ref('stg_members') }} m on m.member_id = t.member_id
