select p.city, sum(s.gross) as total from {{ ref('sales') }} s join {{ ref('people') }} p on s.customer = p.customer group by p.city
