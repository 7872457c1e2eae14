select
    m.member_id,
    m.full_name,
    sha2(m.email, 256) as email_key,
    i.trips,
    i.trips > 1 as is_regular
from {{ ref('stg_members') }} m
left join {{ ref('int_member_trips') }} i using (member_id)
