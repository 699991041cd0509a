/** The warehouse: figures of orders, by queries that only read. */
import { type Agent, defineAgent } from '@witan/core'
import type { ModelFor } from '../model.ts'
import { dataScript } from '../scripts/data.ts'
import { setting } from '../world.ts'
import { fields } from './schema.ts'

const year = { type: 'integer', minimum: 2025, maximum: 2026 }

export const dataAgent = (model: ModelFor): Agent =>
  defineAgent({
    id: 'data',
    name: 'Data',
    description:
      'Knows the figures of the warehouse from January 2025 to September 2026: revenue and units by month, region and product; writes reports.',
    model: model('data', dataScript),
    instructions: `${setting}
You look up figures of orders. Revenue is in euros. For a report go through the quarters one after the other. Quote numbers exactly.`,
    queries: [
      {
        name: 'revenue_by_month',
        description: 'Revenue of each month of a year.',
        source: 'warehouse',
        query: `select substr(day, 1, 7) as month, sum(revenue) as revenue from orders where substr(day, 1, 4) = cast($year as text) group by month order by month`,
        parametersSchema: fields({ year }),
      },
      {
        name: 'revenue_by_region',
        description: 'Revenue and units of each region in a year, the best first.',
        source: 'warehouse',
        query: `select region, sum(revenue) as revenue, sum(units) as units from orders where substr(day, 1, 4) = cast($year as text) group by region order by revenue desc`,
        parametersSchema: fields({ year }),
      },
      {
        name: 'revenue_by_product',
        description: 'Revenue and units of each product in a year, the best first.',
        source: 'warehouse',
        query: `select product, sum(revenue) as revenue, sum(units) as units from orders where substr(day, 1, 4) = cast($year as text) group by product order by revenue desc`,
        parametersSchema: fields({ year }),
      },
      {
        name: 'figures_of_quarter',
        description: 'Revenue, orders and the best product of one quarter.',
        source: 'warehouse',
        query: `with of_quarter as (select * from orders where substr(day, 1, 4) = cast($year as text) and (cast(substr(day, 6, 2) as integer) + 2) / 3 = $quarter)
          select sum(revenue) as revenue, count(*) as orders,
            (select product from of_quarter group by product order by sum(revenue) desc limit 1) as best from of_quarter`,
        parametersSchema: fields({ year, quarter: { type: 'integer', minimum: 1, maximum: 4 } }),
      },
    ],
  })
