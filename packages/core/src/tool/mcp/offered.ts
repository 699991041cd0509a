/** What MCP servers offer one call of an agent, and how that is found out. */
import type { AgentData, ErrorCode } from '@witan/protocol'
import type { NoticeBody } from '@witan/protocol/entries'
import type { OfferedServer } from '@witan/protocol/mcp'
import type { Bound } from '../../parameter/parameter.ts'
import type { McpSettings } from './mcp.ts'
import type { McpLock } from './pins.ts'

/** Whose tools are asked for. */
export interface ListingOf {
  readonly agent: AgentData
  readonly parameters: Bound
  /** The channel of the conversation. */
  readonly channel: string
}

/** What the servers of an agent offer it. */
export interface Listing {
  readonly servers: readonly OfferedServer[]
  /** What a person is told of what is not among them. */
  readonly notices: readonly NoticeBody[]
  /** Set if the agent cannot work without a server that is away. */
  readonly failure: { readonly code: ErrorCode; readonly detail: string; readonly hint: string } | null
}

/** Finds out what MCP servers offer agents. */
export interface Listings {
  /** What is known without asking; null if a server must be asked, undefined for an agent that uses none. */
  known(of: ListingOf): Listing | null | undefined
  /** The same for people who look before anything runs: of a server that must be asked they are told so. */
  shown(of: ListingOf): Listing
  /** Asks those servers that must be asked. Rejects only when it is aborted. */
  list(of: ListingOf, signal: AbortSignal): Promise<Listing>
}

/** The codes of what a person is told of a listing. */
export const listingCodes = [
  'MCP_PARAM_NOT_BOUND',
  'MCP_SERVER_UNAVAILABLE',
  'MCP_TOOLS_LEFT_OUT',
  'MCP_TOOL_CHANGED',
  'MCP_TOOL_COLLISION',
  'MCP_TOOL_REFUSED',
] as const satisfies readonly NoticeBody['code'][]

/** What is known of the servers of a configuration without asking them. */
export interface McpSurvey {
  readonly settings: ReadonlyMap<string, McpSettings>
  readonly lock: McpLock | null
}
