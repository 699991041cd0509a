/** What was said, as attributes of spans. Only traces with full content have it. */
import type { AgentData } from '@witan/protocol'
import type {
  AgentEndBody,
  AgentStartBody,
  CallPlace,
  Entry,
  LoggedToolCall,
  MessageBody,
  ModelEndBody,
} from '@witan/protocol/entries'
import { readJson } from '@witan/protocol/schemas'
import { spanContent } from '../event/project.ts'
import type { Bound } from '../parameter/parameter.ts'
import type { Scrubber } from '../parameter/scrub.ts'
import { parameterLines } from '../parameter/visibility.ts'
import { ContentWriter } from './content.ts'
import { type MessageForm, type MessagePart, MessageWriter } from './message-form.ts'
import type { AttributeValue } from './span.ts'

type Texts = Record<string, AttributeValue>

/** The messages of one document in this job, as JSON: read by a model, and still waiting. */
interface Said {
  readonly read: string[]
  readonly waiting: string[]
}

/** How a call reads its document. */
interface Reader {
  readonly system: string
  /** The instructions as the first message of a chat; empty in the form of OpenTelemetry, which has an attribute for them. */
  readonly opening: readonly string[]
  readonly from: number
}

const noValues: Bound = new Map()
const noReader: Reader = { system: '', opening: [], from: 0 }

/**
 * Follows what each document holds, in the order of the log. A model's input is what its document holds since the beginning of the job:
 * earlier runs have traces of their own.
 */
export class SpanContent {
  readonly writer: ContentWriter
  readonly #bound: ReadonlyMap<string, Bound>
  readonly #messages: MessageWriter
  readonly #documents = new Map<string, Said>()
  readonly #readers = new Map<string, Reader>()

  constructor(scrub: Scrubber, of: { readonly bound: ReadonlyMap<string, Bound>; readonly form: MessageForm }) {
    this.writer = new ContentWriter(scrub)
    this.#bound = of.bound
    this.#messages = new MessageWriter(this.writer, of.form)
  }

  /** An agent's call begins: its instructions and its message. */
  started(place: CallPlace, body: AgentStartBody, agent: AgentData): Texts {
    const { read, waiting } = this.#said(place)
    const isTaken = body.handOver !== undefined
    const opening = this.#messages.piece('user', [text(body.message)])
    if (place.parentCall !== null && !isTaken) waiting.push(opening)
    const from = body.history === 'isolated' ? read.length : 0
    if (body.initial.length > 0) {
      read.push(...waiting.splice(0), this.#messages.piece('assistant', body.initial.map(called)))
    }
    const isModel = agent.workflow === null
    const written = agent.instructions + parameterLines(agent.parameters, this.#bound.get(place.call) ?? noValues)
    const system = isModel ? this.writer.value([text(written)]) : ''
    const opens = isModel && this.#messages.isChat ? [this.#messages.piece('system', [text(written)])] : []
    this.#readers.set(place.call, { system, opening: opens, from })
    return { ...instructions(system), 'gen_ai.input.messages': this.#messages.list([opening]) }
  }

  /** A message comes to a document. Those between peers stand in the starts and answers of calls already. */
  heard(place: CallPlace, body: MessageBody): void {
    if (body.exchange !== undefined) return
    const { waiting } = this.#said(place)
    const { artificialActions: actions = [] } = body
    const pieces = [this.#messages.piece('user', [text(body.text)])]
    if (actions.length > 0) {
      pieces.push(this.#messages.piece('assistant', actions.map(called)))
      pieces.push(
        this.#messages.piece(
          'tool',
          actions.map(({ id, response }) => answered(id, response)),
        ),
      )
    }
    waiting.push(pieces.join(','))
  }

  /** A model replies: what it read, and what it said. */
  replied({ place, body }: Entry & { readonly body: ModelEndBody }, shown: ModelEndBody): Texts {
    const { read, waiting } = this.#said(place)
    const { system, opening, from } = this.#readers.get(place.call) ?? noReader
    const parts = [...(shown.text === '' ? [] : [text(shown.text)]), ...shown.toolCalls.map(called)]
    const reply = { role: 'assistant', parts, finish_reason: body.finishReason } as const
    const own = body.purpose === undefined || body.purpose === 'output'
    const fresh = waiting.slice(0, body.taken)
    const texts = {
      ...instructions(own ? system : ''),
      ...(own ? { 'gen_ai.input.messages': this.#messages.list([...opening, ...read.slice(from), ...fresh]) } : {}),
      'gen_ai.output.messages': this.#messages.list([this.#messages.written(reply)]),
    }
    if (body.purpose !== undefined || (!body.accepted && body.text === '')) return texts
    read.push(...waiting.splice(0, body.taken), this.#messages.piece('assistant', parts))
    return texts
  }

  /** What a call of the agent at `place` came to. */
  answered(place: CallPlace, toolCallId: string, response: unknown): void {
    this.#said(place).read.push(this.#messages.piece('tool', [answered(toolCallId, response)]))
  }

  /** An agent's call ends: its answer. */
  ended(
    place: CallPlace,
    { text: said, output, finishReason }: Pick<AgentEndBody, 'text' | 'output' | 'finishReason'>,
  ): Texts {
    if (place.parentCall !== null) this.#said(place).waiting.length = 0
    const parts = said === '' && output !== null ? [text(JSON.stringify(output))] : [text(said)]
    const reply = { role: 'assistant', parts, finish_reason: finishReason } as const
    return { 'gen_ai.output.messages': this.#messages.list([this.#messages.written(reply)]) }
  }

  #said({ document }: CallPlace): Said {
    const known = this.#documents.get(document)
    if (known !== undefined) return known
    const made: Said = { read: [], waiting: [] }
    this.#documents.set(document, made)
    return made
  }
}

function instructions(system: string): Texts {
  return system === '' ? {} : { 'gen_ai.system_instructions': system }
}

function text(content: string): MessagePart {
  return { type: 'text', content }
}

function called({ id, name, arguments: written }: LoggedToolCall): MessagePart {
  const read = readJson(written)
  return { type: 'tool_call', id, name, arguments: read.ok ? read.value : written }
}

function answered(id: string, response: unknown): MessagePart {
  return { type: 'tool_call_response', id, response }
}

/** The fields of an entry that a span may hold, by the table of readers. */
export function shownIn<One extends Entry>(entry: One): One['body'] {
  return spanContent(entry) as unknown as One['body']
}
