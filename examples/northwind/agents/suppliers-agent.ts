/** Suppliers: the third level, reached only through the products agent. */
import { defineAgent } from '@witan/core'
import { modelFor } from '../model.ts'
import { suppliersScript } from '../scripts/suppliers.ts'
import { fields } from './schema.ts'

export const suppliersAgent = defineAgent({
  id: 'suppliers-agent',
  name: 'Suppliers',
  description: 'Knows who supplies a product and how to reach them.',
  model: modelFor('suppliers-agent', suppliersScript),
  instructions: 'You look up suppliers. Name the contact and the phone number as the tools give them.',
  queries: [
    {
      name: 'supplier-of-product',
      description: 'Who supplies the products of that name, or a part of it.',
      source: 'northwind',
      query: `select p.name as product, s.company_name as supplier, s.contact_name as contact, s.phone, s.city, s.country
        from products p join suppliers s on s.id = p.supplier_id
        where p.name like '%' || $product || '%' order by p.name limit 20`,
      parametersSchema: fields({ product: { type: 'string', minLength: 2 } }),
    },
    {
      name: 'suppliers-in-country',
      description: 'The suppliers of one country.',
      source: 'northwind',
      query: `select company_name as supplier, contact_name as contact, phone, city
        from suppliers where country = $country order by company_name`,
      parametersSchema: fields({ country: { type: 'string', minLength: 2, description: 'In English; USA and UK.' } }),
    },
  ],
})
