select order_id, upper(customer) as customer, amount * 1.25 as gross from {{ ref('orders') }} where amount > 0
