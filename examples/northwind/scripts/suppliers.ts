/** The script of the suppliers agent. */
import { call, lines, named, routes, tell } from './routes.ts'

const product = /\bsuppl\w+ (?:of |for )?"?([A-Z][^?.,!"]*)/
const place = /\bin (?:the )?([A-Z][A-Za-z]*)/

/** Knows whom to call about a product. */
export const suppliersScript = routes(
  [
    {
      match: product,
      steps: [
        ({ message }) => call('supplier-of-product', { product: named(message, product) }),
        tell(
          (rows) =>
            lines(
              rows,
              (row) =>
                `${row.product} comes from ${row.supplier} in ${row.city}, ${row.country}: ask ${row.contact} at ${row.phone}`,
            ),
          'Nobody supplies such a product.',
        ),
      ],
    },
    {
      match: place,
      steps: [
        ({ message }) => call('suppliers-in-country', { country: named(message, place) }),
        tell(
          (rows) =>
            `Suppliers there:\n${lines(rows, (row) => `${row.supplier}, ${row.city}: ${row.contact}, ${row.phone}`)}`,
          'There are no suppliers there.',
        ),
      ],
    },
  ],
  'I am a script and know who supplies a product, and the suppliers in a country.',
)
