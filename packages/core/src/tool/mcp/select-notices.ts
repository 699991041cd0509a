/** What people read of the tools of a server that an agent is not offered. */
import type { NoticeBody } from '@witan/protocol/entries'
import type { McpToolDefinition } from './mcp.ts'
import { shownTool } from './names.ts'
import type { Pin } from './pins.ts'

/** The notices of one selection. Those about a tool return null: no tool. */
export interface Notices {
  readonly server: string
  refused(tool: string, why: string): null
  changed(tool: string, of: { readonly pin: Pin; readonly isOffered: boolean }): null
  notBound(tool: string, of: { readonly argument: string; readonly parameter: string }): null
  collision(offeredAs: string, tools: readonly McpToolDefinition[]): null
  leftOut(count: number, most: number): null
  /** In the order in which they came; each kind of many ends with one that counts the rest. */
  all(): readonly NoticeBody[]
}

/** So many notices of one code are written for one server: each is an entry of the log. */
const mostOfOne = 20

type ToolCode = 'MCP_TOOL_REFUSED' | 'MCP_TOOL_CHANGED' | 'MCP_TOOL_COLLISION' | 'MCP_PARAM_NOT_BOUND'

/** Begins the notices of a server. */
export function createNotices(server: string): Notices {
  const notices: NoticeBody[] = []
  const counts = new Map<ToolCode, { count: number; last: NoticeBody }>()
  /** Adds one, or counts it where there are many; it then replaces the one that counts the rest. */
  const add = (notice: NoticeBody & { readonly code: ToolCode }): null => {
    const count = (counts.get(notice.code)?.count ?? 0) + 1
    counts.set(notice.code, { count, last: notice })
    if (count <= mostOfOne) notices.push(notice)
    return null
  }
  return {
    server,
    refused(tool, why) {
      const name = shownTool(tool)
      const detail = `\`${server}\`: its tool \`${name}\` is not offered: ${why}. Whoever runs the server can correct it.`
      return add({ code: 'MCP_TOOL_REFUSED', detail, server, tool: name })
    },
    changed(tool, { pin, isOffered }) {
      const name = shownTool(tool)
      const why = pin === 'new' ? 'it is not pinned' : 'it is not as it was pinned'
      const what = isOffered ? `is offered although ${why}` : `is not offered: ${why}`
      const todo = `Look at \`witan mcp diff ${server}\`; \`witan mcp pin ${server}\` accepts it.`
      const detail = `\`${server}\`: its tool \`${name}\` ${what}. ${todo}`
      return add({ code: 'MCP_TOOL_CHANGED', detail, server, tool: name })
    },
    notBound(tool, { argument: given, parameter }) {
      const [name, argument] = [shownTool(tool), shownTool(given)]
      const why = `it requires \`${argument}\`, which is named like the parameter \`${parameter}\` and is not in \`bind\``
      const todo = 'Bind it if the server may get the value.'
      const detail = `\`${server}\`: its tool \`${name}\` is not offered: ${why}. ${todo}`
      return add({ code: 'MCP_PARAM_NOT_BOUND', detail, server, tool: name, argument })
    },
    collision(offeredAs, tools) {
      const names = [...new Set(tools.slice(0, 3).map(({ name }) => shownTool(name)))]
      const listed = names.map((name) => `\`${name}\``).join(', ')
      const what = `${tools.length} of its tools would be called \`${offeredAs}\`, so none of them is offered: ${listed}`
      const detail = `\`${server}\`: ${what}. Name the one you want in \`tools\`, or have the others renamed.`
      return add({ code: 'MCP_TOOL_COLLISION', detail, server, tool: names[0] ?? '' })
    },
    leftOut(count, most) {
      const what = `${count} of its tools ${count === 1 ? 'is' : 'are'} left out: at most ${most} are offered`
      const detail = `\`${server}\`: ${what}. Name the tools you want in \`tools\`, or raise \`maxTools\`.`
      notices.push({ code: 'MCP_TOOLS_LEFT_OUT', detail, server, count })
      return null
    },
    all() {
      const rest = [...counts.values()].filter(({ count }) => count > mostOfOne)
      return [...notices, ...rest.map(({ count, last }) => counted(server, count - mostOfOne, last))]
    },
  }
}

/** The last one of many, with words for all that were not written. */
function counted(server: string, count: number, last: NoticeBody): NoticeBody {
  if (count === 1) return last
  const what = `${count} more of its tools have the same trouble`
  return { ...last, detail: `\`${server}\`: ${what}, \`${'tool' in last ? String(last.tool) : ''}\` the last of them.` }
}
