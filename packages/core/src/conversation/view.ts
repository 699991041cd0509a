/**
 * Turns a document into the messages that one model reads. Each text passes the scrubber of its speaker, then that of the reader. Pure;
 * rendered messages are cached, so a step renders only what is new.
 */
import type { FileReference } from '@witan/protocol/files'
import type { KeptParts, LoggedToolCall } from '@witan/protocol/entries'
import { readJson } from '@witan/protocol/schemas'
import { type Pausable, runWithoutPause } from '../identity/pausable.ts'
import type { ModelMessage } from '../model/message.ts'
import { scrubbedBy } from '../parameter/scrubbers.ts'
import { attributed, markForeign } from '../model/attribution.ts'
import { aliasKey, aliasOrId, type Naming, peopleTools, translated } from '../parameter/known-people.ts'
import { ownTools } from '../agent/naming.ts'
import { lastHeard, readWords } from './inbox.ts'
import { addIds, idsIn, noIds } from './read-ids.ts'
import { goOnText, notedText, type Reply, type Said, type SaidResult, type Words } from './said.ts'
import type { DocumentView } from './document-view.ts'
import type { AgentCall } from './state.ts'
import type { SharedHistory } from './shared-history.ts'

/** Who reads a document. The same scrubber means: the same hidden values; `unseen` names them and those that no scrubber knows. */
type Reader = Pick<DocumentView, 'agent' | 'scrub' | 'scrubOthers' | 'naming' | 'history' | 'unseen'>

/** What the model of `call` reads now, after its `system` message, and how many waiting messages are in it. Roles alternate strictly [T11, E48]. */
export function modelView(
  call: AgentCall,
  system: ModelMessage,
): { readonly messages: readonly ModelMessage[]; readonly messagesRead: number } {
  const { inbox } = call.document
  const document = documentView(call)
  const view: ModelMessage[] = [system, ...document.messages]
  let before = lastHeard(call.document.said)
  for (const waiting of inbox) {
    for (const said of readWords(waiting, call, before)) {
      render(said, document, view)
      if (said.kind !== 'words' || said.only === undefined) before = said
    }
  }
  if (call.shared !== null) addShared(view, call, call.shared)
  return { messages: view, messagesRead: inbox.length }
}

/**
 * Whether the model of `call` has read that id of an artifact, which anybody but itself wrote: in its `system` message, or in its
 * history. Its cost does not grow with the history, of which each part is searched once.
 */
export function hasRead(call: AgentCall, system: ModelMessage, id: string): boolean {
  if (system.content.includes(id)) return true
  if (call.shared !== null && idsOfShared(call.shared).has(id)) return true
  const view = documentView(call)
  view.read ??= noIds()
  return idsIn(view.messages, view.read).has(id)
}

/** The part of a document that `call` reads, without what waits for it. */
interface HistoryView {
  readonly messages: readonly ModelMessage[]
  /** The index of the first message that stands for this or a later place of the document. */
  indexOf(place: number): number
}

/** The history of `call` as its model reads it. */
export function historyOf(call: AgentCall): HistoryView {
  const { messages, starts, from } = documentView(call)
  return { messages, indexOf: (place) => starts[place - from] ?? messages.length }
}

/** The same before a place, without what other readers of the document do not read: a summary of it is for all of them. */
export function openHistoryOf(call: AgentCall, place: number): readonly ModelMessage[] {
  const reader = documentView(call)
  const messages: ModelMessage[] = []
  for (const said of call.document.said.slice(call.firstSaid, place)) {
    const open = openPart(said)
    if (open !== null) render(open, reader, messages)
  }
  return messages
}

function openPart(said: Said): Said | null {
  if (said.kind === 'words') return said.only === undefined ? said : null
  if (said.kind === 'reply') return { ...said, calls: said.calls.filter(({ name }) => !ownTools.has(name)) }
  return { ...said, results: said.results.filter(({ name }) => !ownTools.has(name)) }
}

/** Documents have one reader, or the few agents that handed over to each other; older views are made again. */
const mostViews = 8

function documentView(call: AgentCall): DocumentView {
  const { said, views } = call.document
  const view = views.find((one) => isFor(one, call)) ?? newView(call)
  while (view.upTo < said.length) renderNext(view, said)
  return view
}

/** Renders the history of `call` in pieces, and what it reads of its caller's document: the next view of it finds both ready. */
export function* rendering(call: AgentCall): Pausable<void> {
  const { said, views } = call.document
  const view = views.find((one) => isFor(one, call)) ?? newView(call)
  let length = 0
  while (view.upTo < said.length) {
    length += renderNext(view, said)
    if (length > pieceLength) yield
    length %= pieceLength
  }
  if (call.shared !== null && !shared.has(call.shared)) shared.set(call.shared, yield* sharing(call.shared))
}

/** How many characters are rendered in one piece. */
const pieceLength = 100_000

/** Renders one more part of what was said, and returns how long it is. */
function renderNext(view: DocumentView, all: readonly Said[]): number {
  const said = all[view.upTo] as Said
  if (view.part === 0) view.starts.push(view.messages.length)
  renderPart(said, view.part, { reader: view, into: view.messages })
  const length = lengthOf(said, view.part)
  view.part += 1
  if (view.part < partsOf(said)) return length
  view.part = 0
  view.upTo += 1
  return length
}

/** Results are rendered one by one: a reply may have many, each of them long. */
function partsOf(said: Said): number {
  return said.kind === 'results' ? said.results.length : 1
}

function lengthOf(said: Said, part: number): number {
  return said.kind === 'results' ? (said.results[part]?.content.length ?? 0) : said.text.length
}

/** Where what the model of `call` has not read yet of its document begins. */
export function unreadFrom(call: AgentCall): number {
  for (const view of call.document.views) if (isFor(view, call)) return view.upTo
  return call.firstSaid
}

/** Whether the text of what a call reads of its caller's document is to be made. */
export function isUnreadShared(history: SharedHistory): boolean {
  return !shared.has(history)
}

function isFor(view: DocumentView, call: AgentCall): boolean {
  const { agent, scrub, scrubOthers, unseen, firstSaid } = call
  const isSame = view.agent === agent.id && view.unseen === unseen && view.from === firstSaid
  const isNamed = aliasKey(view.naming) === aliasKey(agent)
  return (
    isSame && isNamed && view.scrub === scrub && view.scrubOthers === scrubOthers && view.history === historyFor(call)
  )
}

function historyFor({ handOver }: AgentCall): DocumentView['history'] {
  return handOver?.history ?? 'all'
}

function newView(call: AgentCall): DocumentView {
  const { agent, scrub, scrubOthers, unseen, firstSaid, document } = call
  const made: DocumentView = {
    agent: agent.id,
    scrub,
    scrubOthers,
    naming: agent,
    history: historyFor(call),
    unseen,
    from: firstSaid,
    upTo: firstSaid,
    part: 0,
    messages: [],
    starts: [],
    read: null,
  }
  document.views = [...document.views.slice(1 - mostViews), made]
  return made
}

/** Adds what was said to the messages of a reader. Neighbouring words become one user message [T11]. */
function render(said: Said, reader: Reader, into: ModelMessage[]): void {
  for (let part = 0; part < partsOf(said); part += 1) renderPart(said, part, { reader, into })
}

function renderPart(
  said: Said,
  part: number,
  { reader, into }: { readonly reader: Reader; readonly into: ModelMessage[] },
): void {
  if (said.kind === 'words')
    return isMeantFor(said, reader.agent) ? addWords(into, textFor(said, reader), said.files) : undefined
  const { agent, history, scrubOthers, naming } = reader
  const reply = said.kind === 'reply' ? said : said.of
  const isOwn = reply.agent === agent
  if (said.kind === 'reply' && isOwn) return addReply(into, said, reader)
  const to = { scrub: scrubOthers, naming }
  // Others' results are words between the words of their agent; a reader of words only gets what it said when it had finished.
  if (said.kind === 'reply' && (history === 'all' || said.calls.length === 0))
    return addWords(into, replyBlocks(said, to).join('\n\n'))
  const result = said.kind === 'results' ? said.results[part] : undefined
  if (result === undefined) return
  if (isOwn) into.push(ownResult(result, reply, reader))
  else if (history === 'all' && !ownTools.has(result.name)) addWords(into, resultBlock(result, reply, to))
}

/** Whether words are for this agent: a line of the runtime may be for one alone. */
function isMeantFor({ only }: Words, agent: string): boolean {
  return only === undefined || only === agent
}

function textFor(words: Words, reader: Reader): string {
  const { text, to, namedTo, isAttributed, isScrubbed, scrub } = words
  const own = to === reader.agent ? reader.scrub : reader.scrubOthers
  const clean = isScrubbed ? scrubbedBy(text, scrub, own) : text
  if (namedTo !== undefined) return attributed(speakerOf(words, reader.naming), namedTo, clean)
  return isAttributed ? clean : markForeign(clean)
}

/** Who says words, as models of an agent know a person [C36]. */
function speakerOf({ author, people }: Words, naming: Naming): string {
  return people === undefined ? author : (aliasOrId(naming, people, author) ?? 'somebody')
}

/** What an agent wrote to people, with people named as a reader knows them [C36]. */
function argumentsFor({ name, arguments: written }: LoggedToolCall, { asker }: Reply, to: Naming): string {
  if (asker === undefined || !peopleTools.has(name)) return written
  return translated(written, 'fields', { from: asker.naming, to, people: asker.people, more: [] })
}

/** What an agent read of people, with people named as a reader knows them [C36]. */
function contentFor({ name, content, by = [] }: SaidResult, { asker }: Reply, to: Naming): string {
  if (asker === undefined || !peopleTools.has(name)) return content
  const where = content.startsWith('{"error":') ? 'error' : name === 'ask_user' ? 'start' : 'fields'
  return translated(content, where, { from: asker.naming, to, people: asker.people, more: by })
}

/** An agent's own words are scrubbed for it too, because a value that it was shown before may be hidden now [E19]. */
function ownReply(reply: Reply, reader: Reader): ModelMessage {
  const { text } = reply
  const { scrub, naming } = reader
  const calls =
    reply.asker === undefined
      ? reply.calls
      : reply.calls.map((call) => {
          const written = argumentsFor(call, reply, naming)
          return written === call.arguments ? call : { ...call, arguments: written }
        })
  const content = scrubbedBy(text, scrub)
  const kept = keptFor(reply, reader)
  const rest = kept === null ? undefined : { kept }
  if (calls.length === 0) return { role: 'assistant', content, ...rest }
  if (scrub === null) return { role: 'assistant', content, toolCalls: calls, ...rest }
  const toolCalls = calls.map((call) => ({ ...call, arguments: scrub(call.arguments) }))
  return { role: 'assistant', content, toolCalls, ...rest }
}

/** Signed or sealed parts of a reply cannot be scrubbed. If more is hidden from the model now, it gets none of them back. */
function keptFor({ kept, scrub }: Reply, reader: Reader): KeptParts | null {
  if (kept === undefined || scrub !== reader.scrub || kept.unseen !== reader.unseen) return null
  const { parts } = kept
  if (scrub === null) return parts
  const written = JSON.stringify(parts.parts)
  const clean = scrub(written)
  if (clean === written) return parts
  const read = readJson(clean)
  return read.ok ? { by: parts.by, parts: read.value } : null
}

function ownResult(result: SaidResult, reply: Reply, reader: Reader): ModelMessage {
  const { toolCallId, name, scrub } = result
  const known = contentFor(result, reply, reader.naming)
  return { role: 'tool', toolCallId, name, content: markForeign(scrubbedBy(known, scrub, reply.scrub, reader.scrub)) }
}

const noted: ModelMessage = { role: 'assistant', content: notedText }

/** Adds a reply of the reader's own. What nobody asked for in words is preceded by words of the runtime [T11]. */
function addReply(into: ModelMessage[], reply: Reply, reader: Reader): void {
  // A reply that says nothing is no message that a server takes; what follows it closes the gap.
  if (reply.calls.length === 0 && reply.text.trim() === '') return
  const last = into.at(-1)?.role
  if (last !== 'user' && last !== 'tool') addWords(into, goOnText(reader.agent))
  into.push(ownReply(reply, reader))
}

/** A summary in front of a document is a user message too: words that follow it at once join it. */
function addWords(into: ModelMessage[], text: string, files?: readonly FileReference[]): void {
  if (text === '') return
  const last = into.at(-1)
  const before = last?.role === 'user' ? last : null
  const content = before === null ? text : `${before.content}\n\n${text}`
  const attached = before?.attached === undefined ? files : [...before.attached, ...(files ?? [])]
  const message: ModelMessage = attached === undefined ? { role: 'user', content } : { role: 'user', content, attached }
  if (last?.role === 'tool') into.push(noted)
  if (before === null) into.push(message)
  else into[into.length - 1] = message
}

type Overhearing = Pick<Reader, 'scrub' | 'naming'>

/** A reply as another agent reads it, each block with speaker and addressee [C6]. */
function replyBlocks(said: Reply, { scrub: reader, naming }: Overhearing): string[] {
  const { agent, to, text, calls, scrub } = said
  const words = text === '' ? [] : [attributed(agent, to, scrubbedBy(text, scrub, reader))]
  const written = calls
    .filter(({ name }) => !ownTools.has(name))
    .map((call) => {
      return attributed(agent, call.name, scrubbedBy(argumentsFor(call, said, naming), scrub, reader))
    })
  return [...words, ...written]
}

/** A result as another agent reads it. */
function resultBlock(result: SaidResult, of: Reply, { scrub: reader, naming }: Overhearing): string {
  const { name, scrub } = result
  return attributed(name, of.agent, scrubbedBy(contentFor(result, of, naming), scrub, of.scrub, reader))
}

/** What a call reads of its caller's document, in front of what opens it: made once. */
const shared = new WeakMap<SharedHistory, string>()
/** The opening with that in front, by the opening as it was then: adapters keep what they made of a message by its identity. */
const openings = new WeakMap<ModelMessage, ModelMessage>()

function textOfShared(history: SharedHistory): string {
  const text = shared.get(history) ?? runWithoutPause(sharing(history))
  shared.set(history, text)
  return text
}

const sharedIds = new WeakMap<SharedHistory, ReadonlySet<string>>()

function idsOfShared(history: SharedHistory): ReadonlySet<string> {
  const known = sharedIds.get(history)
  if (known !== undefined) return known
  const ids = new Set<string>()
  addIds(ids, textOfShared(history))
  sharedIds.set(history, ids)
  return ids
}

/** Puts the caller's history before the first message of the call, unless a summary already contains it. */
function addShared(view: ModelMessage[], call: AgentCall, history: SharedHistory): void {
  const text = textOfShared(history)
  if (text === '') return
  const start = 1 + historyOf(call).indexOf(call.document.callStarts.at(-1)?.from ?? 0)
  const at = view[start] === noted ? start + 1 : start
  const index = view[at]?.role === 'user' ? at : at - 1
  const opening = view[index]
  if (opening?.role !== 'user') return
  const shown = openings.get(opening) ?? { ...opening, content: `${text}\n\n${opening.content}` }
  openings.set(opening, shown)
  view[index] = shown
}

/**
 * What was said in the caller's document so far, everybody's words attributed. Exchanges with other agents are theirs and are left
 * out, and so are the calls of the step under way: the child's own task is among them [C5].
 */
function* sharing({ said, from, upTo, others, scrub, naming }: SharedHistory): Pausable<string> {
  const blocks: string[] = []
  let before: Words | null = null
  for (let at = from; at < upTo; at += 1) {
    const one = said[at] as Said
    if (one.kind === 'words' && one.only !== undefined) continue
    if (one.kind === 'reply') {
      const calls = at === upTo - 1 ? [] : one.calls.filter(({ name }) => !others.has(name))
      blocks.push(...replyBlocks({ ...one, calls }, { scrub, naming }))
    } else if (one.kind === 'results') {
      for (const result of one.results) {
        if (others.has(result.name) || ownTools.has(result.name)) continue
        blocks.push(resultBlock(result, one.of, { scrub, naming }))
        if (result.content.length > pieceLength) yield
      }
    } else {
      const text = one.isScrubbed ? scrubbedBy(one.text, one.scrub, scrub) : scrubbedBy(one.text, scrub)
      const goesOn = before !== null && !before.isAttributed && !one.isAttributed && before.author === one.author
      if (one.isAttributed) blocks.push(text)
      else if (goesOn) blocks.push(markForeign(text))
      else blocks.push(attributed(speakerOf(one, naming), one.namedTo ?? one.to, text))
    }
    before = one.kind === 'words' ? one : null
  }
  return blocks.join('\n\n')
}
