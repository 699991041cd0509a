/** The messages of one document in a trace, as JSON. Each agent reads its own words as its own, and those of others with their speakers [C6]. */
import type { LoggedToolCall } from '@witan/protocol/entries'
import { readJson } from '@witan/protocol/schemas'
import { ownTools } from '../agent/naming.ts'
import { contentOf, goOnText, notedText } from '../conversation/said.ts'
import { attributed } from '../model/attribution.ts'
import type { MessagePart, MessageWriter } from './message-form.ts'

/** The longest arguments that are read as JSON. */
const longestRead = 262_144

/** Who reads a document. */
export interface DocumentReader {
  readonly agent: string
  /** The number of its first message among those of the document. */
  readonly from: number
  /** Whether it reads only the last words of earlier agents. */
  readonly wordsOnly: boolean
  /** What it shares of its caller's document stands in front of the message that the words that open it are in. */
  readonly opening: { readonly words: TracedWords; readonly shared: string } | null
}

/** A reply of an agent that `to` asked. */
interface TracedReply {
  readonly agent: string
  readonly to: string
  readonly text: string
  readonly calls: readonly LoggedToolCall[]
}

/** Words that somebody wrote into a document. */
export interface TracedWords {
  readonly author: string
  readonly to: string
  readonly text: string
  /** Whether the text names its speakers itself. */
  readonly isAttributed: boolean
  /** As JSON: the words, and what came with them. */
  readonly own: string
  /** The only agent that reads them. */
  readonly only?: string
  /** Whether the bases of the agent were searched with them. */
  looked?: true
}

/** Words, or a reply with what its calls came to. */
type Line =
  | (TracedWords & { readonly reply?: undefined })
  | { readonly reply: TracedReply; readonly own: string; readonly responses: Map<string, Response> }
type ReplyLine = Extract<Line, { readonly responses: unknown }>

interface Response {
  readonly own: string
  readonly value: unknown
}

/** What was said in one document, in the order of the log. */
export interface TraceDocument {
  readonly lines: Line[]
  /** Words that no model has read yet. */
  readonly waiting: TracedWords[]
  /** The tools that messages to peers were sent with here. */
  readonly peerTools: Set<string>
  /** Calls share a document one after the other: the first works, the others begin when it has ended. */
  readonly calls: { readonly call: string; readonly begin: () => void }[]
}

/** An empty document. */
export function newDocument(): TraceDocument {
  return { lines: [], waiting: [], peerTools: new Set(), calls: [] }
}

/** A call works in a document, now or once those before it have ended. */
export function enter({ calls }: TraceDocument, call: string, begin: () => void): void {
  calls.push({ call, begin })
  if (calls.length === 1) begin()
}

/** A call ends. If it was the one that worked, what waits for it is read by nobody. */
export function leave({ calls, waiting }: TraceDocument, call: string): void {
  const at = calls.findIndex((one) => one.call === call)
  if (at < 0) return
  calls.splice(at, 1)
  if (at > 0) return
  waiting.length = 0
  calls[0]?.begin()
}

/** The first words that wait are read. */
export function take({ lines, waiting }: TraceDocument, count: number): void {
  lines.push(...waiting.splice(0, count))
}

/** An agent replies. */
export function addReply({ lines }: TraceDocument, reply: TracedReply, messages: MessageWriter): void {
  lines.push({ reply, own: messages.piece('assistant', partsOf(reply)), responses: new Map() })
}

/** A call of the latest reply that has it came to this. An id may come twice: of a call that was not offered, nothing is in the document. */
export function addResponse(
  document: TraceDocument,
  { id, value }: { readonly id: string; readonly value: unknown },
  messages: MessageWriter,
): void {
  const responses = replyWith(document, id)?.responses
  if (responses === undefined || responses.has(id)) return
  responses.set(id, { value, own: messages.piece('tool', [{ type: 'tool_call_response', id, response: value }]) })
}

/** A call is a message to a peer: children that share the document do not read it. */
export function sentToPeer(document: TraceDocument, toolCallId: string): void {
  const sent = replyWith(document, toolCallId)?.reply.calls.find(({ id }) => id === toolCallId)
  if (sent !== undefined) document.peerTools.add(sent.name)
}

function replyWith({ lines }: TraceDocument, toolCallId: string): ReplyLine | undefined {
  const line = lines.findLast(({ reply }) => reply?.calls.some(({ id }) => id === toolCallId))
  return line?.reply === undefined ? undefined : line
}

/**
 * What a reader reads, with the first `taken` of the words that wait, as pieces of a list. Results stand in the order of their calls,
 * and not of their ends.
 */
export function readBy(
  { lines, waiting }: TraceDocument,
  reader: DocumentReader,
  { taken, messages }: { readonly taken: number; readonly messages: MessageWriter },
): string[] {
  const read: string[] = []
  let last: 'reply' | 'results' | 'words' = 'words'
  /** Where the words behind the latest reply begin: a model reads neighbouring words as one message. */
  let wordsFrom = 0
  const addWords = (piece: string) => {
    if (last === 'results') read.push(messages.piece('assistant', [textPart(notedText)]))
    if (last !== 'words') wordsFrom = read.length
    read.push(piece)
    last = 'words'
  }
  const hear = (words: TracedWords) => {
    addWords(words.own)
    const { opening } = reader
    if (opening === null || opening.words !== words || opening.shared === '') return
    read.splice(wordsFrom, 0, messages.piece('user', [textPart(opening.shared)]))
  }
  const isMeant = ({ only }: TracedWords) => only === undefined || only === reader.agent
  for (const line of lines.slice(reader.from)) {
    if (line.reply === undefined) {
      if (isMeant(line)) hear(line)
    } else if (line.reply.agent === reader.agent) {
      const { reply, own, responses } = line
      if (reply.calls.length === 0 && reply.text.trim() === '') continue
      if (last === 'reply') addWords(messages.piece('user', [textPart(goOnText(reader.agent))]))
      const results = reply.calls.flatMap(({ id }) => responses.get(id)?.own ?? [])
      read.push(own, ...results)
      last = results.length > 0 ? 'results' : 'reply'
    } else {
      const said = reader.wordsOnly && line.reply.calls.length > 0 ? [] : blocksOf(line)
      if (said.length > 0) addWords(messages.piece('user', said.map(textPart)))
    }
  }
  for (const words of waiting.slice(0, taken)) if (isMeant(words)) hear(words)
  return read
}

/** What was said from there on, for a child that shares it. Calls of these tools are left out, and so are those under way [C5]. */
export function sharedText(document: TraceDocument, from: number, others: ReadonlySet<string>): string {
  const lines = document.lines.slice(from)
  const blocks = lines.flatMap((line, index) => {
    if (line.reply === undefined && line.only !== undefined) return []
    if (line.reply === undefined) return line.isAttributed ? line.text : attributed(line.author, line.to, line.text)
    const { reply } = line
    const isUnderWay = index === lines.length - 1
    const isOwn = ({ name }: LoggedToolCall) => !others.has(name) && !document.peerTools.has(name)
    return blocksOf({ ...line, reply: { ...reply, calls: isUnderWay ? [] : reply.calls.filter(isOwn) } })
  })
  return blocks.join('\n\n')
}

/** A reply and its results as somebody else reads them, without what is its agent's own. */
function blocksOf({ reply: { agent, to, text, calls: all }, responses }: ReplyLine): string[] {
  const calls = all.filter(({ name }) => !ownTools.has(name))
  const results = calls.flatMap(({ id, name }) => {
    const response = responses.get(id)
    return response === undefined ? [] : attributed(name, agent, contentOf(response.value))
  })
  const words = text === '' ? [] : [attributed(agent, to, text)]
  return [...words, ...calls.map((call) => attributed(agent, call.name, call.arguments)), ...results]
}

/** A text as a part of a message. */
export function textPart(content: string): MessagePart {
  return { type: 'text', content }
}

/** The parts of a reply. */
export function partsOf({ text, calls }: Pick<TracedReply, 'text' | 'calls'>): MessagePart[] {
  return [...(text === '' ? [] : [textPart(text)]), ...calls.map(calledPart)]
}

/** A call as its model wrote it. */
export function calledPart({ id, name, arguments: written }: LoggedToolCall): MessagePart {
  // What is longer stands in no attribute whole: it is not worth the reading.
  const read = written.length > longestRead ? null : readJson(written)
  return { type: 'tool_call', id, name, arguments: read?.ok ? read.value : written }
}
