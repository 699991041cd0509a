/** What was said, as attributes of spans. Only traces with full content have it. */
import type { AgentData } from '@witan/protocol'
import { edgesOf } from '@witan/protocol/edges'
import type {
  AgentEndBody,
  AgentStartBody,
  CallPlace,
  CritiqueBody,
  Entry,
  ErrorBody,
  ModelEndBody,
} from '@witan/protocol/entries'
import { callersView, type Gathered, beginGathering, gatherFrom } from '../conversation/callers-view.ts'
import { checkLine, revisionLine } from '../conversation/critique.ts'
import { type Decision, decisionOf, isRefusal } from '../hook/decision.ts'
import { refusedAnswer } from '../conversation/hooks.ts'
import { lineFor } from '../conversation/line.ts'
import { asksOutput } from '../model/output.ts'
import { memoryLine } from '../conversation/remembered.ts'
import { isToLookFor, knowledgeLine } from '../conversation/retrieval.ts'
import { spanContent, spanField } from '../event/project.ts'
import type { Bound } from '../parameter/parameter.ts'
import type { Scrubber } from '../parameter/scrub.ts'
import { parameterLines } from '../parameter/visibility.ts'
import { ContentWriter, fixedValue } from './content.ts'
import { type MessageForm, MessageWriter } from './message-form.ts'
import type { Attributes } from './span.ts'
import {
  addReply,
  addResponse,
  calledPart,
  type DocumentReader,
  enter,
  leave,
  newDocument,
  partsOf,
  readBy,
  sentToPeer,
  sharedText,
  take,
  textPart,
  type TraceDocument,
  type TracedWords,
} from './trace-document.ts'

/** The end or the error of a call. */
type CallOver = Exclude<Entry & { readonly type: 'end' | 'error' }, { readonly kind: 'model' }>

type RetrievalBody = (Entry & { readonly type: 'retrieval' })['body']
type MemoryBody = (Entry & { readonly type: 'memory' })['body']

/** How a call reads its document. */
interface Reader extends DocumentReader {
  readonly system: string
  /** The instructions as the first message of a chat; empty in the form of OpenTelemetry, which has an attribute for them. */
  readonly begin: readonly string[]
  /** Who asks it: the calling agent, or `user`. */
  readonly asker: string
  readonly document: TraceDocument
  /** Its definition; null if its start is not known. */
  readonly data: AgentData | null
  /** The words that began its work, once it has begun; null for none. */
  began: TracedWords | null
}

/** What was read of a trace so far. */
interface Reading {
  /** By path. */
  readonly documents: Map<string, TraceDocument>
  readonly readers: Map<string, Reader>
  /** What callers read of their children, where that is more than the answer. */
  readonly gathered: Map<string, Gathered>
}

const noValues: Bound = new Map()

/**
 * Follows what each document holds, in the order of the log. A model's input is what its document holds since the beginning of the job:
 * earlier runs have traces of their own.
 */
export class SpanContent {
  readonly writer: ContentWriter
  readonly #trace: { readonly bound: ReadonlyMap<string, Bound>; readonly hides: boolean }
  readonly #messages: MessageWriter
  readonly #reading: Reading = { documents: new Map(), readers: new Map(), gathered: new Map() }

  constructor(scrub: Scrubber, of: { readonly bound: ReadonlyMap<string, Bound>; readonly form: MessageForm }) {
    this.writer = new ContentWriter(scrub)
    this.#trace = { bound: of.bound, hides: scrub !== null }
    this.#messages = new MessageWriter(this.writer, of.form)
  }

  /** An agent's call begins: its instructions and its message. Null is an agent on another server, whose instructions nobody knows here. */
  started({ place, body }: Entry & { readonly body: AgentStartBody }, agent: AgentData | null): Attributes {
    const messages = this.#messages
    const { readers, gathered } = this.#reading
    const document = documentOf(this.#reading, place)
    const asker = askerOf(this.#reading, place, body)
    const words = openingOf(place, body, { asker, messages })
    const model = agent?.workflow === null ? agent : null
    const bound = this.#trace.bound.get(place.call) ?? noValues
    const written = ({ instructions, parameters }: AgentData) => [
      textPart(instructions + parameterLines(parameters, bound)),
    ]
    const shared = body.history === 'shared' ? sharedBy(readers.get(place.parentCall ?? '')) : ''
    const before = body.handedFrom === undefined ? undefined : readers.get(body.handedFrom)
    const reader = {
      agent: place.author,
      system:
        model === null
          ? ''
          : fixedValue(this.writer, this.#trace.hides || model.parameters.length > 0 ? null : model, () =>
              written(model),
            ),
      begin: model !== null && messages.isChat ? [messages.piece('system', written(model))] : [],
      from: 0,
      asker,
      wordsOnly: body.handOver?.history === 'words',
      document,
      data: agent,
      opening: before?.opening ?? { words, shared },
      began: null as TracedWords | null,
    }
    readers.set(place.call, reader)
    beginGathering(gathered, { place, body })
    const begin = () => {
      if (place.parentCall !== null && body.handOver === undefined) document.waiting.push(words)
      reader.began = document.waiting[openingAt(document.waiting)] ?? null
      if (body.history === 'isolated') reader.from = document.lines.length
      if (body.initial.length === 0) return
      take(document, document.waiting.length)
      addReply(document, { agent: place.author, to: asker, text: '', calls: body.initial }, messages)
    }
    if (place.parentCall === null || body.handOver !== undefined) begin()
    else enter(document, place.call, begin)
    return [...instructions(reader.system), 'gen_ai.input.messages', messages.list([words.own])]
  }

  /**
   * A message comes to a document, or what an agent remembers, what its bases have on one that waits, what was decided of one, or why it is to answer again. Messages between peers
   * stand in the starts and answers of calls already.
   */
  addMessage(
    entry: Entry & { readonly type: 'message' | 'memory' | 'retrieval' | 'critique' | 'hook' | 'notice' },
  ): void {
    const { type, place, body } = entry
    if (type === 'hook' || type === 'notice') {
      const [reader, decision] = [this.#reading.readers.get(place.call), decisionOf(entry)]
      return reader === undefined || decision === null ? undefined : addWritten(reader, decision, this.#messages)
    }
    const document = documentOf(this.#reading, place)
    if (type === 'memory') return addRemembered(document, body, this.#messages)
    if (type === 'critique') return addCritique(document, { agent: place.author, body }, this.#messages)
    if (type === 'retrieval') return addRetrieved(document, { agent: place.author, body }, this.#messages)
    if (body.exchange !== undefined) return
    const { author, text: plain, forModel: text = plain, artificialActions: actions = [] } = body
    const pieces = [this.#messages.piece('user', [textPart(text)])]
    if (actions.length > 0) {
      const responses = actions.map(({ id, response }) => ({ type: 'tool_call_response', id, response }) as const)
      pieces.push(this.#messages.piece('assistant', actions.map(calledPart)))
      pieces.push(this.#messages.piece('tool', responses))
    }
    const to = place.agentPath.split('/').at(-1) ?? ''
    const isAttributed = place.parentCall !== null || author === 'witan'
    document.waiting.push({ author, to, text, isAttributed, own: pieces.join(',') })
  }

  /** A model replies: what it read, and what it said. */
  replied(entry: Entry & { readonly body: ModelEndBody }): Attributes {
    const { place, body } = entry
    const messages = this.#messages
    const document = documentOf(this.#reading, place)
    const reader = this.#reading.readers.get(place.call) ?? readerAt(place, document)
    const said = { text: spanField(entry, 'text') ?? '', calls: spanField(entry, 'toolCalls') ?? [] }
    const reply = { role: 'assistant', parts: partsOf(said), finish_reason: body.finishReason } as const
    const own = body.purpose !== 'summary' && body.purpose !== 'progress'
    const { data } = reader
    const asked = body.purpose === 'critique' && data !== null ? [textPart(checkLine(data).text)] : []
    const question = asked.length === 0 ? [] : [messages.piece('user', asked)]
    const read = () => [...reader.begin, ...readBy(document, reader, { taken: body.taken, messages }), ...question]
    const texts = [
      ...instructions(own ? reader.system : ''),
      ...(own ? ['gen_ai.input.messages', messages.list(read())] : []),
      ...['gen_ai.output.messages', messages.list([messages.written(reply)])],
    ]
    if (body.refused === true) take(document, body.taken)
    if (body.purpose !== undefined || (!body.accepted && body.text === '')) return texts
    take(document, body.taken)
    // Calls that the model was not offered are in no document.
    const calls = body.offered ? said.calls : []
    addReply(document, { agent: place.author, to: reader.asker, text: said.text, calls }, messages)
    return texts
  }

  /** A call of `caller` is a message to a peer. */
  toPeer(caller: string | null, toolCallId: string): void {
    const document = this.#reading.readers.get(caller ?? '')?.document
    if (document !== undefined) sentToPeer(document, toolCallId)
  }

  /** Takes any entry: what callers read of their children may be more than the answer. */
  gatherFrom(entry: Entry): void {
    if (this.#reading.gathered.size > 0) gatherFrom(this.#reading.gathered, entry)
  }

  /** A call is over. `asked` is the tool call that it answers, and who made it. */
  over({ type, kind, place, body }: CallOver, asked: { readonly caller: CallPlace; readonly id: string } | null): void {
    const { gathered } = this.#reading
    if (asked !== null) {
      const isTool = type === 'end' && kind === 'tool'
      const kept = gathered.get(place.call) ?? null
      const value = isTool ? (body.forModel ?? body.result) : callersView(body as AgentEndBody | ErrorBody, kept)
      addResponse(documentOf(this.#reading, asked.caller), { id: asked.id, value }, this.#messages)
    }
    if (kind !== 'agent') return
    gathered.delete(place.call)
    leave(documentOf(this.#reading, place), place.call)
  }

  /** An agent's answer. */
  ended(entry: Entry & { readonly type: 'end'; readonly body: AgentEndBody }): Attributes {
    const [said = '', output = null] = [spanField(entry, 'text'), spanField(entry, 'output')]
    const { finishReason } = entry.body
    const parts = [textPart(said === '' && output !== null ? JSON.stringify(output) : said)]
    const reply = { role: 'assistant', parts, finish_reason: finishReason } as const
    return ['gen_ai.output.messages', this.#messages.list([this.#messages.written(reply)])]
  }
}

/** The model of an agent reads what was found behind the message that it was looked up for; no other agent does. */
function addRetrieved(
  { waiting }: TraceDocument,
  { agent: only, body: { passages } }: { readonly agent: string; readonly body: RetrievalBody },
  messages: MessageWriter,
): void {
  const at = waiting.findIndex(isToLookFor)
  const words = waiting[at]
  if (words === undefined) return
  words.looked = true
  if (passages.length === 0) return
  const { text } = knowledgeLine(only, passages)
  const own = messages.piece('user', [textPart(text)])
  let behind = at + 1
  while (waiting[behind]?.only !== undefined) behind += 1
  waiting.splice(behind, 0, { author: 'witan', to: only, text, isAttributed: true, own, only })
}

/** What was decided of what a reader reads or says: a note at the end, a message, or its answer. */
function addWritten(reader: Reader, decision: Decision, messages: MessageWriter): void {
  const { at, written } = decision
  const { agent, document } = reader
  const text = typeof written === 'string' ? written : null
  const isRefused = isRefusal(decision)
  const { waiting = document.waiting.length } = decision
  if (at === 'beforeModel' && text !== null) {
    const line = lineFor(agent, 'note', { text }).text
    const own = messages.piece('user', [textPart(line)])
    const words = { author: 'witan', to: agent, text: line, isAttributed: true, own, only: agent }
    document.waiting.splice(waiting, 0, words)
  } else if (at === 'joined') replaceJoined(reader, { waiting, text, isRefused }, messages)
  else if (at === 'beforeRun' && (text !== null || isRefused)) replaceOpening(reader, text, messages)
  else if ((at === 'afterRun' || at === 'answered') && (text !== null || isRefused))
    replaceAnswer(reader, text ?? refusedAnswer, messages)
}

/** A message that waits is read as it was written, or not at all. */
function replaceJoined(
  { document }: Reader,
  { waiting, text, isRefused }: { readonly waiting: number; readonly text: string | null; readonly isRefused: boolean },
  messages: MessageWriter,
): void {
  const words = document.waiting[waiting]
  if (isRefused) document.waiting.splice(waiting, 1)
  else if (words !== undefined && text !== null)
    Object.assign(words, { text, own: messages.piece('user', [textPart(text)]) })
}

/** The words that began a call, as they are read: the same, so that what stands in front of them does; null if they are not read at all. */
function replaceOpening({ began, document }: Reader, text: string | null, messages: MessageWriter): void {
  if (began === null) return
  if (text !== null) Object.assign(began, { text, own: messages.piece('user', [textPart(text)]) })
  else if (document.waiting.includes(began)) document.waiting.splice(document.waiting.indexOf(began), 1)
}

/** As in the fold: what a model has read again since stays as it was. */
function replaceAnswer({ agent, data, document: { lines } }: Reader, text: string, messages: MessageWriter): void {
  if (data === null || data.enableReflection || asksOutput(data)) return
  const line = lines.at(-1)
  if (line?.reply === undefined || line.reply.agent !== agent || line.reply.calls.length > 0) return
  const reply = { ...line.reply, text }
  lines[lines.length - 1] = { ...line, reply, own: messages.piece('assistant', partsOf(reply)) }
}

/** Where the words stand that begin the work of a call; -1 for nowhere. */
function openingAt(waiting: TraceDocument['waiting']): number {
  const opening = waiting.findLastIndex(({ author, only }) => only === undefined && author !== 'witan')
  return opening < 0 ? waiting.findLastIndex(({ only }) => only === undefined) : opening
}

/** The model of an agent reads what is wrong with its answer behind that answer. */
function addCritique(
  { lines }: TraceDocument,
  { agent: only, body }: { readonly agent: string; readonly body: CritiqueBody },
  messages: MessageWriter,
): void {
  if (body.verdict !== 'revise') return
  const { text } = revisionLine(only, body)
  const own = messages.piece('user', [textPart(text)])
  lines.push({ author: 'witan', to: only, text, isAttributed: true, own, only })
}

/** The model of an agent reads what it remembers behind the message that begins its work. */
function addRemembered({ waiting }: TraceDocument, body: MemoryBody, messages: MessageWriter): void {
  if (body.op !== 'read') return
  const at = openingAt(waiting)
  const { only, text } = memoryLine(body)
  const line = {
    author: 'witan',
    to: only,
    text,
    isAttributed: true,
    own: messages.piece('user', [textPart(text)]),
    only,
  }
  waiting.splice(at < 0 ? waiting.length : at + 1, 0, line)
}

function documentOf({ documents }: Reading, { document }: CallPlace): TraceDocument {
  const known = documents.get(document)
  if (known !== undefined) return known
  const made = newDocument()
  documents.set(document, made)
  return made
}

/** What opens a call: its message, with the exchange so far in front. */
function openingOf(
  place: CallPlace,
  { message, exchange, step }: AgentStartBody,
  { asker, messages }: { readonly asker: string; readonly messages: MessageWriter },
): TracedWords {
  const before = exchange?.soFar ?? ''
  const text = before === '' ? message : `${before}\n\n${message}`
  const isAttributed = step !== undefined || exchange !== undefined
  return { author: asker, to: place.author, text, isAttributed, own: messages.piece('user', [textPart(text)]) }
}

/** The agent or person that a call answers: its caller. After a hand-over it is the caller of the first agent. */
function askerOf({ readers }: Reading, { agentPath }: CallPlace, { handedFrom }: AgentStartBody): string {
  const before = handedFrom === undefined ? undefined : readers.get(handedFrom)
  return before?.asker ?? agentPath.split('/').at(-2) ?? 'user'
}

/** The reader of a call whose start is not known. */
function readerAt({ author: agent }: CallPlace, document: TraceDocument): Reader {
  return {
    agent,
    system: '',
    begin: [],
    from: 0,
    asker: 'user',
    wordsOnly: false,
    document,
    data: null,
    opening: null,
    began: null,
  }
}

/** What a child reads of its caller's document. Exchanges with other agents are theirs. */
function sharedBy(caller: Reader | undefined): string {
  if (caller === undefined || caller.data === null) return ''
  const others = edgesOf(caller.data).flatMap(({ tool }) => tool ?? [])
  return sharedText(caller.document, caller.from, new Set(others))
}

function instructions(system: string): Attributes {
  return system === '' ? [] : ['gen_ai.system_instructions', system]
}

/** The fields of an entry that a span may hold, by the table of readers. */
export function shownIn<One extends Entry>(entry: One): One['body'] {
  return spanContent(entry) as unknown as One['body']
}
