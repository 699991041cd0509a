/** What an agent's model is offered, as people read it before anything runs: its tools, its first request, and a tool tried alone. */
import { z } from 'zod'
import { agentSchema, toolModes } from './agent.ts'
import { matrixRowSchema } from './check-report.ts'
import { participantRequestSchema } from './conversation.ts'
import { findingSchema } from './finding.ts'

/** The kinds of tools. */
export const toolKinds = [
  'function',
  'query',
  'action',
  'subAgent',
  'agentTool',
  'peer',
  'transfer',
  'question',
  'message',
  'background',
  'artifact',
  'loop',
  'toolMode',
  'knowledge',
  'memory',
  'plan',
  'mcp',
  'remote',
] as const
export type ToolKind = (typeof toolKinds)[number]

/** How often a person is asked before a call: before each one, before some, or before none. */
export const approvalNeeds = ['always', 'maybe', 'never'] as const
export type ApprovalNeed = (typeof approvalNeeds)[number]

/** A tool of an agent. A reader takes a kind that it does not know for a tool of another version. */
export const agentToolSchema = z.object({
  name: z.string(),
  kind: z.string() as unknown as z.ZodType<ToolKind>,
  /** As the model reads it; empty for a tool that is not offered and has none. */
  description: z.string(),
  /** The JSON Schema of its arguments, without those that are bound. */
  parameters: z.record(z.string(), z.unknown()),
  /** What may happen to a call in a crash; null for a tool that has no effect of its own. */
  effect: z.enum(['none', 'keyed', 'once']).nullable(),
  approval: z.enum(approvalNeeds),
  /** The agent, protocol, server or source behind it; null for none. */
  of: z.string().nullable(),
  offered: z.boolean(),
  /** Why it is not offered; null for a tool that is. */
  why: z.string().nullable(),
})
export type AgentTool = z.infer<typeof agentToolSchema>

/** A function tool of a server, and the agents of the database that have it. */
export const serverToolSchema = agentToolSchema.extend({ timeoutMs: z.number(), agents: z.array(z.string()) })
export type ServerTool = z.infer<typeof serverToolSchema>

const values = z.record(z.string(), z.unknown())

/** What a preview is asked for. Drafts are held against the schema of agents when they are read, as in a save. */
export const previewRequestSchema = z.strictObject({
  draft: z.unknown().nullable().default(null),
  drafts: z.array(z.unknown()).max(1000).default([]),
  parameters: values.default({}),
  users: z
    .array(z.union([z.string(), participantRequestSchema]))
    .max(100)
    .default([]),
  below: z.string().min(1).max(10_000).nullable().default(null),
  toolMode: z.enum(toolModes).nullable().default(null),
})
export type PreviewInput = z.input<typeof previewRequestSchema>

/** Documents the body of a preview. */
export const previewBodySchema = previewRequestSchema.extend({
  draft: agentSchema.nullable().default(null).meta({ description: 'This definition in place of the stored one.' }),
  drafts: z
    .array(agentSchema)
    .max(1000)
    .default([])
    .meta({ description: 'Other definitions in place of the stored ones.' }),
  below: z.string().min(1).max(10_000).nullable().default(null).meta({
    description: 'The path of agents from the root of the conversation, such as `boss/mid`, whose bindings count.',
  }),
})

/** Something that a preview notices, as a run would. */
const previewNoticeSchema = z.object({ code: z.string(), detail: z.string(), tool: z.string().nullable() })

/** What the first model call of an agent would get. A workflow has `steps` and no request. */
export const previewSchema = z.object({
  /** The stored revision; null for a draft. */
  revision: z.number().int().nullable(),
  /** Null for a workflow, and for a draft that is no agent. */
  system: z.string().nullable(),
  tools: z.array(agentToolSchema),
  toolChoice: z.enum(['auto', 'required', 'none']).nullable(),
  parameters: z.array(
    z.object({
      name: z.string(),
      shown: z.boolean(),
      boundFrom: matrixRowSchema.shape.boundFrom,
      mayGenerate: z.boolean(),
    }),
  ),
  notices: z.array(previewNoticeSchema),
  errors: z.array(findingSchema),
  warnings: z.array(findingSchema),
  /** An estimate of the tokens of the system message and the tools: their characters, divided by four. */
  tokens: z.number().int().nullable(),
  steps: z
    .array(z.object({ step: z.number().int(), agent: z.string(), round: z.number().int().nullable() }))
    .optional()
    .meta({ description: 'Of an agent with a workflow: its steps in order; of a loop those of its first round.' }),
})
export type Preview = z.infer<typeof previewSchema>

/** How a tool is tried: `parameters` are those of a new conversation. */
export const trialRequestSchema = z.strictObject({
  arguments: values.default({}),
  parameters: values.default({}),
  confirm: z.boolean().default(false),
  approve: z.boolean().default(false),
})
export type TrialInput = z.input<typeof trialRequestSchema>

/** What came of a tool that was tried, as its agent's model would read it. */
export const trialSchema = z.object({
  status: z.enum(['completed', 'failed', 'waiting']),
  result: z.unknown(),
  error: z.object({ code: z.string(), detail: z.string() }).nullable(),
  /** The names whose bound values the tool got. */
  bound: z.array(z.string()),
  notices: z.array(previewNoticeSchema),
  elapsedMs: z.number(),
})
export type Trial = z.infer<typeof trialSchema>

/** One revision of an agent or a protocol in a list. `changed` has the keys that differ from the revision before. */
export const revisionLineSchema = z.object({
  revision: z.number().int(),
  source: z.enum(['code', 'data']),
  by: z.string().nullable(),
  at: z.iso.datetime().nullable(),
  changed: z.array(z.string()),
})
export type RevisionLine = z.infer<typeof revisionLineSchema>
