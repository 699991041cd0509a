/**
 * The stored texts of a job's result and of what is told of it. Most of a result stands in the row of its job already, or is the same in every run: such a one is
 * stored without it. Any other value is stored as it is.
 */
import { isDeepStrictEqual } from 'node:util'
import { type Fields, hasFields, longUsage, shortUsage } from './short-usage.ts'

/** What a result repeats of its job. */
interface ResultOf {
  readonly id: string
  readonly conversation: string
}

/** The fields of a result, in their order. */
const resultFields = [
  ...[
    'runId',
    'conversationId',
    'agent',
    'status',
    'text',
    'output',
    'finishReason',
    'error',
    'interruptions',
    'tasks',
  ],
  ...['usage', 'elapsedMs'],
]

/** What a short text begins with, and JSON never. */
const mark = '~'

/** What is told of most jobs. */
const usualAbout = '{"hidden":false,"originRunId":null}'

/** The text of what is told of a job, on one line: a mark for what is told of most. */
export function aboutText(about: unknown): string {
  const text = JSON.stringify(about) ?? 'null'
  return text === usualAbout ? mark : text
}

/** What a text was made from; null for null. */
export function aboutOf(text: unknown): unknown {
  return text === null ? null : JSON.parse(text === mark ? usualAbout : (text as string))
}

/** The text of a result, on one line. */
export function resultText(result: unknown, of: ResultOf): string {
  const short = shortened(result, of)
  return short === null ? (JSON.stringify(result) ?? 'null') : mark + JSON.stringify(short)
}

/** The result that a text was made from. */
export function resultOf(text: string, of: ResultOf): unknown {
  if (!text.startsWith(mark)) return JSON.parse(text)
  const short = JSON.parse(text.slice(mark.length)) as Fields
  const same = sameOf(of)
  return Object.fromEntries(
    resultFields.map((name) => {
      const value = name in short ? short[name] : same[name]
      return [name, name === 'usage' ? longUsage(value) : value]
    }),
  )
}

function sameOf({ id, conversation }: ResultOf): Fields {
  return {
    ...{ runId: id, conversationId: conversation, status: 'completed', finishReason: 'stop' },
    ...{ output: null, error: null, interruptions: [], tasks: [] },
  }
}

/** Null for what is not exactly a result. */
function shortened(result: unknown, of: ResultOf): Fields | null {
  if (!hasFields(result, resultFields) || Array.isArray(result['usage'])) return null
  const same = sameOf(of)
  const left = Object.entries(result).filter(([name, value]) => !(name in same && isDeepStrictEqual(value, same[name])))
  const short = Object.fromEntries(left)
  const usage = shortUsage(short['usage'])
  return usage === null ? short : { ...short, usage }
}
