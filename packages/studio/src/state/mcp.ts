/** MCP servers in words: which agents use one, how it stands, and what its pins say. */
import type { StoredAgent } from '@witan/protocol'
import { mcpUses, type McpUse } from '@witan/protocol/mcp'
import type { McpServerTool, McpServerView } from '@witan/protocol/tools'
import type { CallState } from '@witan/client'
import { count } from './format.ts'

/** An agent that uses a server, and which of its tools. */
export interface McpUser {
  readonly agent: StoredAgent
  readonly use: McpUse
}

/** The agents that use a server. */
export function usersOf(agents: readonly StoredAgent[], server: string): readonly McpUser[] {
  return agents.flatMap((agent) => {
    const use = mcpUses(agent).find((one) => one.server === server)
    return use === undefined ? [] : [{ agent, use }]
  })
}

/** Whether the name that models read is not just the server's and the tool's. */
export function isRenamed(server: string, { name, offeredAs }: Pick<McpServerTool, 'name' | 'offeredAs'>): boolean {
  return offeredAs !== `${server}_${name}`
}

/** What a state is called, and its sign. */
export const mcpStates: Readonly<Record<McpServerView['state'], { readonly sign: CallState; readonly words: string }>> =
  {
    idle: { sign: 'cancelled', words: 'not connected' },
    ready: { sign: 'completed', words: 'connected' },
    failed: { sign: 'failed', words: 'not reached' },
  }

/** How a tool compares with its pin: the word on it, and a sentence. */
export const mcpPins: Readonly<Record<McpServerTool['pin'], { readonly words: string; readonly says: string }>> = {
  same: { words: 'pinned', says: 'It is as it was when it was pinned.' },
  changed: { words: 'changed', says: 'It is not what was pinned. By default it is not offered to agents.' },
  new: { words: 'new', says: 'It was not there when its server was pinned. By default it is not offered to agents.' },
  none: {
    words: 'not pinned',
    says: 'Its server is not pinned: whatever it says of this tool, agents are offered it.',
  },
}

/** What is to be done about the pins of a server, and the command for it; null if its tools are what was pinned, or it has none. */
export function pinAdvice({ name, tools }: Pick<McpServerView, 'name' | 'tools'>): {
  readonly words: string
  readonly command: string
} | null {
  const of = (pin: McpServerTool['pin']) => tools.filter((tool) => tool.pin === pin).length
  const differ = [
    ...(of('changed') > 0 ? [`${count(of('changed'), 'tool')} changed`] : []),
    ...(of('new') > 0 ? [`${count(of('new'), 'tool')} ${of('new') === 1 ? 'is' : 'are'} new`] : []),
  ].join(' and ')
  if (differ !== '')
    return {
      words: `Since it was pinned, ${differ}. By default agents are not offered what differs. To see it:`,
      command: `npx witan mcp diff ${name}`,
    }
  if (of('none') === 0) return null
  return {
    words: 'Its tools are not pinned: if it changes them, agents get the changed ones. To keep these:',
    command: `npx witan mcp pin ${name}`,
  }
}
