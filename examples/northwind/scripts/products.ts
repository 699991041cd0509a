/** The script of the products agent. */
import type { Row } from './routes.ts'
import { call, lines, money, named, routes, tell } from './routes.ts'

const product =
  /\b(?:much|many|of|is|does|are) (?!it\b|the\b|we\b|in\b|there\b|running\b)"?([A-Z][^?.,!]*?)"?(?: (?:is|are|do|cost|costs|in|left|have)\b|[?.,!]|$)/
const reorder = /\breorder (\d+) (?:\w+ of |of )?"?([A-Z][^?.,!"]*)/i

function stockLine(row: Row): string {
  if (row.discontinued === 1) return `${row.name}: discontinued, ${row.units_in_stock} left, ${money(row.unit_price)}`
  return `${row.name}: ${row.units_in_stock} in stock, ${row.units_on_order} on order, reordered at ${row.reorder_level}, ${money(row.unit_price)} for ${row.quantity_per_unit}`
}

/** Reads the stock, asks the suppliers agent about suppliers, and asks a person to reorder. */
export const productsScript = routes(
  [
    {
      match: /\b(suppl\w+)\b/i,
      steps: [({ message }) => call('suppliers-agent', { message })],
    },
    {
      match: reorder,
      steps: [
        ({ message }) => call('find-products', { name: reorder.exec(message)?.[2]?.trim() ?? '' }),
        ({ message, rows }) => {
          const [row] = rows
          if (row === undefined) return 'There is no such product to reorder.'
          const quantity = Number(named(message, reorder))
          const reason = `${row.units_in_stock} in stock, ${row.units_on_order} on order`
          return call('RequestReorder', { productId: row.id, product: row.name, quantity, reason })
        },
        ({ result }) => `The reorder was answered: ${typeof result === 'string' ? result : JSON.stringify(result)}`,
      ],
    },
    {
      match: /\b(low|running out)\b/i,
      steps: [
        () => call('low-stock'),
        tell((rows) => `Running low:\n${lines(rows, stockLine)}`, 'Nothing is running low.'),
      ],
    },
    {
      match: /\bsell/i,
      steps: [
        () => call('best-sellers', { limit: 5 }),
        tell(
          (rows) =>
            `What sells best:\n${lines(rows, (row) => `${row.name}: ${money(row.total)} with ${row.quantity} units`)}`,
          'Nothing was sold.',
        ),
      ],
    },
    {
      match: /\b(stock|price|costs?)\b/i,
      steps: [
        ({ message }) => call('find-products', { name: named(message, product) }),
        tell((rows) => lines(rows.slice(0, 5), stockLine), 'There is no such product.'),
      ],
    },
  ],
  'I am a script and know stock and prices, what runs low, what sells best, suppliers and reorders.',
)
