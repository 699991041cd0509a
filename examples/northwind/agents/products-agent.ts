/** Products and stock; asks the suppliers agent, one level further down, and asks a person to reorder. */
import { defineAgent } from '@witan/core'
import { modelFor } from '../model.ts'
import { productsScript } from '../scripts/products.ts'
import { fields, limit } from './schema.ts'

const stockColumns = `p.id, p.name, c.name as category, p.quantity_per_unit, p.unit_price,
        p.units_in_stock, p.units_on_order, p.reorder_level, p.discontinued`

export const productsAgent = defineAgent({
  id: 'products-agent',
  name: 'Products',
  description: 'Knows products, prices, stock and what sells; asks for reorders.',
  model: modelFor('products-agent', productsScript),
  instructions: `You look up products, prices and stock. Prices are US dollars. Quote numbers exactly.
Ask the suppliers agent who supplies what. Before you ask for a reorder, look up the product’s id.`,
  queries: [
    {
      name: 'find-products',
      description: 'Products by a part of their name, with price and stock.',
      source: 'northwind',
      query: `select ${stockColumns}
        from products p join categories c on c.id = p.category_id
        where p.name like '%' || $name || '%' order by p.discontinued, p.name limit 20`,
      parametersSchema: fields({ name: { type: 'string', description: 'Empty for all.' } }),
    },
    {
      name: 'low-stock',
      description: 'Products of which stock and orders together are not above the reorder level.',
      source: 'northwind',
      query: `select ${stockColumns}
        from products p join categories c on c.id = p.category_id
        where p.discontinued = 0 and p.units_in_stock + p.units_on_order <= p.reorder_level order by p.units_in_stock`,
    },
    {
      name: 'best-sellers',
      description: 'The products that brought in most, over all time.',
      source: 'northwind',
      query: `select product_name as name, sum(quantity) as quantity, round(sum(total), 2) as total
        from order_lines group by product_id order by total desc limit $limit`,
      parametersSchema: fields({ limit }),
    },
  ],
  actions: [
    {
      name: 'RequestReorder',
      description: 'Asks the purchasing desk to reorder a product. A person decides.',
      parametersSchema: fields({
        productId: { type: 'string', description: 'Such as products/2.' },
        product: { type: 'string' },
        quantity: { type: 'integer', minimum: 1 },
        reason: { type: 'string' },
      }),
    },
  ],
  subAgents: [{ agent: 'suppliers-agent', description: 'Knows who supplies a product and how to reach them.' }],
})
