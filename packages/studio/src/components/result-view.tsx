/** What a tool came to: rows as a table, anything else as JSON. */
import { useState } from 'react'
import { count } from '../state/format.ts'
import { cellText, type Rows, rowsOf } from '../state/rows.ts'
import { JsonBlock } from './json-block.tsx'

const shownRows = 50

/** A button changes between the table and the JSON. */
export function ResultView({ label, value }: { readonly label: string; readonly value: unknown }) {
  const [asJson, setAsJson] = useState(false)
  const table = rowsOf(value)
  if (table === null) return <JsonBlock label={label} value={value} />
  return (
    <div>
      <p className="flex items-center justify-between">
        <span className="label">
          {label}: {count(table.rows.length, 'row')}
        </span>
        <button type="button" className="text-xs text-accent hover:underline" onClick={() => setAsJson(!asJson)}>
          {asJson ? 'As a table' : 'As JSON'}
        </button>
      </p>
      {asJson ? <JsonBlock label="" value={value} /> : <RowTable table={table} />}
    </div>
  )
}

function RowTable({ table: { columns, rows } }: { readonly table: Rows }) {
  const [all, setAll] = useState(false)
  const shown = all ? rows : rows.slice(0, shownRows)
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keys. */}
      <section className="mt-1 max-h-96 overflow-auto rounded-md border border-line" tabIndex={0} aria-label="Rows">
        <table data-testid="rows" className="w-full border-collapse text-left text-xs">
          <thead className="sticky top-0 bg-sunken">
            <tr>
              {columns.map((name) => (
                <th
                  key={name}
                  className={`border-b border-line px-2 py-1 font-semibold whitespace-nowrap ${rows.every((row) => typeof row[name] === 'number') ? 'text-right' : ''}`}
                >
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity.
              <tr key={index} className="border-b border-line last:border-b-0">
                {columns.map((name) => (
                  <Cell key={name} value={row[name]} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > shown.length && (
        <button type="button" className="mt-1 text-xs text-accent hover:underline" onClick={() => setAll(true)}>
          Show all {count(rows.length, 'row')}
        </button>
      )}
    </>
  )
}

function Cell({ value }: { readonly value: unknown }) {
  const look = typeof value === 'number' ? 'text-right tabular-nums' : value === null ? 'text-muted' : ''
  return <td className={`max-w-80 px-2 py-1 align-top break-words ${look}`}>{cellText(value)}</td>
}
