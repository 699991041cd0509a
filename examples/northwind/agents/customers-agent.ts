/** Customers: the employee's own by `$userId`, and all of them by country or name. */
import { defineAgent } from '@witan/core'
import { modelFor } from '../model.ts'
import { customersScript } from '../scripts/customers.ts'
import { fields, limit } from './schema.ts'
import { userId } from './user-id.ts'

export const customersAgent = defineAgent({
  id: 'customers-agent',
  name: 'Customers',
  description: 'Knows the customers and what they have ordered.',
  model: modelFor('customers-agent', customersScript),
  instructions: `You look up customers and what they have ordered. Tools that say “my” already know which employee asks.
Country names are English, and it is USA and UK. Totals are US dollars without freight. Quote numbers exactly.`,
  parameters: [userId],
  queries: [
    {
      name: 'my-customers',
      description: 'The customers who ordered most from the employee.',
      source: 'northwind',
      query: `select c.company_name as company, c.city, c.country, count(*) as orders, round(sum(t.total), 2) as total
        from order_totals t join customers c on c.id = t.customer_id
        where t.employee_id = $userId group by c.id order by total desc limit $limit`,
      parametersSchema: fields({ limit }),
    },
    {
      name: 'top-customers',
      description: 'The customers who ordered most from the whole company, of all countries or of one.',
      source: 'northwind',
      query: `select c.company_name as company, c.city, c.country, t.orders, t.total
        from customer_totals t join customers c on c.id = t.customer_id
        where $country is null or c.country = $country order by t.total desc limit $limit`,
      parametersSchema: fields({
        country: { type: ['string', 'null'], description: 'null for all countries.' },
        limit,
      }),
    },
    {
      name: 'find-customers',
      description: 'Customers by a part of their name, with whom to talk to.',
      source: 'northwind',
      query: `select id, company_name as company, contact_name as contact, contact_title, city, country, phone
        from customers where company_name like '%' || $name || '%' order by company_name limit 20`,
      parametersSchema: fields({ name: { type: 'string', minLength: 2 } }),
    },
  ],
})
