/** The form of each kind of entry, for logs that come from outside. Fields that this version does not know stay: readers skip them. */
import { z } from 'zod'
import { mostSteps, toolModes } from './agent.ts'
import { artifactIdPattern } from './artifact.ts'
import {
  finishReasons,
  modelErrorCodes,
  modelPurposes,
  noticeCodes,
  verdicts,
  guardEffects,
  guardPoints,
  hookEffects,
  hookPoints,
} from './entry-sets.ts'
import { fileReferenceSchema } from './file-schema.ts'
import { digestPattern, mediaTypePattern } from './files.ts'
import { sourceSchema } from './knowledge-schema.ts'
import { interruptionKinds, interruptionSchema, interruptionStates } from './interruption.ts'
import { memoryKinds, memoryScopes } from './memory-schema.ts'
import { guardrailActions, guardrailSides } from './guardrail-schema.ts'
import type { NoticeFact } from './notice.ts'
import { planTexts, stepStatuses } from './plan.ts'
import type { readers } from './readers.ts'
import { taskStatuses } from './task.ts'
import { usageCountersSchema, usageSchema } from './usage.ts'

const text = z.string()
const texts = z.array(text)
const maybe = text.nullable()
const count = z.number().int().nonnegative()
const flag = z.boolean()
/** Any JSON, or nothing: what an entry lacks reads as null. */
const json = z.unknown().optional()
const names = z.record(text, z.unknown())
const object = z.looseObject

const call = object({ id: text, name: text, arguments: text })
const files = z.array(fileReferenceSchema.loose())
const lost = count.optional()
const modelPurpose = z.enum(modelPurposes)
const bound = texts.optional()

const decision = object({
  ...{ at: z.enum(guardPoints), effect: z.enum(guardEffects), reason: maybe },
  ...{ waiting: count.optional(), written: text.optional(), closes: z.literal(true).optional() },
})
const noticeFacts = object({
  ...{ model: text, next: text, attempt: count, tries: count, delayMs: count },
  ...{ tool: text, argument: text, count, hidden: texts, remote: text, fields: texts },
  ...{ protocol: text, initiator: text, responder: text, message: text, state: text },
  ...{ caller: text, from: count, to: count, base: text, agent: text, reason: text, name: text, server: text },
  ...{ action: z.enum(guardrailActions), side: z.enum(guardrailSides), decision },
} satisfies Record<NoticeFact, z.ZodType>).partial().shape

const ends = { protocol: text, revision: count, initiator: text, responder: text }
const standing = { state: maybe, finished: flag }
const exchange = object({ ...ends, ...standing, id: text, name: text, isReply: flag, body: json })

const modelUsage = object({
  inputTokens: count.nullable(),
  outputTokens: count.nullable(),
  cachedInputTokens: count,
  reasoningTokens: count,
  cacheWriteTokens: count.optional(),
  costUsd: z.number().nonnegative().optional(),
  priceDate: text.optional(),
})

const embedded = z
  .array(
    object({
      model: text,
      inputTokens: count.nullable(),
      costUsd: modelUsage.shape.costUsd,
      priceDate: text.optional(),
    }),
  )
  .optional()

const usd = z.number().nonnegative().nullable()
const limit = count.nullable()
const grant = object({ modelCalls: count, iterations: limit, tokens: limit, costUsd: usd })

const rememberedBlock = object({
  ...{ id: text, scope: z.enum(memoryScopes), kind: z.enum(memoryKinds), key: text, text },
  ...{ revision: count, updatedAt: z.number() },
})

const planStep = object({
  id: text.max(planTexts.id),
  title: text.max(planTexts.title),
  status: z.enum(stepStatuses),
  note: text.max(planTexts.note).optional(),
})
const plan = object({
  revision: count,
  steps: z.array(planStep).max(mostSteps),
  reason: text.max(planTexts.reason).optional(),
})

const provenEvidence = object({ subject: text, onBehalfOf: texts, issuer: text, digest: text, expiresAt: z.number() })

const listedServers = z
  .array(
    object({
      ...{ server: text, trusted: flag, digest: text, names: texts },
      tools: z
        .array(
          object({
            ...{ name: text, offeredAs: text, description: text, inputSchema: names, outputSchema: names.optional() },
            ...{ effect: z.enum(['none', 'keyed', 'once']), readOnly: flag },
          }),
        )
        .max(500)
        .optional(),
    }),
  )
  .max(50)

const agentStart = object({
  agent: text,
  revision: count,
  toolCallId: maybe,
  message: text,
  parameters: names,
  hiddenParameters: texts.optional(),
  generated: names.nullable(),
  plan: plan.optional(),
  map: z.record(text, maybe),
  history: z.enum(['agent', 'isolated', 'shared']),
  answer: object({ form: z.enum(['plain', 'textAndError']), collect: z.enum(['final', 'all']) }).optional(),
  overrides: object({
    model: text.optional(),
    temperature: z.number().optional(),
    toolMode: z.enum(toolModes).optional(),
  }).optional(),
  revisions: z.record(text, count),
  ordered: z.literal(true).optional(),
  initial: z.array(call),
  hidden: flag,
  originRunId: maybe,
  principal: object({ id: text, roles: texts, address: text.optional(), person: text.optional() }).optional(),
  incoming: object({
    chain: object({
      ...{ hop: z.number().int().min(1), maxHops: z.number().int().min(1), root: maybe, path: texts },
      assumed: z.literal(true).optional(),
    }).optional(),
    mentionRelay: z.literal('inline').optional(),
    evidence: z.array(provenEvidence).optional(),
    renewed: provenEvidence.optional(),
    budget: object({ modelCalls: limit, tokens: limit, costUsd: usd, seconds: limit, depth: limit }).optional(),
  }).optional(),
  background: grant.optional(),
  share: grant.optional(),
  handedFrom: text.optional(),
  handOver: object({ history: z.enum(['all', 'words']), returns: flag }).optional(),
  step: object({ index: count, round: count }).optional(),
  critique: z.literal(true).optional(),
  guardrail: object({ of: text, name: text, at: z.enum(guardPoints), waiting: count.optional() }).optional(),
  passTakes: count.optional(),
  exchange: object({ ...ends, id: text, name: text, reply: names.nullable(), soFar: text.optional() }).optional(),
  remote: text.optional(),
  mcp: listedServers.optional(),
})

const modelEnd = object({
  model: text,
  asked: text.optional(),
  usage: modelUsage.nullable(),
  finishReason: text,
  text,
  toolCalls: z.array(call),
  taken: count,
  startedAt: z.number(),
  attempt: z.number().int(),
  offered: flag,
  toolless: z.literal(true).optional(),
  accepted: flag,
  purpose: modelPurpose.optional(),
  heard: texts.optional(),
  behind: count.optional(),
  admitted: count.optional(),
  kept: object({ by: text, parts: json }).optional(),
  reasoning: text.optional(),
  readUpTo: count.optional(),
  digest: text.optional(),
  refused: z.literal(true).optional(),
})

const message = object({
  author: text,
  authorKind: z.literal('user').optional(),
  text,
  artificialActions: z.array(call.extend({ response: json })).optional(),
  files: files.optional(),
  id: text.optional(),
  messageId: text.optional(),
  tasks: texts.optional(),
  forModel: text.optional(),
  exchange: exchange.optional(),
  traceparent: text.optional(),
})

const error = object({ code: text, detail: text, usage: usageSchema.optional(), lost, bound, embedded })

/** An interruption of one kind, as it was asked. */
function required(kind: (typeof interruptionKinds)[number]) {
  const held = object({ held: object({ toolCallId: text }).optional() })
  return held.refine((body) => {
    const read = interruptionSchema.safeParse(body)
    return read.success && read.data.kind === kind
  }, 'is no interruption of its type')
}

const rows = {
  message,
  'start agent': agentStart,
  'end agent': object({
    text,
    output: json,
    finishReason: z.enum(finishReasons),
    usage: usageSchema,
    backgroundTasks: texts,
    sources: z.array(sourceSchema).optional(),
    earlierAnswers: texts.optional(),
    lost,
  }),
  'error agent': error,
  'start tool': object({
    name: text,
    toolCallId: text,
    arguments: json,
    bound: texts,
    isLast: z.literal(true).optional(),
    exchange: object({ ...ends, ...standing }).optional(),
  }),
  'end tool': object({
    result: json,
    forModel: json,
    truncated: flag,
    bound,
    endsToolMode: z.literal(true).optional(),
    sources: z.array(sourceSchema).optional(),
    embedded,
    handsTo: text.optional(),
    exitsLoop: z.literal(true).optional(),
  }),
  'error tool': error,
  'end model': modelEnd,
  'error model': object({
    code: z.enum(modelErrorCodes),
    detail: text,
    model: text,
    spent: flag,
    purpose: modelPurpose.optional(),
    behind: count.optional(),
    startedAt: z.number().optional(),
    offered: z.literal(false).optional(),
    digest: text.optional(),
  }),
  action_required: required('action'),
  question_required: required('question'),
  approval_required: required('approval'),
  message_required: required('message'),
  policy_required: required('policy'),
  resolved: object({
    id: text,
    kind: z.enum(interruptionKinds).optional(),
    state: z.enum(interruptionStates),
    by: maybe,
    answer: json,
    left: z.literal(true).optional(),
    evidence: provenEvidence.optional(),
  }),
  task: object({ taskId: text, status: z.enum(taskStatuses) }),
  notice: object({
    code: z.enum(noticeCodes),
    detail: text,
    ...noticeFacts,
  }),
  summary: object({ document: text, reader: text, upToSeq: count, text }),
  checkpoint: object({
    note: json,
    resumed: z.literal(true).optional(),
    read: text.optional(),
    answered: object({ text, output: json, taken: count, usage: usageCountersSchema.nullable() }).optional(),
    spent: usageCountersSchema.nullable().optional(),
    met: z.literal(true).optional(),
  }),
  transfer: object({ from: text, to: text, returned: flag }),
  participant: object({ user: text, name: maybe, roles: texts, change: z.enum(['joined', 'left']), by: text }),
  artifact: object({
    id: text.regex(artifactIdPattern),
    name: text,
    mediaType: text.regex(mediaTypePattern),
    bytes: count,
    digest: text.regex(digestPattern),
    inputs: texts,
  }),
  retrieval: object({ query: text, passages: z.array(sourceSchema.extend({ text })), embedded }),
  memory: object({
    op: z.enum(['read', 'write', 'erase']),
    agent: text,
    scope: z.enum(memoryScopes).nullable(),
    subject: text.nullable(),
    blocks: z.array(rememberedBlock),
    recalled: z.array(rememberedBlock).optional(),
    isSame: z.literal(true).optional(),
  }),
  plan,
  critique: object({ verdict: z.enum(verdicts), problems: texts, by: text, seq: count }),
  hook: object({
    ...{ hook: text, at: z.enum(hookPoints), effect: z.enum(hookEffects), reason: maybe },
    ...{ allows: z.literal(true).optional(), toolCallId: text.optional(), interruption: text.optional() },
    waiting: count.optional(),
    written: json.optional(),
  }),
  tools: object({ mcp: listedServers }),
  cancel: object({ by: text, tasks: flag }),
} as const satisfies Record<keyof typeof readers, z.ZodType>

const table: Readonly<Record<string, z.ZodType>> = rows

/** What of an entry does not fit its type; null if all does. `path` is within the body; empty for an unknown type. */
export function entryProblem(entry: {
  readonly type: string
  readonly kind: string | null
  readonly body: unknown
}): { readonly path: string; readonly message: string } | null {
  const name = entry.kind === null ? entry.type : `${entry.type} ${entry.kind}`
  const schema = Object.hasOwn(table, name) ? table[name] : undefined
  if (schema === undefined) return { path: '', message: 'this version does not know entries of its type' }
  const [issue] = schema.safeParse(entry.body).error?.issues ?? []
  return issue === undefined ? null : { path: issue.path.map(String).join('.'), message: issue.message }
}
