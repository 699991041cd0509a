/** The export format of a store: one JSON object per line, the same for every driver and strictly checked. */
import { formKinds } from '../tool/mcp/elicitation.ts'
import { WitanError } from '@witan/protocol'
import { parseExact } from '@witan/protocol/digits'
import { type Entry, entryProblem } from '@witan/protocol/entries'
import { digestPattern, mediaTypePattern } from '@witan/protocol/files'
import { databaseNamePattern } from '@witan/protocol/keys'
import { longestMemory, memoryKeyPattern, memoryKinds, memoryScopes, memoryWriterSchema } from '@witan/protocol/memory'
import { documentKeySchema, knowledgeBaseSchema, knowledgeIdPattern } from '@witan/protocol/knowledge'
import {
  agentSchema,
  findingSchema,
  interruptionSchema,
  protocolSchema,
  runResultSchema,
} from '@witan/protocol/schemas'
import { z } from 'zod'
import { decodeBase64, encodeBase64 } from '../identity/base64.ts'
import type { BlockRevision, BlockRow } from '../memory/records.ts'
import type { KeyRow } from './keys.ts'
import type { ConversationRow, InterruptionRow, JobRow, ParticipantRow } from './store.ts'
import type { StoredContent } from './stored-content.ts'

/** The format version that this code writes; it reads no other. */
export const movingVersion = 1

const text = z.string()
const number = z.number()
const natural = z.number().int().min(0)
const maybe = number.nullable()
const json = z.unknown()
const names = z.record(text, json)
const database = text.regex(databaseNamePattern)

const revisionSchema = z.strictObject({
  revision: z.number().int().min(1),
  source: z.enum(['code', 'data']),
  data: names.refine(
    (data) => [agentSchema, protocolSchema, knowledgeBaseSchema].some((schema) => schema.safeParse(data).success),
    'is no agent, protocol or knowledge base that this version can read',
  ),
  warnings: z.array(findingSchema),
})

const conversationSchema = z.strictObject({
  id: text,
  agent: text,
  createdBy: text,
  createdAt: number,
  lastMessageAt: number,
  lastSeq: natural,
  parameters: z.record(text, z.union([z.tuple([json, z.boolean()]), z.tuple([json, z.boolean(), natural])])),
  maxModelIterationsPerCall: maybe,
  expiresAt: maybe,
})

const placeSchema = z.strictObject({
  call: text,
  parentCall: text.nullable(),
  run: text,
  document: text,
  author: text,
  agentPath: text,
  invocation: text,
  branches: z.array(text).readonly().exactOptional(),
})

const plainEntrySchema = z.strictObject({
  seq: natural,
  type: text,
  kind: text.nullable(),
  at: number,
  job: text,
  epoch: natural,
  appendNo: z.number().int(),
  place: placeSchema,
  body: names,
})
const viewSchema = z.strictObject({ by: text.exactOptional(), upTo: natural.exactOptional() })
const entrySchema = plainEntrySchema.extend({ view: viewSchema.exactOptional() })

/** What the engine keeps with a job for readers. */
const aboutSchemas = {
  run: z.looseObject({ hidden: z.boolean(), originRunId: text.nullable() }),
  task: z.looseObject({ agent: text, agentPath: text, toolCallId: text, runId: text }),
}
/** A result as it is stored; an earlier version stored it without the agent that spoke. */
const resultSchema = runResultSchema.omit({ traceId: true }).partial({ agent: true }).loose().nullable()

const jobSchema = z.strictObject({
  id: text,
  kind: z.enum(['run', 'task']),
  status: z.enum(['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled']),
  epoch: natural,
  wake: z.boolean(),
  attempts: z.number().int(),
  createdAt: number,
  startedAt: maybe,
  endedAt: maybe,
  firstSeq: natural,
  about: json,
  result: json,
})

const openSchema = z.strictObject({
  job: text,
  call: text,
  view: names.refine(
    (view) => interruptionSchema.safeParse(view).success,
    'is no interruption that this version knows',
  ),
  bound: names,
  terms: json.refine((terms) => termsSchema.safeParse(terms).success, 'are no rules for an answer'),
  answer: json,
  answeredBy: text.nullable(),
  createdAt: number,
  expiresAt: maybe,
  settledAt: maybe,
})

/** As the engine makes them of an approval, of what an agent demands, and of a form of an MCP server; every other kind has none. */
const termsSchema = z
  .union([
    z.looseObject({ schema: names, bound: z.array(text) }),
    z.strictObject({ of: z.array(z.union([text, z.array(text)])) }),
    z.strictObject({ schema: names, fields: z.array(z.strictObject({ name: text, form: z.enum(formKinds) })) }),
  ])
  .nullable()

const contentSchema = z.strictObject({
  digest: text.regex(digestPattern),
  mediaType: text.regex(mediaTypePattern),
  name: text.nullable(),
  /** Base64. */
  bytes: text,
})

const participantSchema = z.strictObject({
  user: text,
  name: text.nullable(),
  roles: z.array(text),
  joinedAt: number,
  leftAt: maybe,
})

const keySchema = z.strictObject({
  id: text.min(1).max(100),
  digest: text.regex(/^sha256:[\w-]{43}$/),
  /** As every version took it: a key speaks for a person, and for nobody else. */
  holder: text.regex(/^user:[^\s:/]{1,100}$/).nullable(),
  roles: z.array(text),
  name: text.nullable(),
  address: text.nullable(),
  createdBy: text,
  createdAt: number,
  expiresAt: maybe,
  lastUsedAt: maybe,
})

const blockSchema = z.strictObject({
  id: text.min(1).max(300),
  agent: text,
  scope: z.enum(memoryScopes),
  subject: text.min(1).nullable(),
  conversation: text.min(1).nullable(),
  kind: z.enum(memoryKinds),
  key: text.regex(memoryKeyPattern),
  revision: natural.min(1),
  createdAt: number,
})
const blockRevisionSchema = z.strictObject({
  revision: natural.min(1),
  text: text.min(1).max(longestMemory),
  at: number,
  writtenBy: memoryWriterSchema.strict(),
})

const lineSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('witan-store'), version: z.literal(movingVersion), databases: z.array(database) }),
  z.strictObject({
    kind: z.literal('agent'),
    database,
    id: text,
    current: natural.nullable(),
    revisions: z.array(revisionSchema).min(1),
  }),
  /** Only in the export of one conversation: the settings of the runtime that a replay needs. */
  z.strictObject({
    kind: z.literal('runtime'),
    database,
    /** The ids of all agents: what refuses a hand-over says whether its target exists. */
    agents: z.array(text),
    limits: z.strictObject({ maxDepth: maybe, maxModelCalls: number, maxToolCallsPerReply: number }),
    /** The ids of models that have another name for agents, by that name. */
    models: z.record(text, text),
    tools: z.array(
      z.strictObject({ name: text, description: text, jsonSchema: names, effect: z.enum(['none', 'keyed', 'once']) }),
    ),
  }),
  z.strictObject({ kind: z.literal('key'), database, key: keySchema }),
  /** A document of a knowledge base, as it was read. */
  z.strictObject({
    kind: z.literal('document'),
    database,
    base: text.regex(knowledgeIdPattern),
    key: documentKeySchema,
    title: text.max(300),
    uri: text.max(2000).nullable(),
    mediaType: text.max(200),
    attributes: names,
    digest: text.regex(digestPattern),
    blocks: z.array(json),
  }),
  /** A block of memory, which so many revisions follow. The last of them is what it is now. */
  z.strictObject({
    kind: z.literal('memory'),
    database,
    block: blockSchema.refine(
      ({ scope, subject, conversation }) =>
        (scope === 'agent') === (subject === null) && (scope === 'conversation') === (conversation !== null),
      'is of nobody',
    ),
    revisions: natural.min(1),
  }),
  z.strictObject({ kind: z.literal('revision'), revision: blockRevisionSchema }),
  z.strictObject({
    kind: z.literal('conversation'),
    database,
    row: conversationSchema,
    jobs: natural,
    interruptions: natural,
    /** Absent for none, so that an earlier version reads every conversation without files or people. */
    contents: natural.min(1).optional(),
    participants: natural.min(1).optional(),
  }),
  z.strictObject({ kind: z.literal('entry'), entry: entrySchema }),
  z.strictObject({ kind: z.literal('job'), job: jobSchema }),
  z.strictObject({ kind: z.literal('interruption'), interruption: openSchema }),
  z.strictObject({ kind: z.literal('content'), content: contentSchema }),
  z.strictObject({ kind: z.literal('participant'), participant: participantSchema }),
  z.strictObject({
    kind: z.literal('end'),
    agents: natural,
    conversations: natural,
    keys: natural.min(1).optional(),
    documents: natural.min(1).optional(),
    blocks: natural.min(1).optional(),
  }),
])

/** One line. A conversation's line is followed by its entries, jobs, interruptions, content and people, in the numbers that it states. */
export type MovingLine = z.infer<typeof lineSchema>

/** Converts stored rows to the rows of an export. */
export const movingRows = {
  conversation: ({ database: _, ...row }: ConversationRow): MovingOf<'conversation'>['row'] =>
    ordered(conversationSchema, { ...row, parameters: mutable(row.parameters) }),
  entry({ view, ...entry }: Entry): MovingOf<'entry'>['entry'] {
    const row = ordered(plainEntrySchema, { ...entry, place: placeRow(entry.place), body: { ...entry.body } })
    return view === undefined ? row : { ...row, view }
  },
  job: ({ owner: _, leaseUntil: __, database: ___, conversation: ____, ...job }: JobRow): MovingOf<'job'>['job'] =>
    ordered(jobSchema, job),
  interruption: ({
    database: _,
    conversation: __,
    ...row
  }: InterruptionRow): MovingOf<'interruption'>['interruption'] =>
    ordered(openSchema, { ...row, view: { ...row.view }, bound: { ...row.bound } }),
  content: (row: StoredContent): MovingOf<'content'>['content'] =>
    ordered(contentSchema, { ...row, bytes: encodeBase64(row.bytes) }),
  participant: (row: ParticipantRow): MovingOf<'participant'>['participant'] =>
    ordered(participantSchema, { ...row, roles: [...row.roles] }),
  key: ({ database: _, ...row }: KeyRow): MovingOf<'key'>['key'] =>
    ordered(keySchema, { ...row, roles: [...row.roles] }),
  block: (row: BlockRow): MovingOf<'memory'>['block'] => ordered(blockSchema, row),
  blockRevision: (row: BlockRevision): MovingOf<'revision'>['revision'] =>
    ordered(blockRevisionSchema, { ...row, writtenBy: ordered(memoryWriterSchema, row.writtenBy) }),
  revision: (row: z.infer<typeof revisionSchema>): z.infer<typeof revisionSchema> => ordered(revisionSchema, row),
} as const

/** Content of an export as a store keeps it. Throws `BODY_INVALID` if it is not base64. */
export function contentRow({ bytes, ...row }: MovingOf<'content'>['content'], place: string): StoredContent {
  const decoded = decodeBase64(bytes)
  if (decoded === null) throw invalid(place, 'has content that is not base64')
  return { ...row, bytes: decoded }
}

/** A line of one kind. */
export type MovingOf<Kind extends MovingLine['kind']> = Extract<MovingLine, { kind: Kind }>

const plainPlaceSchema = placeSchema.omit({ branches: true })

function placeRow({ branches, ...place }: Entry['place']): Entry['place'] {
  const row = ordered(plainPlaceSchema, place)
  return branches === undefined ? row : { ...row, branches }
}

function mutable(parameters: ConversationRow['parameters']) {
  return parameters as MovingOf<'conversation'>['row']['parameters']
}

/** The fields in the order of their schema, so that equal stores export equal text. */
function ordered<Shape extends z.ZodRawShape, Value extends object>(schema: z.ZodObject<Shape>, value: Value): Value {
  const fields = Object.keys(schema.shape).map((name) => [name, (value as Record<string, unknown>)[name] ?? null])
  return Object.fromEntries(fields) as Value
}

/** The text of a line, without the line feed. */
export function exportText(line: MovingLine): string {
  return JSON.stringify(line)
}

/** Parses line `number`. Throws `JSON_INVALID`, `SCHEMA_TOO_NEW`, `UNKNOWN_KEY` or `BODY_INVALID`; no message holds a value. */
export function readMovingLine(given: string, number: number): MovingLine {
  const place = `line ${number}`
  let value: unknown
  try {
    value = parseExact(given)
  } catch {
    throw new WitanError('JSON_INVALID', `${place} is not JSON.`, { path: place, hint: completeFileHint })
  }
  refuseNewer(value, place)
  const parsed = lineSchema.safeParse(value)
  const [issue] = parsed.error?.issues ?? []
  if (parsed.success && !hasHiddenKey(value)) return known(parsed.data, place)
  if (issue?.code === 'unrecognized_keys' || issue === undefined) {
    const key = [...(issue?.path ?? []), issue?.keys[0] ?? '__proto__'].map(String).join('.')
    const hint = 'Take the file as `witan export` wrote it, with a version of Witan that is at least as new.'
    throw new WitanError(
      'UNKNOWN_KEY',
      `${place} has a field that this version does not know: \`${key.slice(0, 200)}\`.`,
      {
        path: `${place}: ${key.slice(0, 200)}`,
        hint,
      },
    )
  }
  const path = issue.path.map(String).join('.').slice(0, 200)
  throw invalid(place, path === '' ? 'is not a line of an export' : `is not valid at \`${path}\`: ${issue.message}`)
}

const completeFileHint = 'Take the whole file that `witan export` wrote, as it is.'

/** The error for a line that does not belong in the file there. */
export function invalid(place: string, why: string): WitanError {
  return new WitanError('BODY_INVALID', `${place} ${why}.`, { path: place, hint: completeFileHint })
}

function refuseNewer(value: unknown, place: string): void {
  const { kind, version } = (value ?? {}) as { readonly kind?: unknown; readonly version?: unknown }
  if (kind !== 'witan-store' || typeof version !== 'number' || version <= movingVersion) return
  const detail = `${place}: the file has version ${version} of the form; this version of Witan reads ${movingVersion}.`
  throw new WitanError('SCHEMA_TOO_NEW', detail, {
    path: place,
    hint: 'Import it with the version of Witan that wrote it, or a newer one.',
  })
}

/** Whether a `__proto__` key is there, which a schema would drop silently. */
function hasHiddenKey(value: unknown): boolean {
  const isObject = (one: unknown): one is object => typeof one === 'object' && one !== null
  if (!isObject(value)) return false
  return [value, ...Object.values(value)].some((one) => isObject(one) && Object.hasOwn(one, '__proto__'))
}

/** Checks what depends on the type of an entry or the kind of a job. */
function known(line: MovingLine, place: string): MovingLine {
  const problem = line.kind === 'entry' ? entryProblem(line.entry) : line.kind === 'job' ? jobProblem(line.job) : null
  if (problem === null) return line
  const at = problem.path.slice(0, 200)
  throw invalid(place, at === '' ? `is not valid: ${problem.message}` : `is not valid at \`${at}\`: ${problem.message}`)
}

function jobProblem({ kind, about, result }: MovingOf<'job'>['job']): ReturnType<typeof entryProblem> {
  const [first] = [
    ...(aboutSchemas[kind].safeParse(about).error?.issues ?? []).map((issue) => ({ field: 'about', issue })),
    ...(resultSchema.safeParse(result).error?.issues ?? []).map((issue) => ({ field: 'result', issue })),
  ]
  if (first === undefined) return null
  return { path: [first.field, ...first.issue.path].map(String).join('.'), message: first.issue.message }
}
