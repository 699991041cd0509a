/** The tools of MCP servers in the log: what a call of an agent was offered. It loads no schema. */
import type { McpUse } from './mcp-schema.ts'

export type { McpUse } from './mcp-schema.ts'

/** A tool of an MCP server as an agent's call has it, whatever its server says later. */
export interface ListedTool {
  /** Its name at its server. */
  readonly name: string
  /** Its name for models: `<server>_<tool>`. */
  readonly offeredAs: string
  /** What models read of it, without what they must not read. */
  readonly description: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  readonly outputSchema?: Readonly<Record<string, unknown>>
  readonly effect: 'none' | 'keyed' | 'once'
  readonly readOnly: boolean
}

/** The tools of one server that a call of an agent has. */
export interface ListedServer {
  readonly server: string
  readonly trusted: boolean
  /** Of `trusted` and the tools. */
  readonly digest: string
  /** The names that models read, in order of the tools. */
  readonly names: readonly string[]
  /** In order of name. Absent: those that came with this digest earlier in the conversation. */
  readonly tools?: readonly ListedTool[]
}

/** The tools of one server that a call has, with their definitions. */
export interface OfferedServer extends ListedServer {
  readonly tools: readonly ListedTool[]
}

/** What the servers of an agent offer its call, in the order of its definition. One that is away is not among them. */
export interface ToolsBody {
  readonly mcp: readonly ListedServer[]
}

/** The servers that an agent uses. A definition of an earlier version has none. */
export function mcpUses({ mcp = [] }: { readonly mcp?: readonly McpUse[] }): readonly McpUse[] {
  return mcp
}
