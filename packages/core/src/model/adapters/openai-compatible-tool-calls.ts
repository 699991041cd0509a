/** Puts tool calls together from the pieces of a stream, also from servers that number or name them badly. */
import type { ModelToolCall } from '../message.ts'

/** Collects pieces in the order they come; `finish` gives the calls in the order they began. */
export interface ToolCallCollector {
  /** How long the arguments are so far, in characters. */
  readonly length: number
  /** How long their ids and names are so far, in characters. */
  readonly labelLength: number
  /** How many calls there are so far. */
  readonly count: number
  add(piece: unknown): void
  /** `isEnded`: the server named an ending. Only then a call without arguments is one that takes none, and not one that was cut. */
  finish(isEnded?: boolean): CollectedCalls
}

/** The calls, and by their ids what the server noted at them, such as a signature. */
export interface CollectedCalls {
  readonly calls: readonly ModelToolCall[]
  readonly extras: ReadonlyMap<string, unknown>
}

interface Call {
  id: string
  name: string
  arguments: string
  extra: unknown
  readonly brackets: Brackets
}

/** How far the brackets of a text that comes in pieces are closed. */
interface Brackets {
  depth: number
  isInText: boolean
  isEscaped: boolean
  /** Whether all that were opened are closed. */
  isWhole: boolean
}

interface Piece {
  readonly index: number | null
  readonly id: string
  readonly name: string
  readonly arguments: string
  readonly extra: unknown
}

/** `freshId` names the calls that a server left without an id, or gave the id of another one. */
export function createToolCallCollector(freshId: (position: number) => string): ToolCallCollector {
  const calls: Call[] = []
  let length = 0
  let labelLength = 0
  const byIndex = new Map<number, Call>()
  /** The latest with each id: a reply may have very many calls. */
  const byId = new Map<string, Call>()
  const find = (piece: Piece): Call | undefined => {
    if (piece.index !== null) return continued(byIndex.get(piece.index), piece)
    const named = piece.id === '' ? undefined : byId.get(piece.id)
    if (named !== undefined) return continued(named, piece)
    // With neither an index nor a known id, a name begins a call. Anything else belongs to the last one.
    return piece.name === '' ? calls.at(-1) : undefined
  }
  return {
    get length() {
      return length
    },
    get labelLength() {
      return labelLength
    },
    get count() {
      return calls.length
    },
    add: (raw) => {
      const piece = readPiece(raw)
      if (piece === null) return
      length += piece.arguments.length
      let call = find(piece)
      if (call === undefined) {
        const brackets = { depth: 0, isInText: false, isEscaped: false, isWhole: false }
        follow(brackets, piece.arguments)
        call = { id: piece.id, name: piece.name, arguments: piece.arguments, extra: piece.extra, brackets }
        calls.push(call)
        byId.set(call.id, call)
        labelLength += call.id.length + call.name.length
      } else {
        labelLength -= call.id.length + call.name.length
        extend(call, piece)
        labelLength += call.id.length + call.name.length
      }
      if (piece.index !== null) byIndex.set(piece.index, call)
      if (!byId.has(call.id)) byId.set(call.id, call)
    },
    finish: (isEnded = true) => finished(calls, freshId, isEnded),
  }
}

/** The call at the piece's place, unless the piece is the start of another call that the server put in the same place. */
function continued(call: Call | undefined, piece: Piece): Call | undefined {
  if (call === undefined || piece.name === '' || call.name === '') return call
  const otherId = piece.id !== '' && call.id !== '' && piece.id !== call.id
  if (call.arguments === '') return otherId ? undefined : call
  if (piece.name !== call.name) return undefined
  // The name again: a server that repeats it with every piece, or, once the arguments are whole, the next call of the same tool.
  const startsOver = otherId || piece.arguments.trimStart().startsWith('{')
  return startsOver && call.brackets.isWhole ? undefined : call
}

function extend(call: Call, piece: Piece): void {
  if (call.id === '') call.id = piece.id
  // Names may come in pieces, but only before the arguments; the same name again is a repetition.
  if (call.name === '' || (call.arguments === '' && piece.name !== call.name)) call.name += piece.name
  call.arguments += piece.arguments
  follow(call.brackets, piece.arguments)
  call.extra = piece.extra ?? call.extra
}

function readPiece(raw: unknown): Piece | null {
  if (!isObject(raw)) return null
  const called = isObject(raw.function) ? raw.function : {}
  const given = called.arguments
  return {
    index: typeof raw.index === 'number' ? raw.index : null,
    id: typeof raw.id === 'string' ? raw.id : '',
    name: typeof called.name === 'string' ? called.name : '',
    arguments: typeof given === 'string' ? given : isObject(given) ? JSON.stringify(given) : '',
    extra: raw.extra_content,
  }
}

function finished(calls: readonly Call[], freshId: (position: number) => string, isEnded: boolean): CollectedCalls {
  const taken = new Set<string>()
  const whole: ModelToolCall[] = []
  const extras = new Map<string, unknown>()
  for (const call of calls) {
    // An empty entry: some servers send one beside a text.
    if (call.name === '' && call.arguments === '') continue
    let { id } = call
    for (let position = whole.length; id === '' || taken.has(id); position += 1) id = freshId(position)
    taken.add(id)
    if (call.extra !== undefined && call.extra !== null) extras.set(id, call.extra)
    const takesNone = isEnded && call.arguments.trim() === ''
    whole.push({ id, name: call.name, arguments: takesNone ? '{}' : call.arguments })
  }
  return { calls: whole, extras }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Looks at each piece once: a server that repeats itself could have very many. */
function follow(brackets: Brackets, piece: string): void {
  for (let at = 0; at < piece.length; at++) {
    const code = piece.charCodeAt(at)
    if (brackets.isEscaped) brackets.isEscaped = false
    else if (code === 0x5c) brackets.isEscaped = brackets.isInText
    else if (code === 0x22) brackets.isInText = !brackets.isInText
    else if (brackets.isInText) continue
    else if (code === 0x7b || code === 0x5b) brackets.depth += 1
    else if (code === 0x7d || code === 0x5d) {
      brackets.depth -= 1
      brackets.isWhole = true
    }
  }
  brackets.isWhole &&= brackets.depth === 0
}
