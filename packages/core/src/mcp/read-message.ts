/** Reads what an MCP server wrote, within bounds of size and depth, before anything else sees it. */
import { withTexts } from '@witan/protocol/digits'
import { jsonSize, maxJsonSize } from '@witan/protocol/schemas'
import { nextTurn } from '../identity/turn.ts'
import { McpError } from './trouble.ts'

/** The most bytes of one answer. */
export const maxAnswerBytes = 16 * 1024 * 1024
const maxDepth = 512
/** A long text costs a parser little, whatever is in it; many small values cost much. */
const most = { ...maxJsonSize, written: maxAnswerBytes }

const longText = 262_144

/** A message as it came, and how long it was. */
export interface Arrived {
  readonly value: unknown
  readonly length: number
}

/** The messages of a text: one, or those of a list; null if it is no JSON. Throws for what is too large or too deep. Gives way between its pieces. */
export async function readMessages(text: string): Promise<readonly Arrived[] | null> {
  if (text.length > maxAnswerBytes) throw tooLong()
  // Each look at a long text takes a turn of its own.
  if (text.length > longText) await nextTurn()
  const size = jsonSize(text, most)
  if (size.depth > maxDepth) throw new McpError('protocol', `sent an answer nested deeper than ${maxDepth} levels.`)
  if (size.values > most.values || size.keys > most.keys || size.beside > most.beside)
    throw new McpError('protocol', 'sent an answer with too many values.')
  const isLong = text.length > longText
  if (isLong) await nextTurn()
  const exact = withTexts(text)
  if (isLong) await nextTurn()
  const value = parsed(exact) ?? parsed(text)
  if (value === undefined) return null
  const list = Array.isArray(value) ? value : [value]
  return list.map((each: unknown) => ({ value: each, length: text.length }))
}

/** The error for an answer beyond the bound. */
export function tooLong(): McpError {
  return new McpError('protocol', `sent an answer of more than ${maxAnswerBytes / 1024 / 1024} MiB.`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Cuts bytes into lines. A line beyond the bound throws, before it is read. */
export function createLines(): (chunk: Buffer) => readonly Buffer[] {
  let parts: Buffer[] = []
  let length = 0
  return (chunk) => {
    const lines: Buffer[] = []
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      if (length + at - from > maxAnswerBytes) throw tooLong()
      const end = chunk.subarray(from, at)
      lines.push(parts.length === 0 ? end : Buffer.concat([...parts, end]))
      parts = []
      length = 0
      from = at + 1
    }
    const rest = chunk.subarray(from)
    length += rest.length
    if (length > maxAnswerBytes) throw tooLong()
    if (rest.length > 0) parts.push(rest)
    return lines
  }
}
