select
    cast(member_id as int) as member_id,
    full_name,
    lower(email) as email,
    plan,
    joined_on
from {{ ref('members') }}
