/** The script of the customers agent. */
import type { Row } from './routes.ts'
import { call, lines, money, named, routes, tell } from './routes.ts'

const place = /\bin (?:the )?([A-Z][A-Za-z]*)/

function customerLine(row: Row): string {
  return `${row.company} (${row.city}, ${row.country}): ${money(row.total)} in ${row.orders} orders`
}

/** Ranks customers: the employee's own, or all of them. */
export const customersScript = routes(
  [
    {
      match: /\bmy\b[^.?]*\bcustomers?\b/i,
      steps: [
        () => call('my-customers', { limit: 5 }),
        tell(
          (rows) => `The customers who ordered most from you:\n${lines(rows, customerLine)}`,
          'Nobody has ordered from you yet.',
        ),
      ],
    },
    {
      match: /^(?!.*\bmy\b[^.?]*\bcustomers?\b).*\bcustomers?\b/i,
      steps: [
        ({ message }) => call('top-customers', { country: named(message, place) || null, limit: 5 }),
        tell((rows, { message }) => {
          const where = named(message, place)
          return `Our top customers${where === '' ? '' : ` in ${where}`}:\n${lines(rows, customerLine)}`
        }, 'There are no customers there.'),
      ],
    },
  ],
  'I am a script and know your best customers, and our top customers, also by country.',
)
