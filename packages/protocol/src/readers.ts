/** The one table of which reader sees what of an entry. The types of events are derived from it. */
import { verdictOf } from './condition.ts'
import { artifactOf, type ShownPlace } from './artifact.ts'
import { callerOf, type OutsideCaller } from './caller.ts'
import type {
  AgentStartBody,
  EntryContent,
  ExchangeEnds,
  MemoryBody,
  MessageBody,
  ResolvedBody,
  RetrievalBody,
  ToolStartBody,
} from './entry.ts'
import type { ModelEndBody } from './entry-model.ts'
import type { EntryKind, EntryType, ModelPurpose } from './entry-sets.ts'
import type { InterruptionKind } from './interruption.ts'
import type { ListedServer, ToolsBody } from './mcp.ts'
import type { MemoryScope } from './memory-schema.ts'
import type { NoticeBody, NoticeOf } from './notice.ts'

/** The body of each kind of entry, by the name of its row: `message`, `start agent`. */
type Bodies<Content extends Row> = {
  [One in Content as One['kind'] extends string ? `${One['type']} ${One['kind']}` : One['type']]: One['body']
}
interface Row {
  readonly type: string
  readonly kind: string | null
  readonly body: object
}
/** The body of one kind of interruption, selected by the name of its row. */
type BodyOf<Name, Body> = Name extends `${infer Kind extends InterruptionKind}_required`
  ? Extract<Body, { readonly kind: Kind }>
  : Body

/** What readers see of one entry type. */
interface ReaderRow<Body> {
  /** The body's fields that an event shows; other fields never leave the log. A field that the body lacks is null. */
  readonly event: readonly (keyof Body)[]
  /** Fields that an event shows only if the body has them. */
  readonly also?: readonly (keyof Body)[]
  /** Fields that an event shows and that are computed from the body. */
  readonly derived?: (body: Body) => object
  /** Fields that an event shows and that are computed from the body and its place. */
  readonly placed?: (body: Body, at: ShownPlace) => object
  /** What it does to the run beyond its call, for readers of the `actions` of an event [K25]. */
  readonly actions?: (body: Body) => object
  /** Fields that a span of a trace with full content holds besides those of an event [C32]. */
  readonly span?: readonly (keyof Body)[]
  /** True if a terse reader gets it from every call, not only from the root's own; `never` if from none [F34]. */
  readonly terse: boolean | 'never'
}

/** One row per kind of entry. A row may name only fields of its body; anything else does not compile. */
export type ReaderTable<Content extends Row = EntryContent> = {
  readonly [Name in keyof Bodies<Content>]: ReaderRow<BodyOf<Name, Bodies<Content>[Name]>>
}

/** The row of an interruption, without merged values; `prompt` lists the fields that its kind adds. */
function asked<const Prompt extends readonly string[]>(...prompt: Prompt) {
  const event = ['id', 'kind', 'path', 'agent', 'callId', 'addressee', 'state', 'expiresAt', ...prompt] as const
  return { event, also: ['caller'], terse: true } as const
}

const inWords: readonly unknown[] = ['approval', 'question', 'message'] satisfies InterruptionKind[]

/**
 * What a person decided or said. A client's response to an action is shown at the end of its call; of a condition only
 * whether it was declined: what resolves it may be a receipt.
 */
function shownAnswer({ kind, answer }: ResolvedBody): { readonly answer?: unknown } {
  const isGiven = typeof answer === 'object' && answer !== null && 'value' in answer
  if (kind === 'policy' && isGiven) return { answer: { decision: verdictOf(kind, answer.value) } }
  return inWords.includes(kind) && isGiven ? { answer: answer.value } : {}
}

/** What a message says of a person who wrote it, or a message between peers of its exchange [Tb27]. */
interface ShownExchange {
  readonly authorKind?: 'agent' | 'user'
  readonly to?: string
  readonly protocol?: string
  readonly name?: string
  readonly exchange?: string
  readonly isReply?: boolean
  readonly body?: unknown
}

function shownExchange({ author, authorKind, exchange }: MessageBody): ShownExchange {
  if (exchange === undefined) return authorKind === undefined ? {} : { authorKind }
  const { id, protocol, initiator, responder, name, isReply, body } = exchange
  const to = author === initiator ? responder : initiator
  return { authorKind: 'agent', to, protocol, name, exchange: id, isReply, body }
}

/** A message to a peer that was not sent shows whose exchange it was for. */
function shownEnds({ exchange }: ToolStartBody): { readonly exchange?: Omit<ExchangeEnds, 'revision'> } {
  if (exchange === undefined) return {}
  const { protocol, initiator, responder } = exchange
  return { exchange: { protocol, initiator, responder } }
}

/** Who called from another server; of whom else a run works for nothing is shown. */
function shownCaller(body: AgentStartBody): { readonly caller?: OutsideCaller } {
  const caller = callerOf(body)
  return caller === null ? {} : { caller }
}

/** Who called from another server, and which guardrail an agent was asked for. An answer that is to be checked is not shown before. */
function shownStart(body: AgentStartBody): {
  readonly message: string
  readonly caller?: OutsideCaller
  readonly guardrail?: string
  readonly mcp?: readonly ShownServer[]
} {
  const { guardrail, message, mcp } = body
  const listed = mcp === undefined ? {} : shownServers({ mcp })
  if (guardrail === undefined) return { message, ...shownCaller(body), ...listed }
  const read = guardrail.at === 'answered' ? '' : message
  return { message: read, ...shownCaller(body), ...listed, guardrail: guardrail.name }
}

/** Which tools MCP servers offer, by the names that models read. Their definitions stay in the log. */
function shownServers({ mcp }: Pick<ToolsBody, 'mcp'>): { readonly mcp: readonly ShownServer[] } {
  return { mcp: mcp.map(({ server, digest, names }) => ({ server, tools: names, digest })) }
}

interface ShownServer extends Pick<ListedServer, 'server' | 'digest'> {
  readonly tools: readonly string[]
}

/** Which passages were found. Their texts stay in the log. */
function shownPassages({ passages }: RetrievalBody): { readonly passages: readonly ShownPassage[] } {
  return { passages: passages.map(({ id, base, document }) => ({ id, base, document })) }
}

type ShownPassage = Pick<RetrievalBody['passages'][number], 'id' | 'base' | 'document'>

/** Which blocks were read or written. Their texts stay in the log. */
function shownBlocks({ scope, blocks, recalled = [] }: MemoryBody): { readonly blocks: readonly ShownBlock[] } {
  const named = [...blocks, ...recalled]
  return {
    blocks: named.map((one) => ({
      key: one.key,
      revision: one.revision,
      ...(scope === null ? { scope: one.scope } : {}),
    })),
  }
}

interface ShownBlock {
  readonly key: string
  readonly revision: number
  /** Where the agent has several. */
  readonly scope?: MemoryScope
}

/** What the last moment of a time is, in ms. */
const lastTime = 8_640_000_000_000_000

/** When and for what a model was asked. */
function shownRequest({ startedAt, purpose }: ModelEndBody): {
  readonly startedAt: string | null
  readonly purpose: 'answer' | ModelPurpose
} {
  return {
    startedAt: Math.abs(startedAt) <= lastTime ? new Date(startedAt).toISOString() : null,
    purpose: purpose ?? 'answer',
  }
}

/** What a guardrail found, by its name: never the words that it found. */
function shownHit(body: NoticeBody): Partial<Pick<NoticeOf<'GUARDRAIL_HIT'>, 'name' | 'action' | 'side'>> {
  if (body.code !== 'GUARDRAIL_HIT') return {}
  const { name, action, side } = body
  return { name, action, side }
}

/** The table. */
export const readers = {
  message: { event: ['author', 'text'], also: ['artificialActions', 'files'], derived: shownExchange, terse: false },
  'start agent': {
    event: ['message', 'parameters', 'hidden', 'originRunId', 'handedFrom'],
    also: ['hiddenParameters', 'overrides', 'step', 'remote', 'plan', 'critique'],
    derived: shownStart,
    terse: false,
  },
  'end agent': {
    event: ['text', 'output', 'finishReason', 'usage', 'backgroundTasks'],
    also: ['sources', 'earlierAnswers'],
    terse: false,
  },
  'error agent': { event: ['code', 'detail'], terse: false },
  'start tool': { event: ['name', 'arguments', 'bound'], derived: shownEnds, terse: false },
  'end tool': {
    event: ['result', 'truncated'],
    also: ['bound'],
    actions: ({ handsTo }) => (handsTo === undefined ? {} : { transferToAgent: handsTo }),
    terse: false,
  },
  'error tool': { event: ['code', 'detail'], also: ['bound'], terse: false },
  'end model': {
    event: ['model', 'usage', 'finishReason', 'attempt', 'readUpTo'],
    derived: shownRequest,
    span: ['text', 'toolCalls'],
    terse: false,
  },
  'error model': { event: ['code', 'detail', 'model', 'spent'], terse: 'never' },
  action_required: asked('name', 'arguments'),
  question_required: { ...asked('questions'), also: ['caller', 'server', 'message'] },
  approval_required: asked('tool', 'arguments', 'digest'),
  message_required: asked('prompt'),
  policy_required: asked('issuer', 'policy'),
  resolved: { event: ['id', 'state', 'by'], derived: shownAnswer, terse: true },
  task: { event: ['taskId', 'status'], terse: false },
  notice: { event: ['code', 'detail'], derived: shownHit, terse: false },
  summary: { event: ['document', 'upToSeq'], terse: false },
  transfer: {
    event: ['from', 'to', 'returned'],
    actions: ({ to, returned }) => (returned ? {} : { transferToAgent: to }),
    terse: false,
  },
  participant: { event: ['user', 'name', 'roles', 'change', 'by'], terse: 'never' },
  retrieval: { event: ['query'], derived: shownPassages, span: [], terse: false },
  memory: { event: ['op', 'agent', 'scope', 'subject'], derived: shownBlocks, span: [], terse: false },
  plan: { event: ['revision', 'steps', 'reason'], terse: false },
  critique: { event: ['verdict', 'problems', 'by', 'seq'], terse: false },
  hook: { event: ['hook', 'at', 'effect', 'reason'], span: ['written'], terse: false },
  tools: { event: [], derived: shownServers, span: [], terse: false },
  cancel: { event: ['by', 'tasks'], terse: false },
  checkpoint: { event: [], also: ['read'], terse: false },
  artifact: { event: [], span: ['name', 'mediaType'], placed: artifactOf, terse: false },
} as const satisfies ReaderTable

type Readers = typeof readers
type Name = keyof Readers
type Shown<Field> = undefined extends Field ? Exclude<Field, undefined> | null : Field
type Derived<One> = One extends { readonly derived: (body: never) => infer Fields } ? Fields : unknown
type Placed<One> = One extends { readonly placed: (body: never, at: never) => infer Fields } ? Fields : unknown
type Also<One> = One extends { readonly also: readonly (infer Field)[] } ? Field : never

type Flat<Fields> = { readonly [Field in keyof Fields]: Fields[Field] }

type ContentOf<One extends { readonly event: readonly PropertyKey[] }, Body> = Flat<
  { [Field in keyof Body as Field extends One['event'][number] ? Field : never]-?: Shown<Body[Field]> } & {
    [Field in keyof Body as Field extends Also<One> ? Field : never]?: Body[Field]
  } & Derived<One> &
    Placed<One>
>

/** Type, kind and content of an event together, as the table shows them to readers. */
export type EventContent = {
  [One in Name]: {
    readonly type: One extends `${infer Type extends EntryType} ${string}` ? Type : One & EntryType
    readonly kind: One extends `${string} ${infer Kind extends EntryKind & string}` ? Kind : null
    readonly content: ContentOf<Readers[One], BodyOf<One, Bodies<EntryContent>[One]>>
  }
}[Name]

/** A row of the table as seen by code that looks it up by type and kind. */
interface AnyRow {
  readonly event: readonly string[]
  readonly also?: readonly string[]
  readonly span?: readonly string[]
  derived?(body: EntryContent['body']): object
  placed?(body: EntryContent['body'], at: ShownPlace): object
  actions?(body: EntryContent['body']): object
  readonly terse: boolean | 'never'
}
const rows: Readonly<Record<string, AnyRow>> = readers

/** The row of the reader table for a type and kind. */
export function readersOf(type: EntryType, kind: EntryKind): AnyRow {
  const row = rows[kind === null ? type : `${type} ${kind}`]
  if (row === undefined) throw new Error(`no reader row for ${type} ${kind}`)
  return row
}
