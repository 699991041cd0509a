/** Splits the bytes of a reply into its JSON documents: one for a plain reply, one for each `data` line of an event stream. */
import { parseExact } from '@witan/protocol/digits'
import { jsonExcess } from '@witan/protocol/schemas'

/** What a document was: JSON, JSON that is too large to read, the mark that no more comes, or text that is none of these. */
export type ReplyDocument =
  | { readonly type: 'json'; readonly value: unknown }
  | { readonly type: 'excess'; readonly problem: string }
  | { readonly type: 'done' }
  | { readonly type: 'broken'; readonly text: string }

/** Takes bytes as they come and hands over every document in order; `end` hands over what the last line held. */
interface DocumentReader {
  /** Whether any of these bytes belong to a document: comments, other fields and white space around them do not. */
  push(bytes: Uint8Array): boolean
  /** Measures what `end` has to parse, so that both need not be in one turn. */
  measure(): void
  end(): void
}

type OnDocument = (document: ReplyDocument) => void

/** Reads text, one piece after another, until it ends. */
interface TextReader {
  /** Whether any of the text belongs to a document. */
  take(text: string): boolean
  measure(): void
  end(): void
}

/**
 * Reads a reply in either form. The first character tells which it is, as servers mislabel both: no event stream begins with a
 * bracket. Bytes may be cut anywhere, also inside a character.
 */
export function createDocumentReader(onDocument: OnDocument): DocumentReader {
  const decoder = new TextDecoder()
  let reader: TextReader | undefined
  const take = (text: string): boolean => {
    const begun = reader === undefined ? text.trimStart() : text
    if (begun === '') return false
    reader ??= /^[{[<]/.test(begun) ? plainReader(onDocument) : eventReader(onDocument)
    return reader.take(begun)
  }
  return {
    push: (bytes) => take(decoder.decode(bytes, { stream: true })),
    measure: () => reader?.measure(),
    end: () => {
      take(decoder.decode())
      reader?.end()
    },
  }
}

/** A plain reply is one document, and whole when it parses. */
function plainReader(onDocument: OnDocument): TextReader {
  let all = ''
  let measured: { readonly text: string; readonly excess: ReplyDocument | null } | null = null
  return {
    take: (text) => {
      all += text
      return text.trim() !== ''
    },
    measure: () => {
      measured = { text: all, excess: mayEnd(all) ? excessOf(all) : null }
    },
    end: () => {
      const read = measured?.text === all ? (measured.excess ?? parseMeasured(all)) : parse(all)
      onDocument(read ?? { type: 'broken', text: all })
      if (read !== null) onDocument({ type: 'done' })
    },
  }
}

/** More data lines make no document: one with as many values as may be, a bracket to a line, has fewer. */
const mostLines = 300_000

/**
 * Server-sent events, tolerantly: CR, LF and CRLF, comments, other fields, a missing last line end, JSON over several `data`
 * lines, and documents of one line each with no empty line between them.
 */
function eventReader(onDocument: OnDocument): TextReader {
  let rest = ''
  /** Whether `rest` ends in a CR that may be half of a CRLF. */
  let halfEnd = false
  /** The data lines that make no document yet. */
  let held: string[] = []
  /** Whether a line of data has come with the text that is taken now. */
  let hasData = false
  /** Whether `rest` is the beginning of one. */
  let isInData = false
  const flush = (): void => {
    if (held.length === 0) return
    const text = held.join('\n')
    held = []
    const read = parse(text)
    if (read !== null) onDocument(read)
    else if (text.trim() !== '') onDocument({ type: 'broken', text })
  }
  const data = (text: string): void => {
    if (text.trim() !== '') hasData = true
    const read = held.length === 0 ? parse(text) : null
    if (read !== null) onDocument(read)
    else if (text.trim() === '[DONE]') {
      flush()
      onDocument({ type: 'done' })
    } else if (held.push(text) > mostLines) {
      held = []
      onDocument({ type: 'excess', problem: `one document has more than ${mostLines} lines` })
    }
  }
  const line = (text: string): void => {
    if (text === '') flush()
    else if (text.startsWith('data:')) data(text.charCodeAt(5) === 32 ? text.slice(6) : text.slice(5))
  }
  const take = (text: string): boolean => {
    const mayEndLine = halfEnd || text.includes('\n') || text.includes('\r')
    halfEnd = text.endsWith('\r')
    hasData = false
    // Only new text is looked at: a very long line must not be read again with each of its chunks.
    const isShort = rest.length < longestField
    rest = mayEndLine ? eachLine(rest + text, line) : rest + text
    if (mayEndLine || isShort) isInData = /^data:\s*\S/.test(rest)
    return hasData || (isInData && text.trim() !== '')
  }
  return { take, measure: () => undefined, end: () => void take('\n\n') }
}

/** That much of a line is enough to see whether it is data. */
const longestField = 64

/** Calls `onLine` for every whole line and returns what is left. */
function eachLine(text: string, onLine: (line: string) => void): string {
  let normal = text
  let kept = ''
  if (text.includes('\r')) {
    // A CR at the very end may be half of a CRLF: it waits for the next chunk.
    if (text.endsWith('\r')) kept = '\r'
    normal = text.slice(0, text.length - kept.length).replace(/\r\n?/g, '\n')
  }
  let from = 0
  for (let to = normal.indexOf('\n'); to !== -1; to = normal.indexOf('\n', from)) {
    onLine(normal.slice(from, to))
    from = to + 1
  }
  return normal.slice(from) + kept
}

/** JSON, or null. Text that does not end in a bracket is no complete document, and parsing it would cost an exception. */
function parse(text: string): ReplyDocument | null {
  return mayEnd(text) ? (excessOf(text) ?? parseMeasured(text)) : null
}

function mayEnd(text: string): boolean {
  const last = text.trimEnd().at(-1)
  return last === '}' || last === ']'
}

function excessOf(text: string): ReplyDocument | null {
  const excess = jsonExcess(text)
  return excess === null ? null : { type: 'excess', problem: excess.problem }
}

function parseMeasured(text: string): ReplyDocument | null {
  if (!mayEnd(text)) return null
  try {
    return { type: 'json', value: parseExact(text) }
  } catch {
    return null
  }
}
