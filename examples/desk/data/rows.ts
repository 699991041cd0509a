/** The rows of the two databases: accounts and tasks, and the orders of the warehouse. */

/** The accounts of the firm. */
export const accounts = [
  {
    id: 'acct-alpine',
    name: 'Alpine Foods',
    city: 'Salzburg',
    industry: 'food',
    manager: 'Nora Weiss',
    since: '2019-04-01',
  },
  {
    id: 'acct-baltic',
    name: 'Baltic Freight',
    city: 'Rostock',
    industry: 'shipping',
    manager: 'Jonas Lind',
    since: '2021-07-01',
  },
  {
    id: 'acct-corvo',
    name: 'Corvo Textiles',
    city: 'Porto',
    industry: 'textiles',
    manager: 'Jonas Lind',
    since: '2022-01-15',
  },
  {
    id: 'acct-delmar',
    name: 'Delmar Water',
    city: 'Boston',
    industry: 'water',
    manager: 'Tom Reyes',
    since: '2020-10-01',
  },
  {
    id: 'acct-edo',
    name: 'Edo Chemicals',
    city: 'Osaka',
    industry: 'chemicals',
    manager: 'Aiko Mori',
    since: '2018-05-20',
  },
  {
    id: 'acct-fjord',
    name: 'Fjord Salmon',
    city: 'Bergen',
    industry: 'food',
    manager: 'Nora Weiss',
    since: '2024-02-01',
  },
] as const

/** Whom to talk to. */
export const contacts = [
  {
    account: 'acct-alpine',
    name: 'Greta Huber',
    role: 'head of production',
    email: 'greta.huber@alpine-foods.example',
    phone: '+43 662 555 01',
  },
  {
    account: 'acct-alpine',
    name: 'Paul Egger',
    role: 'purchasing',
    email: 'paul.egger@alpine-foods.example',
    phone: '+43 662 555 02',
  },
  {
    account: 'acct-baltic',
    name: 'Ilse Kruse',
    role: 'fleet',
    email: 'ilse.kruse@baltic-freight.example',
    phone: '+49 381 555 10',
  },
  {
    account: 'acct-corvo',
    name: 'Rui Teles',
    role: 'works',
    email: 'rui.teles@corvo.example',
    phone: '+351 22 555 20',
  },
] as const

/** Invoices, in euros. */
export const invoices = [
  { id: 'inv-2041', account: 'acct-alpine', issued: '2026-08-31', due: '2026-09-30', amount: 1850, paid: '2026-09-24' },
  { id: 'inv-2067', account: 'acct-alpine', issued: '2026-09-15', due: '2026-10-15', amount: 6240.5, paid: null },
  { id: 'inv-2088', account: 'acct-alpine', issued: '2026-09-30', due: '2026-10-30', amount: 1850, paid: null },
  { id: 'inv-2052', account: 'acct-baltic', issued: '2026-08-31', due: '2026-09-30', amount: 4200, paid: null },
] as const

/** Tasks of the colleagues. */
export const tasks = [
  {
    id: 't-1',
    title: 'Send a technician to pump 7 of Alpine Foods',
    assignee: 'nora',
    due: '2026-10-23',
    status: 'open',
  },
  { id: 't-2', title: 'Offer for the renewal of Alpine Foods', assignee: 'nora', due: '2026-11-06', status: 'open' },
  {
    id: 't-3',
    title: 'Answer about the maintenance of Baltic Freight',
    assignee: 'nora',
    due: '2026-10-16',
    status: 'open',
  },
  { id: 't-4', title: 'Check the stock of seals', assignee: 'jonas', due: '2026-10-20', status: 'open' },
  { id: 't-5', title: 'Figures of September for the US', assignee: 'tom', due: '2026-10-13', status: 'done' },
  { id: 't-6', title: 'Visit Edo Chemicals', assignee: 'aiko', due: '2026-11-12', status: 'open' },
] as const

/** An order of the warehouse. */
export interface Order {
  readonly [column: string]: string | number
}

const products = [
  ['pump', 2400],
  ['valve', 180],
  ['filter', 65],
  ['service', 950],
] as const
const regions = ['north', 'south', 'overseas'] as const

/** Orders of 21 months, from January 2025 to September 2026: the same each time. */
export function orders(): readonly Order[] {
  const rows: Order[] = []
  let state = 20_261_019
  const next = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
  for (let month = 0; month < 21; month += 1) {
    const day = `${2025 + Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, '0')}`
    for (const region of regions)
      for (const [product, price] of products) {
        const units = 4 + next(12) + (region === 'north' ? 4 : 0) + Math.floor(month / 4)
        rows.push({
          id: `o-${rows.length + 1}`,
          day: `${day}-${String(1 + next(28)).padStart(2, '0')}`,
          region,
          product,
          units,
          revenue: units * price,
        })
      }
  }
  return rows
}
