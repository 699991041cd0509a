/** The MCP servers whose tools an agent has, as data. */
import { z } from 'zod'

/** The name of a server in a configuration. */
const mcpServerName = z.string().regex(/^[a-z0-9-]{1,32}$/, {
  error: 'expected the name of a server: a-z, 0-9 and `-`, at most 32 characters',
})

/** The name of a tool at its server, where `*` stands for any characters. */
const mcpToolPattern = z.string().min(1).max(128)

const parameterName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, { error: 'expected the name of a parameter' })
const argumentName = z.string().min(1).max(128)
const headerName = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/, { error: 'expected the name of a header' })

/** Headers that the protocol or the connection writes itself. */
const ownHeaders: ReadonlySet<string> = new Set([
  'accept',
  'connection',
  'content-length',
  'content-type',
  'host',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'transfer-encoding',
])

/** What is asked before a call: nothing, a person before calls that may change something, or a person before each. */
const mcpApprovals = ['none', 'writes', 'all'] as const

/** Some tools of one server of the configuration. */
export const mcpUseSchema = z.strictObject({
  server: mcpServerName,
  /** Names or patterns; null: all, up to `maxTools` of the server. */
  tools: z.array(mcpToolPattern).min(1).max(200).nullable().default(null),
  /** Null: `none` for a server that is trusted, else `writes`. */
  approval: z.enum(mcpApprovals).nullable().default(null),
  /** Arguments of its tools, each with the parameter of the agent that it gets at the call. No model writes or reads them. */
  bind: z.record(argumentName, parameterName).default({}),
  /** Headers of each request, each with the parameter that it gets. */
  bindHeaders: z
    .record(
      headerName.refine((name) => !ownHeaders.has(name.toLowerCase()), { error: 'the protocol writes this header' }),
      parameterName,
    )
    .default({}),
  /** Descriptions in place of those of the server, by the tool's name there. */
  descriptions: z.record(z.string().min(1).max(128), z.string().max(4000)).default({}),
})
export type McpUse = z.output<typeof mcpUseSchema>
