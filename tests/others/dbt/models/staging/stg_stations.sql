select cast(station_id as int) as station_id, upper(name) as station_name, city
from {{ ref('stations') }}
