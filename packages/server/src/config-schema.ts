/** What a configuration may hold. Keys of features that are not built yet are refused by name. */
import type { AiSdkLanguageModel, FunctionTool, Hooks, Model } from '@witan/core'
import type { KnowledgeSource } from '@witan/core/knowledge'
import type { McpServerInput } from '@witan/core/tooling'
import type { KnowledgeBaseInput } from '@witan/protocol/knowledge'
import type { ProtocolInput } from '@witan/protocol/protocols'
import { databaseNamePattern } from '@witan/protocol/keys'
import { maxOutputTokensSchema, providerOptionsSchema } from '@witan/protocol/schemas'
import { z } from 'zod'
import { authSchema } from './auth-config.ts'
import { domainsOfConfig, federationSchema, ownNames } from './federation-config.ts'
import { telemetrySchema } from './telemetry-config.ts'
import { validate } from './validate.ts'

const name = z.string().regex(/^[a-z0-9-]{1,64}$/)
const unlimited = z.literal(Number.POSITIVE_INFINITY)
const port = z.number().int().min(0).max(65_535)
/** As a browser writes it: a listed origin is compared letter by letter. */
const pageOrigin = z
  .string()
  .max(260)
  .refine(
    (value) => /^https?:[^*]+$/.test(value) && URL.canParse(value) && new URL(value).origin === value,
    'must be an origin such as `https://app.example.com`: scheme, host and port as a browser writes them, no path and no `*`',
  )
const has = (value: unknown, ...keys: readonly string[]): boolean =>
  typeof value === 'object' && value !== null && keys.every((key) => key in value)
/** Looked at with the environment, since texts in it name variables. */
const mcpServers = z.custom<Readonly<Record<string, McpServerInput>>>(
  (value) => has(value) && !Array.isArray(value),
  'must be an object with the MCP servers by name',
)
const agent = z.custom<object>(
  (value) => has(value) && !Array.isArray(value),
  'must be an agent: an object, or what `defineAgent` gives',
)
const protocol = z.custom<ProtocolInput>(
  (value) => has(value) && !Array.isArray(value),
  'must be a protocol: an object, or what `defineProtocol` gives',
)
const knowledgeBase = z.custom<KnowledgeBaseInput | KnowledgeSource>(
  (value) => has(value) && !Array.isArray(value),
  'must be a knowledge base: an object, or what `defineKnowledge` gives',
)
const tool = z.custom<FunctionTool>(
  (value) => has(value, 'name', 'execute'),
  'must be a tool, as `defineTool` gives it',
)
const hook = z.custom<Hooks>(
  (value) => has(value, 'name', 'timeoutMs', 'onError'),
  'must be hooks, as `defineHooks` gives them',
)
const model = z.custom<Model | AiSdkLanguageModel>(
  (value) => has(value, 'stream') || has(value, 'specificationVersion', 'doGenerate'),
  'must be a model: one of Witan, or of an AI SDK provider such as `openai("…")`',
)

const amount = z.number().min(0).max(1_000_000)
const flatPriceSchema = z.strictObject({
  inputPerMillion: amount,
  outputPerMillion: amount,
  cachedInputPerMillion: amount.exactOptional(),
  cacheWritePerMillion: amount.exactOptional(),
})
const priceSchema = flatPriceSchema.extend({
  /** Of requests with more input tokens; null where it is not known. */
  longInput: z.strictObject({ moreThan: z.number().int().min(1), price: flatPriceSchema.nullable() }).exactOptional(),
})
const pricesSchema = z.record(z.string().min(1).max(200), priceSchema)

const takenPattern = /^(\*|[a-z0-9][\w!#$&^.+-]*)\/(\*|[a-z0-9][\w!#$&^.+-]*)$/
const takenError = { error: 'must be a media type such as `image/png` or `image/*`' }

/** A named server that speaks the OpenAI-compatible protocol: its models are `<name>/<model>`. */
const connectionSchema = z.strictObject({
  kind: z.literal('openai-compatible'),
  baseUrl: z.url({ protocol: /^https?$/ }),
  apiKeyEnv: z.string().min(1).max(200).optional(),
  /** In US dollars for a million tokens, by the model's name on this connection. */
  prices: pricesSchema.optional(),
  /** These two apply to all calls of the connection; an agent's own options override them. */
  maxOutputTokens: maxOutputTokensSchema.optional(),
  providerOptions: providerOptionsSchema.optional(),
  /** The least time between two of its requests, and how many may run at once, in one process. */
  minIntervalMs: z.number().int().min(0).max(3_600_000).optional(),
  maxConcurrent: z.number().int().min(1).max(1_000_000).nullable().optional(),
  /** The media types of files that its models take, such as `image/*`; `[]` for none. */
  takes: z.array(z.string().max(127).regex(takenPattern, takenError)).max(100).optional(),
})
export type ConnectionConfig = z.output<typeof connectionSchema>

/** A named database that queries read. */
const sourceSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('sqlite'), file: z.string().min(1) }),
  /** `urlEnv` names the environment variable that holds `postgres://…`; the file never contains the URL. */
  z.strictObject({ kind: z.literal('postgres'), urlEnv: z.string().min(1).max(200) }),
])
export type SourceConfig = z.output<typeof sourceSchema>

/** The file as it is written: every key is optional. */
export const configSchema = z.strictObject({
  server: z
    .strictObject({
      host: z.string().min(1).max(253).default('127.0.0.1'),
      port: port.default(4747),
      allowedHosts: z.array(z.string().min(1).max(260)).max(100).default([]),
      /** Pages of these origins may call the API; none unless listed. */
      allowedOrigins: z.array(pageOrigin).max(100).default([]),
      ...ownNames,
    })
    .prefault({}),
  store: z
    .strictObject({
      url: z.string().min(1).default('file:./.witan/witan.db'),
      /** Of a file: `full`, the default, survives a power cut; `normal` only the end of the process. */
      synchronous: z.enum(['full', 'normal']).optional(),
      /** Of PostgreSQL: the schema that holds everything, `witan` by default, and how many connections at most. */
      schema: z
        .string()
        .regex(/^[a-z_][a-z0-9_]{0,39}$/)
        .optional(),
      poolSize: z.number().int().min(2).max(1000).optional(),
      /** Of PostgreSQL behind a pooler of transactions: an address that leads to the server itself. */
      listenUrl: z
        .string()
        .regex(/^postgres(ql)?:\/\//)
        .optional(),
      /** More servers of PostgreSQL, by a name; `urlEnv` names the environment variable that holds `postgres://…`. */
      clusters: z.record(name, z.strictObject({ urlEnv: z.string().min(1).max(200) })).optional(),
      /** The cluster of each database that is not at `url`. */
      homes: z.record(z.string().regex(databaseNamePattern), name).optional(),
      /** Of memory: how many idle conversations are kept, 1000 by default, and for how long in ms, by default a day. */
      maxResting: z.union([z.number().int().min(1), unlimited]).optional(),
      maxRestingMs: z.union([z.number().int().min(1), unlimited]).optional(),
    })
    .prefault({}),
  auth: authSchema,
  connections: z.record(name, connectionSchema).default({}),
  sources: z.record(name, sourceSchema).default({}),
  /** MCP servers whose tools agents may use, by name. */
  mcpServers: mcpServers.default({}),
  limits: z
    .strictObject({
      maxDepth: z.union([z.number().int().min(1).max(1000), unlimited]).optional(),
      maxModelCalls: z.number().int().min(1).max(100_000).optional(),
      /** How many tool calls of one reply run; the others are refused. Default 128. */
      maxToolCallsPerReply: z.number().int().min(1).max(1000).optional(),
    })
    .prefault({}),
  agents: z.array(agent).max(1000).default([]),
  protocols: z.array(protocol).max(1000).default([]),
  knowledge: z.array(knowledgeBase).max(1000).default([]),
  /** Readers of files for knowledge bases, beside those of this version: each a module that exports `read`. */
  readers: z
    .array(
      z.strictObject({ mediaTypes: z.array(z.string().min(1).max(200)).min(1).max(100), module: z.instanceof(URL) }),
    )
    .max(100)
    .default([]),
  models: z.record(z.string().min(1).max(200), model).default({}),
  /** In place of the price table of this version, by vendor; false: no table. */
  prices: z
    .union([z.literal(false), z.record(name, z.strictObject({ date: z.iso.date(), models: pricesSchema }))])
    .optional(),
  tools: z.array(tool).max(1000).default([]),
  /** Functions that are asked before and behind what agents do, in this order. */
  hooks: z.array(hook).max(100).default([]),
  telemetry: telemetrySchema,
  federation: federationSchema,
})

/** Checks a configuration and fills in defaults. Throws `UNKNOWN_KEY` or `CONFIG_INVALID` with the path of the key. */
export function parseConfig(value: unknown): z.output<typeof configSchema> {
  const config = validate(configSchema, value, { what: 'configuration', code: 'CONFIG_INVALID' })
  domainsOfConfig(config.server)
  return config
}
