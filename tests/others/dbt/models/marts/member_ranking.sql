select
    member_id,
    plan,
    rank() over (partition by plan order by km desc) as place,
    km - lag(km) over (partition by plan order by km desc) as behind
from {{ ref('int_member_trips') }}
