/** Orders: those of the employee who asks by `$userId`, and any single one by its number. */
import { defineAgent } from '@witan/core'
import { modelFor } from '../model.ts'
import { ordersScript } from '../scripts/orders.ts'
import { fields, limit } from './schema.ts'
import { userId } from './user-id.ts'

export const ordersAgent = defineAgent({
  id: 'orders-agent',
  name: 'Orders',
  description: 'Knows the orders that the employee has taken, and what is in any order.',
  model: modelFor('orders-agent', ordersScript),
  instructions: `You look up orders. The tools that say “my” already know whose orders they are.
Order ids look like orders/10248; people often say only the number. Dates are of the years 1996 to 1998. Quote numbers exactly.`,
  parameters: [userId],
  queries: [
    {
      name: 'my-latest-orders',
      description: 'The orders that the employee took last.',
      source: 'northwind',
      query: `select o.id, o.order_date, o.shipped_date, c.company_name as customer, t.total
        from orders o join customers c on c.id = o.customer_id join order_totals t on t.order_id = o.id
        where o.employee_id = $userId order by o.order_date desc, o.id desc limit $limit`,
      parametersSchema: fields({ limit }),
    },
    {
      name: 'my-open-orders',
      description: 'The employee’s orders that have not been shipped, the most urgent first.',
      source: 'northwind',
      query: `select o.id, o.order_date, o.required_date, o.shipped_date, c.company_name as customer, t.total
        from orders o join customers c on c.id = o.customer_id join order_totals t on t.order_id = o.id
        where o.employee_id = $userId and o.shipped_date is null order by o.required_date`,
    },
    {
      name: 'get-order-lines',
      description: 'What is in one order.',
      source: 'northwind',
      query: `select order_id, product_name as product, quantity, unit_price, discount, total
        from order_lines where order_id = $orderId order by total desc`,
      parametersSchema: fields({ orderId: { type: 'string', description: 'Such as orders/10248.' } }),
    },
  ],
})
