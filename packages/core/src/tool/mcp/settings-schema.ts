/** The form of an MCP server in a configuration, and what blocks of other clients have in its place. */
import { z } from 'zod'

/** The most that a server's configuration may hold. */
const mostItems = 200
const longestValue = 32_768

const words = (what: string) => ({ error: `must be ${what}` })
const text = z.string(words('text'))
const line = text.min(1, words('text that is not empty')).max(4096, words('at most 4096 characters long'))
const value = text.max(longestValue, words(`at most ${longestValue} characters long`))
const flag = z.boolean(words('true or false'))
const list = <Item extends z.ZodType>(item: Item, what: string) =>
  z.array(item, words(`a list of ${what}`)).max(mostItems, words(`a list of at most ${mostItems}`))

function whole(least: number, most: number) {
  return z
    .int(words('a whole number'))
    .min(least, words(`at least ${least}`))
    .max(most, words(`at most ${most}`))
}

const pattern = text.min(1, words('text that is not empty')).max(128, words('at most 128 characters long'))
const variableName = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/
const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/

function record<Value extends z.ZodType>(names: RegExp, what: string, values: Value) {
  return z.record(z.string().regex(names), values, {
    error: (issue) => (issue.code === 'invalid_key' ? `must have ${what} as names` : `must be an object of ${what}`),
  })
}

const authSchema = z.strictObject(
  {
    kind: z.literal('clientCredentials', words('`clientCredentials`')),
    tokenUrl: line,
    clientId: line,
    /** The variable of the environment that holds the secret. */
    clientSecretEnv: text.regex(variableName, words('the name of a variable of the environment')),
    scope: line.nullable().default(null),
  },
  words('an object, or null'),
)

/** The kinds of transport, as this and other clients call them. */
const types = ['stdio', 'http', 'streamable-http', 'streamableHttp'] as const

/** A server as a configuration has it. */
export const serverSchema = z.strictObject(
  {
    type: z.enum(types, words('`stdio` or `http`')).optional(),
    command: line.optional(),
    args: list(value, 'texts').optional(),
    cwd: line.nullable().optional(),
    env: record(variableName, 'variables of the environment', value).optional(),
    url: line.optional(),
    headers: record(headerName, 'headers', value).optional(),
    auth: authSchema.nullable().optional(),
    trusted: flag.default(false),
    readOnly: list(pattern, 'names of tools or patterns').default([]),
    effects: z
      .record(
        pattern,
        z.enum(['none', 'keyed', 'once'], words('`none`, `keyed` or `once`')),
        words('an object of tools'),
      )
      .default({}),
    onChange: z.enum(['block', 'warn'], words('`block` or `warn`')).default('block'),
    roots: list(line, 'folders').default([]),
    ask: flag.default(true),
    scope: z.enum(['process', 'conversation'], words('`process` or `conversation`')).default('process'),
    timeoutMs: whole(1, 86_000_000).default(60_000),
    maxTotalMs: whole(1, 86_000_000).default(600_000),
    connectTimeoutMs: whole(1, 600_000).default(10_000),
    maxResultCharacters: whole(100, 250_000).default(32_000),
    maxTools: whole(1, 500).default(64),
    required: flag.default(false),
  },
  words('an object with `command` or `url`'),
)

/** A server as a configuration has it. `type` may be left out. */
export type McpServerInput = z.input<typeof serverSchema>
export type ServerOutput = z.output<typeof serverSchema>

/** The keys of a server. */
export const serverKeys: readonly string[] = Object.keys(serverSchema.shape)
/** The keys of `auth`. */
export const authKeys: readonly string[] = Object.keys(authSchema.shape)

const inAgents = 'Name the tools in `mcp[].tools` of each agent that uses the server.'
const approvals = 'Say in `readOnly` which tools only read, and in `mcp[].approval` of an agent when a person is asked.'

const variable = `\`\${NAME}\``
const bearer = 'Write `headers: { "Authorization": "Bearer …" }`, with a variable of the environment for the token.'

/** What to write here in place of a key of other clients. */
const elsewhere: Readonly<Record<string, string>> = {
  allowedTools: inAgents,
  alwaysAllow: approvals,
  autoApprove: approvals,
  bearerTokenEnvVar: bearer,
  bearer_token_env_var: bearer,
  disabledTools: inAgents,
  enabled: 'Leave it out; a server that is not wanted is removed, or named by no agent.',
  envFile: `Load the file into the environment of the process, and write ${variable} in \`env\`.`,
  excludeTools: inAgents,
  httpUrl: 'Call it `url`.',
  http_headers: 'Call it `headers`.',
  includeTools: inAgents,
  inputs: `Put each value into the environment, and write ${variable}.`,
  oauth: 'Use `auth` for tokens that the server gets for itself. Sign-in by a person is not built.',
  requestInit: 'Write `headers` beside `url`.',
  serverUrl: 'Call it `url`.',
  startup_timeout_sec: 'Write `connectTimeoutMs`, in ms.',
  timeout: 'Write `timeoutMs`, in ms.',
  tool_timeout_sec: 'Write `timeoutMs`, in ms.',
  tools: inAgents,
  transport: 'Call it `type`: `stdio` or `http`.',
  transportType: 'Call it `type`: `stdio` or `http`.',
  trust: 'Call it `trusted`.',
}

/** What to do about a key of other clients; null for one that nobody has. */
export function hintFor(key: string): string | null {
  return Object.hasOwn(elsewhere, key) ? (elsewhere[key] as string) : null
}

/** Whether a key of another client says nothing, so that a block with it can be pasted. */
export function saysNothing(key: string, given: unknown): boolean {
  if (key === 'disabled') return given === false
  if (key === 'enabled') return given === true
  if (key === 'autoApprove' || key === 'alwaysAllow' || key === 'disabledTools')
    return Array.isArray(given) && given.length === 0
  return key === 'description' && typeof given === 'string'
}
