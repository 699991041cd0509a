/** One conversation document: the entries of one path, folded for a reader [R18–R22, Rb37]. */
import type { DetailLevel, Document, Interruption, UsageCounters } from '@witan/protocol'
import { addCounters, addModelCall, emptyCounters } from '@witan/protocol/entries'
import type { Entry, LoggedToolCall } from '@witan/protocol/entries'
import { callersView, gather, type Gathered, overhear } from './answer.ts'
import { askedView, isRequired } from './asking.ts'
import { handleOf } from './handle.ts'

interface ShownCall {
  readonly id: string
  readonly name: string
  readonly arguments: unknown
  result: unknown
  document: string | null
  /** What only a reader of full detail gets. */
  readonly cost: { startedAt: number | null; endedAt: number | null; usage: UsageCounters | null }
}

type KeptMessage = Omit<Message, 'toolCalls' | 'date'> & {
  readonly toolCalls: readonly ShownCall[]
  readonly at: number
}

type Message = Document['messages'][number]

/** A document as far as the entries were taken. */
export interface DocumentFold {
  readonly path: string
  readonly messages: KeptMessage[]
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
  /** What the document's agent reads of its children, by their calls, where its edges ask for more than their answers. */
  readonly gathered: Map<string, Gathered>
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
    gathered: new Map(),
  }
}

/** Takes one entry of the conversation, in order. */
export function takeEntry(document: DocumentFold, entry: Entry): void {
  if (document.gathered.size > 0) overhear(document.gathered, entry)
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
    if (place.parentCall !== null) {
      const author = place.agentPath.split('/').at(-2) ?? 'user'
      say(document, entry, { role: 'user', author, to: body.agent, text: body.message })
    }
    const initial = body.initial.map((call) => shownCall(document, call, place.call))
    if (initial.length > 0) call(document, entry, { author: body.agent, toolCalls: initial })
  } else if (isChildPath(document.path, place.document)) {
    const key = `${place.parentCall} ${body.toolCallId}`
    const asked = document.asked.get(key)
    if (asked !== undefined) {
      asked.document = place.document
      asked.cost.startedAt = entry.at
      if (body.background !== undefined) asked.result = handleOf(place.call, body.toolCallId)
    }
    const gathered = gather(body.answer)
    if (gathered !== null) document.gathered.set(place.call, gathered)
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
  if (entry.type !== 'end' && entry.type !== 'error') return
  asked.result = callersView(entry.body, document.gathered.get(entry.place.call) ?? null)
  const { byAgent: _, ...usage } = entry.body.usage ?? { ...emptyCounters(), byAgent: {} }
  asked.cost.endedAt = entry.at
  asked.cost.usage = usage
}

function takeOwn(document: DocumentFold, entry: Entry): void {
  const { place } = entry
  if (entry.type === 'message') {
    document.createdAt ??= entry.at
    say(document, entry, { role: 'user', author: entry.body.author, to: null, text: entry.body.text })
    takeArtificial(document, entry)
  } else if (entry.type === 'end' && entry.kind === 'model') takeReply(document, entry)
  else if (entry.type === 'start' && entry.kind === 'tool') {
    const key = `${place.parentCall} ${entry.body.toolCallId}`
    document.answers.set(place.call, key)
    document.usage.toolCalls += 1
    const asked = document.asked.get(key)
    if (asked !== undefined) asked.cost.startedAt = entry.at
  } else if (entry.kind === 'tool') {
    const asked = document.asked.get(document.answers.get(place.call) ?? '')
    if (asked === undefined) return
    asked.cost.endedAt = entry.at
    if (entry.type === 'end') asked.result = entry.body.result
    if (entry.type === 'error') asked.result = { error: entry.body.detail }
  } else if (isRequired(entry)) document.open.set(entry.body.id, askedView(entry.body))
  else if (entry.type === 'resolved') document.open.delete(entry.body.id)
}

/** Calls that a caller brought stand behind his words, as the agent's own [Rb52]. */
function takeArtificial(document: DocumentFold, entry: Entry & { type: 'message' }): void {
  const { artificialActions } = entry.body
  if (artificialActions === undefined) return
  const toolCalls = artificialActions.map((one) => {
    const shown = shownCall(document, one, entry.place.call)
    shown.result = one.response
    return shown
  })
  call(document, entry, { author: entry.place.agentPath.split('/').at(-1) ?? '', toolCalls })
}

/** Calls that no reply of a model asked for, at the place of the entry that brought them. */
function call(document: DocumentFold, entry: Entry, of: Pick<KeptMessage, 'author' | 'toolCalls'>): void {
  const { seq, at } = entry
  document.messages.push({ seq, role: 'assistant', ...of, to: null, text: '', parts: [], usage: null, at })
}

function takeReply(document: DocumentFold, entry: Entry & { type: 'end'; kind: 'model' }): void {
  const { body, place, seq, at } = entry
  const usage = emptyCounters()
  addModelCall(usage, body.usage)
  addCounters(document.usage, usage)
  const toolCalls = (body.offered ? body.toolCalls : []).map((call) => shownCall(document, call, place.call))
  if (body.text === '' && toolCalls.length === 0) return
  const said = { role: 'assistant' as const, author: place.author, to: null, text: body.text }
  document.messages.push({ seq, ...said, parts: partsOf(body.text), toolCalls, usage, at })
}

function shownCall(document: DocumentFold, { id, name, arguments: written }: LoggedToolCall, owner: string): ShownCall {
  const cost = { startedAt: null, endedAt: null, usage: null }
  const shown: ShownCall = { id, name, arguments: parsed(written), result: null, document: null, cost }
  document.asked.set(`${owner} ${id}`, shown)
  return shown
}

function say(document: DocumentFold, entry: Entry, what: Pick<Message, 'role' | 'author' | 'to' | 'text'>): void {
  const { seq, at } = entry
  document.messages.push({ seq, ...what, parts: partsOf(what.text), toolCalls: [], usage: null, at })
}

function partsOf(text: string): Message['parts'] {
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

/**
 * The page of messages that a reader asked for: the newest ones, or from `after` on. It never ends between messages of one date, so
 * that a walk from date to date misses none; where more than `limit` share one it is longer [Rb54].
 */
export function pageOf(document: DocumentFold, page: DocumentPage): Pick<Document, 'messages' | 'hasMore'> {
  const { before, after, limit } = page
  const within = document.messages.filter(
    ({ at }) => (before === null || at < before) && (after === null || at > after),
  )
  const chosen = after === null ? withoutCut(within.toReversed(), limit).reverse() : withoutCut(within, limit)
  const messages = chosen.map(({ at, toolCalls, ...message }) => ({
    ...message,
    toolCalls: page.detail === 'simple' ? [] : toolCalls.map((one) => callOf(one, page.detail)),
    date: iso(at),
  }))
  return { messages, hasMore: chosen.length < within.length }
}

function withoutCut(messages: readonly KeptMessage[], limit: number): KeptMessage[] {
  const cut = messages[limit]?.at
  if (cut === undefined || messages[limit - 1]?.at !== cut) return messages.slice(0, limit)
  const first = messages.findIndex(({ at }) => at === cut)
  return first > 0 ? messages.slice(0, first) : messages.filter(({ at }) => at === cut)
}

function callOf({ cost, ...call }: ShownCall, detail: DetailLevel): Message['toolCalls'][number] {
  if (detail !== 'full') return call
  const { startedAt, endedAt, usage } = cost
  const at = { startedAt: startedAt === null ? null : iso(startedAt), endedAt: endedAt === null ? null : iso(endedAt) }
  return { ...call, ...at, usage }
}

function iso(at: number): string {
  return new Date(at).toISOString()
}
