/** The comparison as a table for people. */
import { styleText } from 'node:util'
import type { Measured } from './measured.ts'

type Tone = 'bold' | 'dim' | 'green' | 'red'
type Paint = (tone: Tone, text: string) => string

interface Column {
  readonly title: string
  readonly cell: (measured: Measured) => string
  readonly tone?: (measured: Measured) => Tone
}

const count = (value: number) => value.toLocaleString('en-US')

const columns: readonly Column[] = [
  { title: 'set-up', cell: ({ setup }) => setup, tone: () => 'bold' },
  { title: 'agents', cell: ({ agents }) => count(agents) },
  { title: 'model calls', cell: ({ modelCalls }) => count(modelCalls) },
  { title: 'tokens in', cell: ({ inputTokens }) => count(inputTokens) },
  { title: 'tokens out', cell: ({ outputTokens }) => count(outputTokens) },
  { title: 'questions', cell: ({ questions }) => count(questions) },
  { title: 'messages', cell: ({ messages }) => count(messages) },
  { title: 'faults found', cell: ({ faultsFound }) => count(faultsFound) },
  {
    title: 'left',
    cell: ({ faultsLeft }) => (faultsLeft === null ? 'no model' : count(faultsLeft.length)),
    tone: ({ faultsLeft }) => (faultsLeft?.length === 0 ? 'green' : 'red'),
  },
  { title: 'cost', cell: ({ costUsd }) => (costUsd === null ? '–' : `$${costUsd.toFixed(4)}`) },
  { title: 'time', cell: ({ seconds }) => `${seconds.toFixed(1)} s` },
]

/** The lines of the table, then what is left to say of a set-up: why it broke off, and which faults are left. */
export function tableLines(all: readonly Measured[], { colours }: { readonly colours: boolean }): readonly string[] {
  const paint: Paint = (tone, text) => (colours ? styleText(tone, text, { validateStream: false }) : text)
  const widths = columns.map(({ title, cell }) => Math.max(title.length, ...all.map((one) => cell(one).length)))
  const row = (cells: readonly string[], paintCell: (text: string, index: number) => string) =>
    cells
      .map((text, index) =>
        paintCell(index === 0 ? text.padEnd(widths[index] ?? 0) : text.padStart(widths[index] ?? 0), index),
      )
      .join('  ')
  return [
    row(
      columns.map(({ title }) => title),
      (text) => paint('dim', text),
    ),
    ...all.map((one) =>
      row(
        columns.map(({ cell }) => cell(one)),
        (text, index) => {
          const tone = columns[index]?.tone?.(one)
          return tone === undefined ? text : paint(tone, text)
        },
      ),
    ),
    ...all.flatMap((one) => notesOn(one).map((note) => `${paint('bold', one.setup)}: ${note}`)),
  ]
}

function notesOn({ problem, status, faultsLeft, lastWords }: Measured): readonly string[] {
  const broke = problem ?? (status === 'completed' ? null : `it ended ${status}`)
  const isEmpty = broke === null && faultsLeft === null
  return [
    ...(broke === null ? [] : [broke]),
    ...(isEmpty ? [`it saved no process model. Its last words: ${quoted(lastWords)}`, advice] : []),
    ...(faultsLeft === null || faultsLeft.length === 0 ? [] : [`left: ${faultsLeft.join('; ')}`]),
  ]
}

const advice =
  'The model has to call the tools that it gets. Try a larger one, or run without --model to see a script do it.'
const mostQuoted = 200

/** Words of a model on one line, without what moves a terminal. */
function quoted(words: string): string {
  const line = words.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim()
  const shown = line.length > mostQuoted ? `${line.slice(0, mostQuoted).trimEnd()}…` : line
  return shown === '' ? 'none.' : `“${shown}”`
}
