/**
 * The edges of an agent: every declared link to another agent, of every kind. Code that walks the graph of agents reads
 * only these, in all packages.
 */
import { guardrailSides } from './guardrail-schema.ts'
import type { AgentData, StoredAgent, Workflow } from './agent.ts'
import type { Speaks, SubAgentEdge } from './edge-schema.ts'

/** What an edge is, whatever it leads to. */
interface AnyEdge {
  /** The key of the definition that lists it; graphs show it. */
  readonly kind: keyof typeof kinds
  /** Its path in the definition of its agent, such as `subAgents.0`. Edges with the same path share one tool. */
  readonly at: string
  /** Its segment in the paths of calls and actions. */
  readonly segment: string
  /** The tool that its agent's model calls to use it; null for a step of a workflow, which no model calls. */
  readonly tool: string | null
  /** The arguments that the model writes for that tool, besides the target's parameters. */
  readonly arguments: readonly string[]
  /** False if its target works at the depth of its own agent, in the same document. */
  readonly addsDepth: boolean
  /** Its description; empty if the target's own applies. */
  readonly description: string
  /** True if its agent may continue without the answer [F14]. */
  readonly mayRunInBackground: boolean
  /** The models that the calling model may choose for one call, by their path in the definition [D22]. */
  readonly models: ReadonlyMap<string, string>
}

/** One link from an agent to another of its database. */
export interface AgentEdge extends AnyEdge {
  readonly target: 'agent'
  /** The path of its target in the definition, such as `subAgents.0.agent`. */
  readonly agentAt: string
  /** The id of its target. */
  readonly agent: string
  /** The parent's parameter for a child's, by the child's name. Null: none. No entry: the same name [E17]. */
  readonly map: Readonly<Record<string, string | null>>
  /** False if no model may supply a value for its target: what nobody else supplies is missing [C16]. */
  readonly mayGenerate: boolean
  /** Set for a protocol: how its agent speaks it with the target. A responder only writes where it was written to. */
  readonly speaks?: Pick<Speaks, 'protocol' | 'role'>
}

/** One link from an agent to an agent on another server: it gets no parameters, and nothing here knows its definition. */
export interface RemoteEdge extends AnyEdge {
  readonly target: 'remote'
  /** The address that is called, or the URL of its card. */
  readonly remote: string
}

/** One link from an agent to another, here or elsewhere. */
export type Edge = AgentEdge | RemoteEdge

type Listed = Omit<AgentEdge, 'kind'> | Omit<RemoteEdge, 'kind'>

/** One kind of edge. */
interface EdgeKind<Key extends keyof AgentData> {
  list(agent: Pick<AgentData, Key>): readonly Listed[]
  /** The key of a definition without edges of this kind. */
  readonly none: AgentData[Key]
  /** How texts describe it: the name of its target, what its agent does, and what happens to its target. */
  readonly words: { readonly target: string; readonly active: string; readonly passive: string }
}

/** Every kind of edge, by the key of a definition that lists it. A new kind has its row here, and its tools in a file of `edge/`. */
const kinds = {
  subAgents: {
    list: subAgents,
    none: [],
    words: { target: 'sub-agent', active: 'asks', passive: 'be called' },
  },
  transfers: {
    list: transfers,
    none: [],
    words: { target: 'transfer target', active: 'hands over', passive: 'take over' },
  },
  workflow: {
    list: workflow,
    none: null,
    words: { target: 'step', active: 'step', passive: 'run' },
  },
  speaks: {
    list: speaks,
    none: [],
    words: { target: 'peer', active: 'writes to', passive: 'be written to' },
  },
  reflection: {
    list: reflection,
    none: { agent: null, model: null, criteria: '', onFail: 'answer' },
    words: { target: 'critic', active: 'is criticised by', passive: 'criticise' },
  },
  guardrails: {
    list: guardrails,
    none: { input: [], output: [] },
    words: { target: 'checking agent', active: 'is checked by', passive: 'check' },
  },
  remotes: {
    list: remotes,
    none: [],
    words: { target: 'remote agent', active: 'calls', passive: 'be called' },
  },
} satisfies { readonly [Key in keyof AgentData]?: EdgeKind<Key> }

/** The parts of a definition that list edges. */
export type EdgeLists = Pick<AgentData, keyof typeof kinds>

/** An agent without edges. */
export const noEdges = Object.fromEntries(
  Object.entries(kinds).map(([kind, { none }]) => [kind, none]),
) as unknown as EdgeLists

/** The words of each kind. */
export const edgeWords = Object.fromEntries(
  Object.entries(kinds).map(([kind, { words }]) => [kind, words]),
) as unknown as Readonly<Record<Edge['kind'], EdgeKind<'subAgents'>['words']>>

const known = new WeakMap<EdgeLists, readonly Edge[]>()

/** The edges of an agent, in the order of its definition. The same definition returns the same objects. */
export function edgesOf(agent: EdgeLists): readonly Edge[] {
  const found = known.get(agent)
  if (found !== undefined) return found
  const edges = Object.entries(kinds).flatMap(([kind, { list }]) =>
    list(agent).map((edge): Edge => ({ kind: kind as Edge['kind'], ...edge })),
  )
  known.set(agent, edges)
  return edges
}

const knownToAgents = new WeakMap<readonly Edge[], readonly AgentEdge[]>()

/** Those of the edges of an agent that lead to agents of its database. The same definition returns the same objects. */
export function agentEdgesOf(agent: EdgeLists): readonly AgentEdge[] {
  const all = edgesOf(agent)
  const found = knownToAgents.get(all)
  if (found !== undefined) return found
  const edges = all.filter((edge) => edge.target === 'agent')
  knownToAgents.set(all, edges)
  return edges
}

const chosen = ['blocking', 'model', 'temperature']
const delegating = { delegate: ['message', ...chosen], agentTool: ['request', ...chosen] }

function subAgents({ subAgents: edges }: Pick<AgentData, 'subAgents'>): readonly Listed[] {
  return edges.map(({ agent, style, map, description, blocking, overrides }, index) => {
    const at = `subAgents.${index}`
    const models = (overrides?.model ?? []).map((model, place) => [`${at}.overrides.model.${place}`, model] as const)
    const mayRunInBackground = blocking !== 'always'
    return {
      target: 'agent',
      at,
      agentAt: `${at}.agent`,
      agent,
      segment: agent,
      tool: agent,
      arguments: delegating[style],
      map,
      mayGenerate: true,
      addsDepth: true,
      description,
      mayRunInBackground,
      models: new Map(models),
    }
  })
}

/** The tool that hands over. All edges of an agent that hand over share it. */
export const transferTool = 'transfer_to_agent'

const noModels: ReadonlyMap<string, string> = new Map()
const notCalled = { mayGenerate: false, mayRunInBackground: false, models: noModels }

function transfers({ transfers: edges }: Pick<AgentData, 'transfers'>): readonly Listed[] {
  return edges.map(({ agent, map, description }, index) => {
    const own = {
      target: 'agent' as const,
      agentAt: `transfers.${index}.agent`,
      agent,
      segment: agent,
      map,
      description,
    }
    return { ...own, at: 'transfers', tool: transferTool, arguments: ['agent_name'], addsDepth: false, ...notCalled }
  })
}

/** A step of a workflow with its settings filled in. */
export type WorkflowStep = Exclude<Workflow['agents'][number], string>

/** The steps of a workflow, in order. */
export function stepsOf({ agents }: Workflow): readonly WorkflowStep[] {
  return agents.map((step) =>
    typeof step === 'string' ? { agent: step, map: {}, history: 'agent', toolMode: null } : step,
  )
}

function workflow({ workflow: of }: Pick<AgentData, 'workflow'>): readonly Listed[] {
  if (of === null) return []
  return stepsOf(of).map(({ agent, map }, index) => {
    const at = `workflow.agents.${index}`
    const agentAt = typeof of.agents[index] === 'string' ? at : `${at}.agent`
    return {
      target: 'agent',
      at,
      agentAt,
      agent,
      segment: agent,
      tool: null,
      arguments: [],
      map,
      description: '',
      addsDepth: true,
      ...notCalled,
    }
  })
}

/** The peers of an agent. Their tools, one for each message, are known only together with the protocol. */
function speaks({ speaks: spoken }: Pick<AgentData, 'speaks'>): readonly Listed[] {
  return spoken.flatMap(({ protocol, role, peers, map }, index) =>
    (peers ?? []).map((agent, place) => ({
      target: 'agent' as const,
      at: `speaks.${index}`,
      agentAt: `speaks.${index}.peers.${place}`,
      agent,
      segment: agent,
      tool: null,
      arguments: [],
      map,
      speaks: { protocol, role },
      addsDepth: true,
      description: `${protocol} (${role})`,
      ...notCalled,
    })),
  )
}

/** The agent that criticises the answers of another, without a choice of any model [F08]. */
function reflection({
  reflection: of,
  enableReflection,
}: Partial<Pick<AgentData, 'reflection' | 'enableReflection'>>): readonly Listed[] {
  // A definition of an earlier version has none.
  const agent = of?.agent ?? null
  if (agent === null || enableReflection === false) return []
  const at = 'reflection'
  return [
    {
      ...{ target: 'agent', at, agentAt: 'reflection.agent', agent, segment: agent, tool: null, arguments: [] },
      ...{ map: {}, description: '', addsDepth: true, ...notCalled },
    },
  ]
}

/** The agents that check what another reads and says, without a choice of any model. */
function guardrails({ guardrails: of }: Partial<Pick<AgentData, 'guardrails'>>): readonly Listed[] {
  // A definition of an earlier version has none.
  return guardrailSides.flatMap((side) =>
    (of?.[side] ?? []).flatMap((check, index): Listed[] => {
      if (check.kind !== 'agent') return []
      const { agent } = check
      const at = `guardrails.${side}.${index}`
      return [
        {
          ...{ target: 'agent', at, agentAt: `${at}.agent`, agent, segment: agent, tool: null, arguments: [] },
          ...{ map: {}, description: '', addsDepth: true, ...notCalled },
        },
      ]
    }),
  )
}

/** The agents on other servers that an agent calls [M18]. */
function remotes({ remotes: edges }: Partial<Pick<AgentData, 'remotes'>>): readonly Listed[] {
  // A definition of an earlier version has no such list.
  return (edges ?? []).map(({ name, address, card, description, blocking }, index) => ({
    target: 'remote',
    at: `remotes.${index}`,
    remote: address ?? card ?? '',
    segment: name,
    tool: name,
    arguments: blocking === 'model' ? ['message', 'blocking'] : ['message'],
    addsDepth: true,
    description,
    mayRunInBackground: blocking !== 'always',
    models: noModels,
  }))
}

/** True if its agent can begin to call its target or write to it. A responder writes only to a peer that wrote to it first. */
export function canBegin({ speaks }: AgentEdge): boolean {
  return speaks?.role !== 'responder'
}

/** The parent's name in which an edge looks up a value for its target; null if it maps to nothing. */
export function mappedName({ map }: Pick<AgentEdge, 'map'>, name: string): string | null {
  return Object.hasOwn(map, name) ? (map[name] ?? null) : name
}

/** Whether an agent takes control from the agent with the id `from`, as its own definition says. */
export function takesControlFrom({ acceptTransfer, parents }: AgentData, from: string): boolean {
  return acceptTransfer && (parents === null || parents.includes(from))
}

/** A sub-agent that an agent lists. `agent` is null if it was deleted by force. */
export interface SubAgentLine {
  readonly agent: StoredAgent | null
  readonly edge: SubAgentEdge
}

/** A newly listed sub-agent, and its parent as it is now. */
export interface AssignedSubAgent extends SubAgentLine {
  readonly agent: StoredAgent
  readonly parent: StoredAgent
}
