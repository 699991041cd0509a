/** One conversation document: the entries of one path, folded for a reader [R18–R22, Rb37]. */
import type { DetailLevel, Document, DocumentMessage, Entry, Interruption, LoggedToolCall } from '@witan/protocol'
import { addCounters, addModelCall, emptyCounters } from '@witan/protocol'

/** The messages and links of a document, from the conversation's entries in order. */
export class DocumentReader {
  readonly messages: (DocumentMessage & { readonly at: number })[] = []
  readonly linked = new Set<string>()
  readonly open = new Map<string, Interruption>()
  readonly usage = emptyCounters()
  agent: string | null = null
  /** The definition of the last call on this document, and the values its model could see. */
  definition: { readonly agent: string; readonly revision: number } | null = null
  visible: Readonly<Record<string, unknown>> | null = null
  createdAt: number | null = null
  #calls = new Map<string, { result: unknown; document: string | null }>()
  readonly #path: string
  readonly #askers = new Map<string, string>()

  constructor(path: string) {
    this.#path = path
  }

  /** Takes one entry of the conversation. */
  take(entry: Entry): void {
    const { place } = entry
    if (entry.type === 'start' && entry.kind === 'agent') this.#takeStart(entry)
    else if (place.document !== this.#path) this.#takeForeign(entry)
    else this.#takeOwn(entry)
  }

  #takeStart(entry: Entry & { type: 'start'; kind: 'agent' }): void {
    const { place, body } = entry
    if (place.document === this.#path) {
      this.agent ??= body.agent
      this.definition = { agent: body.agent, revision: body.revision }
      this.visible = body.parameters
      this.createdAt ??= entry.at
      if (place.parentCall !== null) this.#say(entry, { role: 'user', author: parentOf(place.agentPath), to: body.agent, text: body.message })
    } else if (place.document.startsWith(`${this.#path}/`) && !place.document.slice(this.#path.length + 1).includes('/')) {
      this.linked.add(place.document)
      const key = `${place.parentCall} ${body.toolCallId}`
      const asked = this.#calls.get(key)
      if (asked !== undefined) asked.document = place.document
      this.#askers.set(place.call, key)
    }
  }

  #takeForeign(entry: Entry): void {
    const key = this.#askers.get(entry.place.call)
    if (key === undefined || entry.kind !== 'agent') return
    const call = this.#calls.get(key)
    if (call === undefined) return
    if (entry.type === 'end') call.result = entry.body.output ?? entry.body.text
    if (entry.type === 'error') call.result = { error: entry.body.detail }
  }

  #takeOwn(entry: Entry): void {
    const { place } = entry
    if (entry.type === 'message') {
      this.createdAt ??= entry.at
      return this.#say(entry, { role: 'user', author: entry.body.author, to: null, text: entry.body.text })
    }
    if (entry.type === 'end' && entry.kind === 'model') return this.#takeReply(entry)
    if (entry.type === 'start' && entry.kind === 'tool') {
      this.#askers.set(place.call, `${place.parentCall} ${entry.body.toolCallId}`)
      this.usage.toolCalls += 1
      return
    }
    if (entry.kind === 'tool') {
      const call = this.#calls.get(this.#askers.get(place.call) ?? '')
      if (call !== undefined) call.result = entry.type === 'end' ? entry.body.result : { error: (entry as Entry & { type: 'error' }).body.detail }
      return
    }
    if (entry.type === 'action_required') this.open.set(entry.body.id, entry.body)
    if (entry.type === 'resolved') this.open.delete(entry.body.id)
  }

  #takeReply(entry: Entry & { type: 'end'; kind: 'model' }): void {
    const { body, place } = entry
    const usage = emptyCounters()
    addModelCall(usage, body.usage)
    addCounters(this.usage, usage)
    const toolCalls = (body.offered ? body.toolCalls : []).map((call) => this.#toolCall(call, place.call))
    if (body.text === '' && toolCalls.length === 0) return
    this.messages.push({ seq: entry.seq, role: 'assistant', author: place.author, to: null, text: body.text, parts: [], toolCalls, date: '', usage, at: entry.at })
  }

  #toolCall(call: LoggedToolCall, owner: string): DocumentMessage['toolCalls'][number] {
    const shown = { id: call.id, name: call.name, arguments: parsed(call.arguments), result: null as unknown, document: null as string | null }
    this.#calls.set(`${owner} ${call.id}`, shown)
    return shown
  }

  #say(entry: Entry, what: Pick<DocumentMessage, 'role' | 'author' | 'to' | 'text'>): void {
    this.messages.push({ seq: entry.seq, ...what, parts: [{ type: 'text', text: what.text }], toolCalls: [], date: '', usage: null, at: entry.at })
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function parentOf(agentPath: string): string {
  return agentPath.split('/').at(-2) ?? 'user'
}

/** Which messages of a document: before or after a date (exclusive, ms), how many, and with how much detail. */
export interface DocumentPage {
  readonly before: number | null
  readonly after: number | null
  readonly limit: number
  readonly detail: DetailLevel
}

/** The page of messages that a reader asked for: the newest ones, or from `after` on. */
export function pageOf(reader: DocumentReader, page: DocumentPage): Pick<Document, 'messages' | 'hasMore'> {
  const within = reader.messages.filter(({ at }) => (page.before === null || at < page.before) && (page.after === null || at > page.after))
  const chosen = page.after === null ? within.slice(-page.limit) : within.slice(0, page.limit)
  const messages = chosen.map(({ at, toolCalls, ...message }) => ({
    ...message,
    toolCalls: page.detail === 'simple' ? [] : toolCalls,
    date: new Date(at).toISOString(),
  }))
  return { messages, hasMore: chosen.length < within.length }
}

