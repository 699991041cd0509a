/** Tools as people read them: what a model is offered, what it is not, and why. */
import type { Entry, NoticeBody } from '@witan/protocol/entries'
import type { AgentTool, Preview, ServerTool } from '@witan/protocol/tools'
import type { ModelTool } from '../model/model.ts'
import type { CallTools } from '../job/job.ts'
import type { FunctionTool } from '../tool/define-tool.ts'
import type { Tool } from '../tool/tool.ts'

/** The tools that a model is offered, in the order of its request. */
export function offeredTools({ toolset, offers }: CallTools): AgentTool[] {
  return offers.flatMap((offer) => {
    const tool = toolset.get(offer.name)
    return tool === undefined ? [] : (lineOf(tool, offer) ?? [])
  })
}

/** All tools of a call: those that its model is offered first. */
export function allTools(tools: CallTools): AgentTool[] {
  const offered = new Set(tools.offers.map(({ name }) => name))
  const others = [...tools.toolset.values()].filter(({ name }) => !offered.has(name))
  return [...offeredTools(tools), ...others.flatMap((tool) => lineOf(tool, null) ?? [])]
}

/** A function tool of a runtime, for any agent that has it. */
export function serverTool(tool: FunctionTool, agents: readonly string[]): ServerTool {
  const { name, description, jsonSchema: parameters, effect, timeoutMs } = tool
  const line = { name, kind: 'function', description, parameters, effect, approval: 'never', of: null } as const
  return { ...line, offered: true, why: null, timeoutMs, agents: [...agents] }
}

/** Null for the body of a call, which is no tool of any model. */
function lineOf(tool: Tool, offer: ModelTool | null): AgentTool | null {
  const { name, kind, of = null, effect, gate, immediate, withheld } = tool
  if (kind === null) return null
  const { description = '', parameters = {} } = offer ?? withheld?.offer ?? tool.offer ?? {}
  return {
    name,
    kind,
    description,
    parameters,
    effect: immediate && effect === 'none' ? null : effect,
    approval: gate === undefined ? 'never' : gate.isConditional ? 'maybe' : 'always',
    of,
    offered: offer !== null,
    why: offer === null ? reasonOf(tool) : null,
  }
}

function reasonOf({ withheld, notice, offer }: Tool): string {
  if (withheld !== undefined) return withheld.why
  if (notice !== null) return notice.replace(/^Not offered: /, '')
  return offer === null ? 'There is nobody or nothing to use it with.' : 'It is offered only beside other tools.'
}

/** The notices among entries. */
export function noticesIn(entries: readonly Entry[]): Preview['notices'] {
  return entries.flatMap((entry) => {
    if (entry.type !== 'notice') return []
    const { code, detail, tool = null } = entry.body as NoticeBody & { readonly tool?: string }
    return [{ code, detail, tool }]
  })
}
