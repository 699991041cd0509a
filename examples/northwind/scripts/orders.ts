/** The script of the orders agent. */
import type { Row } from './routes.ts'
import { call, lines, money, named, routes, tell } from './routes.ts'

const number = /\border (?:orders\/)?(\d{5})/i

function orderLine(row: Row): string {
  const shipped = row.shipped_date === null ? 'not shipped yet' : `shipped ${row.shipped_date}`
  return `${row.id} of ${row.order_date} for ${row.customer}: ${money(row.total)}, ${shipped}`
}

/** Reads the orders of the employee that the conversation is about, and any single order. */
export const ordersScript = routes(
  [
    {
      match: /\b(not shipped|unshipped|open orders)\b/i,
      steps: [
        () => call('my-open-orders'),
        tell(
          (rows) =>
            `${rows.length} of your orders ${rows.length === 1 ? 'is' : 'are'} not shipped:\n${lines(rows, orderLine)}`,
          'All your orders are shipped.',
        ),
      ],
    },
    {
      match: /\b(my|latest) (latest |last |recent )?orders\b(?!.*not shipped)/i,
      steps: [
        () => call('my-latest-orders', { limit: 5 }),
        tell((rows) => `Your latest orders:\n${lines(rows, orderLine)}`, 'You have taken no orders.'),
      ],
    },
    {
      match: number,
      steps: [
        ({ message }) => call('get-order-lines', { orderId: `orders/${named(message, number)}` }),
        tell((rows) => {
          const total = rows.reduce((sum, row) => sum + Number(row.total), 0)
          return `${rows[0]?.order_id} comes to ${money(total)}:\n${lines(rows, (row) => `${row.quantity} × ${row.product}, ${money(row.total)}`)}`
        }, 'There is no order of that number.'),
      ],
    },
  ],
  'I am a script and know your latest orders, your orders that are not shipped, and what is in an order.',
)
