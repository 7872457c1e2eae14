select
    date_trunc('month', t.started_at) as month
    {% for plan in ['year', 'day'] %}
    , sum(case when m.plan = '{{ plan }}' then t.km end) as km_{{ plan }}
    {% endfor %}
from {{ ref('stg_trips') }} t
join {{ ref('stg_members') }} m on m.member_id = t.member_id
group by date_trunc('month', t.started_at)
