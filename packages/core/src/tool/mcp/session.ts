/** Whose connection to an MCP server a call of an agent uses. */
import type { McpUse } from '@witan/protocol/mcp'
import type { Bound } from '../../parameter/parameter.ts'
import type { McpSession, McpSettings } from './mcp.ts'

/** What a session depends on. */
interface SessionOf {
  readonly settings: Pick<McpSettings, 'name' | 'scope'>
  readonly use: Pick<McpUse, 'bindHeaders'>
  readonly parameters: Bound
  /** The channel of the conversation. */
  readonly channel: string
}

/** The session of a call; or the name of the parameter that a header needs and that has no value for one. */
export function sessionOf({ settings, use, parameters, channel }: SessionOf): McpSession | { readonly lacks: string } {
  const headers: Record<string, string> = {}
  for (const [header, parameter] of Object.entries(use.bindHeaders)) {
    const value = parameters.get(parameter)?.box.reveal()
    const text =
      typeof value === 'string' ? value : typeof value === 'object' || value === undefined ? null : `${value}`
    // A header is one line of printable ASCII: anything else could end it, or would be refused on the way.
    if (text === null || !/^[\x20-\x7e]{1,4096}$/.test(text)) return { lacks: parameter }
    headers[header] = text
  }
  return { server: settings.name, headers, conversation: settings.scope === 'conversation' ? channel : null }
}
