/** The tools of an agent call, assembled from the sources of each kind. */
import { WitanError } from '@witan/protocol'
import type { NoticeBody } from '@witan/protocol/entries'
import type { Agent } from '../agent/define-agent.ts'
import { builtIns } from '../agent/naming.ts'
import { chainLines } from '../identity/chain.ts'
import { agentTools } from '../edge/agent-tool.ts'
import { backgroundTools } from '../edge/background.ts'
import { subAgentTools } from '../edge/sub-agent.ts'
import { type PeerContext, peerTools } from '../edge/peer.ts'
import { remoteTools } from '../edge/remote.ts'
import { transferTools } from '../edge/transfer.ts'
import type { TaskControl } from '../task/control.ts'
import type { FunctionTool } from '../tool/define-tool.ts'
import type { FindAgent } from '../tool/delegation.ts'
import { actionTools } from '../tool/kinds/action.ts'
import { allowed } from '../tool/kinds/allowed-tools.ts'
import { approved, type ApprovalOptions } from '../tool/kinds/approval.ts'
import { artifactTools } from '../tool/kinds/artifact.ts'
import { demandTools } from '../tool/kinds/demands.ts'
import { exitLoopTools } from '../tool/kinds/exit-loop.ts'
import { type FindBase, knowledgeTools } from '../tool/kinds/knowledge.ts'
import type { SearchKnowledge } from '../tool/kinds/knowledge-search.ts'
import { type McpAccess, mcpTools } from '../tool/kinds/mcp.ts'
import { type MemoryAccess, memoryTools } from '../tool/kinds/memory.ts'
import { functionTools } from '../tool/kinds/function.ts'
import { planTools } from '../tool/kinds/plan.ts'
import { createPostgresSource } from '../tool/kinds/postgres-source.ts'
import { questionTools } from '../tool/kinds/question.ts'
import { queryTools } from '../tool/kinds/query.ts'
import { createSqliteSource } from '../tool/kinds/sqlite-source.ts'
import { toolModeTools } from '../tool/kinds/tool-mode.ts'
import { userTools } from '../tool/kinds/user.ts'
import type { RemoteCaller } from '../tool/remote.ts'
import type { QuerySource } from '../tool/source.ts'
import type { Caller, Tool, Toolset, ToolSource } from '../tool/tool.ts'
import type { RuntimeOptions, Source } from './options.ts'

/** All tools as one source. Tools that an agent may want approved go through a gate; access to tools goes before it. */
export function toolSourcesOf(from: {
  readonly tools: ReadonlyMap<string, FunctionTool>
  readonly sources: ReadonlyMap<string, QuerySource>
  readonly find: FindAgent
  readonly protocol: PeerContext['protocol']
  /** Whether an agent of that id is stored, enabled or not. */
  readonly exists: (caller: Caller, id: string) => boolean
  readonly control: TaskControl
  /** The knowledge base of that id, as the run of a caller keeps it. */
  readonly base: FindBase
  readonly search: SearchKnowledge
  readonly memory: MemoryAccess
  readonly mcp: McpAccess
  /** What calls agents on other servers; null if nothing does. */
  readonly remotes: RemoteCaller | null
  readonly agents: readonly (Agent | object)[]
  readonly report: (error: unknown) => void
}): ToolSource {
  const { tools, sources, find, protocol, exists, control, base, search, memory, mcp, remotes, agents, report } = from
  const approvals = approvalsOf(agents, report)
  const own = [
    // First, so that an own tool of the same name, which a check refuses, is never replaced by another agent's message.
    peerTools({ find, protocol }),
    functionTools(tools, find),
    queryTools(sources),
    actionTools,
    subAgentTools(find),
    agentTools(find),
    transferTools({ find, exists }),
    remoteTools(remotes),
    demandTools,
    backgroundTools(control),
    questionTools,
    userTools,
    toolModeTools,
    exitLoopTools,
    artifactTools,
    knowledgeTools(base, search),
    memoryTools(memory),
    planTools,
    mcpTools(mcp),
  ]
  return allowed(approved(joined(own), approvals))
}

/** Sources as one, so that access and approvals are looked up once for a call and not once for each source. */
function joined(sources: readonly ToolSource[]): ToolSource {
  return (caller) => {
    const all: Tool[] = []
    for (const source of sources) {
      const tools = source(caller)
      if (tools.length > 0) all.push(...tools)
    }
    return all
  }
}

/** The tools of a call by name; if two share a name, the later one wins, but for a tool of an MCP server. */
export function toolsetOf(source: ToolSource): (caller: Caller) => Toolset {
  return (caller) => {
    const tools = new Map<string, Tool>()
    for (const tool of source(caller)) {
      const known = tools.get(tool.name)
      // A server may name its tool like one of ours, which stays.
      if (tool.kind !== 'mcp') tools.set(tool.name, tool)
      else if (known !== undefined)
        tools.set(tool.name, { ...known, notices: [...(known.notices ?? []), collision(tool)] })
      else tools.set(tool.name, builtIns.has(tool.name) ? shutOut(tool) : tool)
    }
    return tools
  }
}

/** A tool that is named like a built-in one which its agent does not have: a model that calls it reads that there is no such tool. */
function shutOut(tool: Tool): Tool {
  const notice = collision(tool)
  return {
    ...tool,
    offer: null,
    initialOnly: true,
    withheld: { why: notice.detail, offer: tool.offer },
    notices: [notice],
  }
}

function collision({ name, of: server = '' }: Tool): NoticeBody {
  const detail = `\`${server}\`: its tool \`${name}\` is not offered, since that is the name of another tool. Leave it out of \`tools\`.`
  return { code: 'MCP_TOOL_COLLISION', detail, server, tool: name }
}

/** The lines of an agent's system message that come from no tool: of its protocols, and then of the chain that its run came with. */
export function guidanceOf(protocols: (caller: Caller) => readonly string[]): (caller: Caller) => readonly string[] {
  return (caller) => {
    const { incoming } = caller.principal
    const lines = protocols(caller)
    return incoming === undefined ? lines : [...lines, ...chainLines(incoming, caller.lineage.length === 1)]
  }
}

/** The databases that queries can read. */
export function sourcesOf({ sources = {} }: RuntimeOptions): ReadonlyMap<string, QuerySource> {
  return new Map(Object.entries(sources).map(([name, source]) => [name, querySource(source)]))
}

function querySource(source: Source): QuerySource {
  if ('run' in source) return source
  return source.kind === 'postgres' ? createPostgresSource(source) : createSqliteSource(source)
}

/** The function tools of a runtime and its agents. Throws `NAME_TAKEN`. */
export function collectTools(options: RuntimeOptions): ReadonlyMap<string, FunctionTool> {
  const tools = new Map<string, FunctionTool>()
  const live = (options.agents ?? []).flatMap((agent) =>
    'data' in agent && 'tools' in agent ? (agent as Agent).tools : [],
  )
  for (const tool of [...(options.tools ?? []), ...live]) {
    if (tools.has(tool.name) && tools.get(tool.name) !== tool) {
      throw new WitanError('NAME_TAKEN', `Two tools are named \`${tool.name}\`.`, {
        path: 'tools',
        hint: 'Agents name tools; give each its own name.',
      })
    }
    tools.set(tool.name, tool)
  }
  return tools
}

/**
 * Predicates by agent and tool. They apply to every revision of an agent with that id whose approval says `code`, also to one that
 * somebody else saved.
 */
function approvalsOf(agents: readonly (Agent | object)[], report: ApprovalOptions['report']): ApprovalOptions {
  const live = agents.filter((agent): agent is Agent => 'data' in agent && 'predicates' in agent)
  const predicates = new Map(live.map((agent) => [agent.data.id, agent.predicates]))
  return { predicate: (agent, tool) => predicates.get(agent)?.get(tool), report }
}
