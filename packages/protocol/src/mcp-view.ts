/** The MCP servers of a configuration as people read them. */
import { z } from 'zod'

/** How a tool of an MCP server compares with what was pinned; `none` if its server is not pinned. */
const mcpPins = ['same', 'changed', 'new', 'none'] as const

const mcpServerToolSchema = z.object({
  name: z.string(),
  /** The name that models read. */
  offeredAs: z.string(),
  description: z.string(),
  pin: z.enum(mcpPins),
  readOnly: z.boolean(),
  /** An estimate: the characters of what a model reads of it, divided by four. */
  tokens: z.number().int(),
})
export type McpServerTool = z.infer<typeof mcpServerToolSchema>

/** An MCP server of the configuration as this process knows it. `tools` are those that it had last, or that were pinned. */
export const mcpServerSchema = z.object({
  name: z.string(),
  transport: z.enum(['stdio', 'http']),
  state: z.enum(['idle', 'ready', 'failed']),
  protocolVersion: z.string().nullable(),
  serverInfo: z.object({ name: z.string(), version: z.string() }).nullable(),
  /** Why the last try to reach it failed; null if it did not. */
  error: z.string().nullable(),
  tools: z.array(mcpServerToolSchema),
  tokens: z.number().int(),
})
export type McpServerView = z.infer<typeof mcpServerSchema>
