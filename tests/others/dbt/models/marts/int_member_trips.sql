select
    m.member_id,
    m.plan,
    count(t.trip_id) as trips,
    sum(t.km) as km,
    coalesce(sum(c.cost), 0) as cost
from {{ ref('stg_members') }} m
left join {{ ref('stg_trips') }} t on t.member_id = m.member_id
left join {{ ref('int_trip_costs') }} c on c.trip_id = t.trip_id
group by m.member_id, m.plan
