/** One conversation document: the entries of one path, folded for a reader [R18–R22, Rb37]. */
import type { DetailLevel, Document, DocumentMessage, Interruption, UsageCounters } from '@witan/protocol'
import { addCounters, addModelCall, emptyCounters } from '@witan/protocol/entries'
import type { Entry, LoggedToolCall } from '@witan/protocol/entries'

interface ShownCall {
  readonly id: string
  readonly name: string
  readonly arguments: unknown
  result: unknown
  document: string | null
}

/** A document as far as the entries were taken. */
export interface DocumentFold {
  readonly path: string
  readonly messages: (DocumentMessage & { readonly at: number })[]
  readonly linked: Set<string>
  readonly open: Map<string, Interruption>
  readonly usage: UsageCounters
  /** The agent of the last call on this document, and the values its model could see. */
  definition: { readonly agent: string; readonly revision: number } | null
  visible: Readonly<Record<string, unknown>> | null
  createdAt: number | null
  /** Tool calls by the agent call and tool call id that asked for them. */
  readonly asked: Map<string, ShownCall>
  /** Which tool call a tool's or child's call answers. */
  readonly answers: Map<string, string>
}

/** An empty document. */
export function emptyDocument(path: string): DocumentFold {
  return {
    path,
    messages: [],
    linked: new Set(),
    open: new Map(),
    usage: emptyCounters(),
    definition: null,
    visible: null,
    createdAt: null,
    asked: new Map(),
    answers: new Map(),
  }
}

/** Takes one entry of the conversation, in order. */
export function takeEntry(document: DocumentFold, entry: Entry): void {
  if (entry.type === 'start' && entry.kind === 'agent') takeStart(document, entry)
  else if (entry.place.document === document.path) takeOwn(document, entry)
  else takeChildEnd(document, entry)
}

function takeStart(document: DocumentFold, entry: Entry & { type: 'start'; kind: 'agent' }): void {
  const { place, body } = entry
  if (place.document === document.path) {
    document.definition = { agent: body.agent, revision: body.revision }
    document.visible = body.parameters
    document.createdAt ??= entry.at
    if (place.parentCall === null) return
    const author = place.agentPath.split('/').at(-2) ?? 'user'
    say(document, entry, { role: 'user', author, to: body.agent, text: body.message })
  } else if (isChildPath(document.path, place.document)) {
    const key = `${place.parentCall} ${body.toolCallId}`
    const asked = document.asked.get(key)
    if (asked !== undefined) asked.document = place.document
    document.linked.add(place.document)
    document.answers.set(place.call, key)
  }
}

function isChildPath(path: string, other: string): boolean {
  return other.startsWith(`${path}/`) && !other.slice(path.length + 1).includes('/')
}

function takeChildEnd(document: DocumentFold, entry: Entry): void {
  const asked = document.asked.get(document.answers.get(entry.place.call) ?? '')
  if (asked === undefined || entry.kind !== 'agent') return
  if (entry.type === 'end') asked.result = entry.body.output ?? entry.body.text
  if (entry.type === 'error') asked.result = { error: entry.body.detail }
}

function takeOwn(document: DocumentFold, entry: Entry): void {
  const { place } = entry
  if (entry.type === 'message') {
    document.createdAt ??= entry.at
    say(document, entry, { role: 'user', author: entry.body.author, to: null, text: entry.body.text })
  } else if (entry.type === 'end' && entry.kind === 'model') takeReply(document, entry)
  else if (entry.type === 'start' && entry.kind === 'tool') {
    document.answers.set(place.call, `${place.parentCall} ${entry.body.toolCallId}`)
    document.usage.toolCalls += 1
  } else if (entry.kind === 'tool') {
    const asked = document.asked.get(document.answers.get(place.call) ?? '')
    if (asked === undefined) return
    if (entry.type === 'end') asked.result = entry.body.result
    if (entry.type === 'error') asked.result = { error: entry.body.detail }
  } else if (entry.type === 'action_required') document.open.set(entry.body.id, entry.body)
  else if (entry.type === 'resolved') document.open.delete(entry.body.id)
}

function takeReply(document: DocumentFold, entry: Entry & { type: 'end'; kind: 'model' }): void {
  const { body, place, seq, at } = entry
  const usage = emptyCounters()
  addModelCall(usage, body.usage)
  addCounters(document.usage, usage)
  const toolCalls = (body.offered ? body.toolCalls : []).map((call) => shownCall(document, call, place.call))
  if (body.text === '' && toolCalls.length === 0) return
  const said = { role: 'assistant' as const, author: place.author, to: null, text: body.text }
  document.messages.push({ seq, ...said, parts: partsOf(body.text), toolCalls, date: '', usage, at })
}

function shownCall(document: DocumentFold, call: LoggedToolCall, owner: string): ShownCall {
  const shown = { id: call.id, name: call.name, arguments: parsed(call.arguments), result: null, document: null }
  document.asked.set(`${owner} ${call.id}`, shown)
  return shown
}

function say(
  document: DocumentFold,
  entry: Entry,
  what: Pick<DocumentMessage, 'role' | 'author' | 'to' | 'text'>,
): void {
  const { seq, at } = entry
  document.messages.push({ seq, ...what, parts: partsOf(what.text), toolCalls: [], date: '', usage: null, at })
}

function partsOf(text: string): DocumentMessage['parts'] {
  return text === '' ? [] : [{ type: 'text', text }]
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Which messages of a document: before or after a date (exclusive, ms), how many, and with how much detail. */
export interface DocumentPage {
  readonly before: number | null
  readonly after: number | null
  readonly limit: number
  readonly detail: DetailLevel
}

/** The page of messages that a reader asked for: the newest ones, or from `after` on. */
export function pageOf(document: DocumentFold, page: DocumentPage): Pick<Document, 'messages' | 'hasMore'> {
  const within = document.messages.filter(
    ({ at }) => (page.before === null || at < page.before) && (page.after === null || at > page.after),
  )
  const chosen = page.after === null ? within.slice(-page.limit) : within.slice(0, page.limit)
  const messages = chosen.map(({ at, toolCalls, ...message }) => ({
    ...message,
    toolCalls: page.detail === 'simple' ? [] : toolCalls,
    date: new Date(at).toISOString(),
  }))
  return { messages, hasMore: chosen.length < within.length }
}
