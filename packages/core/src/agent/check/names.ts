/** Checks one agent by itself: its names, and what they refer to. */
import type { AgentData, Finding } from '@witan/protocol'
import type { ErrorFinding, RefusalCode } from '@witan/protocol/schemas'
import { agentEdgesOf, edgesOf, edgeWords, transferTool } from '@witan/protocol/edges'
import type { KnowledgeBase } from '@witan/protocol/knowledge'
import type { Protocol } from '@witan/protocol/protocols'
import type { PatternAllowance } from '../../model/pattern.ts'
import type { FunctionTool } from '../../tool/define-tool.ts'
import { isAlias, knownPeople } from '../../parameter/known-people.ts'
import { localOf, localsOf } from '../address.ts'
import { builtIns, namesake } from '../naming.ts'
import { likelyNamesakes, withPeople } from './likely.ts'
import { looksOfPeople, takenByOthers } from '../people-names.ts'
import { nearest } from '../../identity/nearest.ts'
import { type PeerMessage, peerMessagesIn } from '../protocol/peer-messages.ts'
import type { AgentSet, Listers } from './graph.ts'
import type { McpSurvey } from '../../tool/mcp/offered.ts'
import type { Pausable } from '../../identity/pausable.ts'

/** What exists besides the agents; `hasModel` is true if a name such as `local/qwen3` leads to a model. */
export interface Surroundings {
  readonly tools: ReadonlyMap<string, Pick<FunctionTool, 'jsonSchema' | 'description'>>
  readonly sources: ReadonlySet<string>
  hasModel(name: string): boolean
  /** True if the price of the model is known. */
  hasPrice(name: string): boolean
  /** True if an embedding model of that name is there, and its price is not known. */
  lacksEmbeddingPrice(name: string): boolean
  readonly modelNames: readonly string[]
  /** Agents checked in the same call: a wrong edge of one of them is reported there, at the edge. */
  readonly checked?: ReadonlySet<string>
  /** By name. */
  readonly protocols: ReadonlyMap<string, Protocol>
  /** By id. */
  readonly bases: ReadonlyMap<string, KnowledgeBase>
  /** The MCP servers of the configuration; absent: they are not checked. */
  readonly mcp?: McpSurvey
  /** What is left for the patterns of the request that this check belongs to; absent: each schema counts by itself. */
  readonly patterns?: PatternAllowance
}

/** What stops a save: its code is one of the errors with which a save may end. */
export interface Refusal<Code = RefusalCode> {
  readonly code: Code
  readonly detail: string
  readonly hint: string
}

/** An error finding; `path` is relative to the agent. */
export function errorAt<Code extends RefusalCode>(
  agent: AgentData,
  path: string,
  what: Refusal<Code>,
): ErrorFinding & { readonly code: Code } {
  return { ...what, severity: 'error', agent: agent.id, path }
}

/** Reports clashing names and dangling references. */
export function* checkNames(
  agent: AgentData,
  {
    agents,
    listers,
    context,
  }: { readonly agents: AgentSet; readonly listers: Listers; readonly context: Surroundings },
): Pausable<Finding[]> {
  return [
    ...sharedName(agent, agents),
    ...peoplesNames(agent, agents),
    ...clashes(agent, peerMessagesIn(agent, { agents, protocols: context.protocols })),
    ...(yield* references(agent, agents)),
    ...(yield* unknownNames(agent, context)),
    ...shutOut(agent, { agents, listers, context }),
  ]
}

/** An id or a display name must identify one agent [C28]. */
function sharedName(agent: AgentData, agents: AgentSet): Finding[] {
  const other = namesake(agent, likelyNamesakes(agent, agents))
  if (other === null) return []
  const called = agent.name === undefined ? '' : ` named \`${agent.name}\``
  const named = other.name === undefined ? '' : ` named \`${other.name}\``
  return [
    errorAt(agent, agent.name === undefined ? 'id' : 'name', {
      code: 'NAME_TAKEN',
      detail: `Agent \`${agent.id}\`${called} could be taken for \`${other.id}\`${named}.`,
      hint: 'An id or a display name must identify one agent; case and spaces do not matter. Choose another name.',
    }),
  ]
}

/** A person whose words would stand under the name of an agent, or the other way round [C28]. */
function peoplesNames(agent: AgentData, agents: AgentSet): Finding[] {
  const locals = localsOf(agents)
  const local = localOf(agent) ?? agent.id
  const alias =
    agent.anonymizeUsers === null ? undefined : [...agents.keys(), ...locals].find((id) => isAlias(agent, id))
  const clash =
    alias === undefined ? [] : [takenName(agent, 'anonymizeUsers', { id: alias, taken: alias, isAgent: true })]
  const own = knownPeople(agent).flatMap(({ id }, index): Finding[] => {
    const taken = takenByOthers(id, { has: (name) => agents.has(name) || locals.has(name) })
    return taken === null
      ? []
      : [takenName(agent, `users.${index}.id`, { id, taken: taken.name, isAgent: taken.isAgent })]
  })
  const others = withPeople(agents).filter(
    (other) =>
      other.id !== agent.id && [agent.id, local].some((name) => isAlias(other, name) || looksOfPeople(other).has(name)),
  )
  return [
    ...own,
    ...clash,
    ...others.map(({ id }) =>
      errorAt(agent, 'id', {
        code: 'NAME_TAKEN',
        detail: `Agent \`${agent.id}\` has the name of a person that agent \`${id}\` may ask.`,
        hint: 'Choose another id or address, or another name for the person.',
      }),
    ),
  ]
}

function takenName(
  agent: AgentData,
  path: string,
  of: { readonly id: string; readonly taken: string; readonly isAgent: boolean },
): Finding {
  const what = of.isAgent ? 'an agent' : 'a word with a meaning of its own'
  const as = of.id === of.taken ? '' : `looks like \`${of.taken}\`, which `
  const detail = `Agent \`${agent.id}\` would know a person as \`${of.id}\`, which ${as}is ${what}.`
  return errorAt(agent, path, { code: 'NAME_TAKEN', detail, hint: 'Choose another name for the person.' })
}

/** Names that two things of an agent share. */
export function clashes(agent: AgentData, messages: readonly PeerMessage[]): Finding[] {
  const findings: Finding[] = []
  const taken = new Map<string, string>()
  const take = (name: string, path: string) => {
    const owner = builtIns.has(name) ? 'is a built-in tool' : taken.has(name) ? `is also \`${taken.get(name)}\`` : null
    if (owner === null) return taken.set(name, path)
    return findings.push(
      errorAt(agent, path, {
        code: 'NAME_TAKEN',
        detail: `\`${name}\` ${owner}; rename \`${path}\` of agent \`${agent.id}\`.`,
        hint: 'Queries, actions, sub-agents and tools of one agent share one name space.',
      }),
    )
  }
  for (const { tool, at } of edgesOf(agent))
    if (tool !== null && tool !== transferTool && taken.get(tool) !== at) take(tool, at)
  for (const { tool, at } of messages) take(tool, at)
  for (const [index, { name }] of agent.queries.entries()) take(name, `queries.${index}`)
  for (const [index, { name }] of agent.actions.entries()) take(name, `actions.${index}`)
  for (const [index, name] of agent.tools.entries()) take(name, `tools.${index}`)
  const targets = agent.transfers.map((edge) => edge.agent)
  for (const [index, id] of targets.entries()) {
    if (targets.indexOf(id) < index)
      findings.push(
        errorAt(agent, `transfers.${index}.agent`, {
          code: 'NAME_TAKEN',
          detail: `Transfer target \`${id}\` is listed twice.`,
          hint: 'Keep one of the two.',
        }),
      )
  }
  const people = knownPeople(agent).map(({ id }) => id)
  for (const [index, id] of people.entries()) {
    if (people.indexOf(id) < index)
      findings.push(
        errorAt(agent, `users.${index}`, {
          code: 'NAME_TAKEN',
          detail: `User \`${id}\` is named twice.`,
          hint: 'Keep one of the two.',
        }),
      )
  }
  const names = new Set<string>()
  for (const [index, { name }] of agent.parameters.entries()) {
    if (names.has(name))
      findings.push(
        errorAt(agent, `parameters.${index}`, {
          code: 'NAME_TAKEN',
          detail: `Parameter \`${name}\` is declared twice.`,
          hint: 'Keep one of the two declarations.',
        }),
      )
    names.add(name)
  }
  return findings
}

/** An agent with `parents` may be listed only by those [F03]. */
function mayList(parent: string, child: AgentData | undefined): boolean {
  return child === undefined || child.parents === null || child.parents.includes(parent)
}

function* references(agent: AgentData, agents: AgentSet): Pausable<Finding[]> {
  const findings: Finding[] = []
  for (const { kind, agent: id, agentAt: path } of agentEdgesOf(agent)) {
    yield
    if (id === agent.id) {
      findings.push(
        errorAt(agent, path, {
          code: 'AGENT_SELF_REFERENCE',
          detail: `Agent \`${id}\` lists itself as a ${edgeWords[kind].target}.`,
          hint: 'Remove the edge; a specialist of the same kind needs an id of its own.',
        }),
      )
    } else if (agents.has(id) && kind !== 'speaks' && !mayList(agent.id, agents.get(id))) {
      findings.push(
        errorAt(agent, path, {
          code: 'PARENT_NOT_ALLOWED',
          detail: `Agent \`${id}\` does not allow \`${agent.id}\` as a parent.`,
          hint: `Add \`${agent.id}\` to \`parents\` of \`${id}\`, or remove the edge.`,
        }),
      )
    } else if (!agents.has(id)) {
      const near = nearest(
        id,
        [...agents.keys()].filter((other) => other !== agent.id),
      )
      const meant = near === null ? '' : ` Did you mean \`${near}\`?`
      findings.push(
        errorAt(agent, path, {
          code: 'AGENT_REF_UNKNOWN',
          detail: `Agent \`${agent.id}\` lists ${edgeWords[kind].target} \`${id}\`, which does not exist.${meant}`,
          hint: 'Create it first, or send both in one batch.',
        }),
      )
    }
  }
  return findings
}

/** Parents that list the agent although its `parents` exclude them. They must drop it before it can exclude them [E10]. */
function shutOut(
  agent: AgentData,
  of: { readonly agents: AgentSet; readonly listers: Listers; readonly context: Surroundings },
): Finding[] {
  const { agents, listers, context } = of
  // Who may write to a peer is a matter of its own `speaks`.
  const lists = (parent: string) =>
    agentEdgesOf(agents.get(parent) as AgentData).some(({ kind, agent: id }) => id === agent.id && kind !== 'speaks')
  return (listers.get(agent.id) ?? [])
    .filter((parent) => !mayList(parent, agent) && lists(parent) && context.checked?.has(parent) !== true)
    .map((parent) =>
      errorAt(agent, 'parents', {
        code: 'PARENT_NOT_ALLOWED',
        detail: `Agent \`${agent.id}\` does not allow \`${parent}\` as a parent, which lists it.`,
        hint: `Take it out of \`${parent}\` first, or add \`${parent}\` to \`parents\`.`,
      }),
    )
}

function* unknownNames(agent: AgentData, around: Surroundings): Pausable<Finding[]> {
  const findings: Finding[] = []
  for (const [index, name] of agent.tools.entries()) {
    yield
    if (!around.tools.has(name))
      findings.push(errorAt(agent, `tools.${index}`, unknown(agent, { kind: 'tool', name }, [...around.tools.keys()])))
  }
  for (const [index, { source }] of agent.queries.entries()) {
    yield
    if (!around.sources.has(source))
      findings.push(
        errorAt(
          agent,
          `queries.${index}.source`,
          unknown(agent, { kind: 'source', name: source }, [...around.sources]),
        ),
      )
  }
  for (const [path, model] of modelsOf(agent)) {
    yield
    if (!around.hasModel(model))
      findings.push(errorAt(agent, path, unknown(agent, { kind: 'model', name: model }, around.modelNames)))
  }
  return findings
}

/** The models that an agent names: its own, its fallbacks, that of its critiques, and those that its edges allow [D22]. */
export function modelsOf(agent: AgentData): [path: string, model: string][] {
  const behind = (agent.fallbacks ?? []).map((model, at): [string, string] => [`fallbacks.${at}`, model])
  const own: [string, string][] = agent.workflow === null ? [['model', agent.model]] : []
  // A definition of an earlier version has no such key.
  const { model = null } = (agent as Partial<AgentData>).reflection ?? {}
  const critic: [string, string][] = model === null ? [] : [['reflection.model', model]]
  return [...own, ...behind, ...critic, ...edgesOf(agent).flatMap(({ models }) => [...models])]
}

/** For each kind of reference: the error code if it is missing, and where it comes from. */
const kinds = {
  tool: { code: 'TOOL_UNKNOWN', from: 'give it under `tools`, made with `defineTool`' },
  source: { code: 'SOURCE_UNKNOWN', from: 'add it under `sources`' },
  model: { code: 'MODEL_UNKNOWN', from: 'add its connection under `connections`, or give a live model' },
} as const

function unknown(
  { id }: AgentData,
  { kind, name }: { readonly kind: keyof typeof kinds; readonly name: string },
  known: readonly string[],
): Refusal {
  const { code, from } = kinds[kind]
  const near = nearest(name, known)
  const list = known.length === 0 ? `No ${kind} is configured: ${from}.` : `Known: ${known.join(', ')}.`
  const detail = `Agent \`${id}\` names ${kind} \`${name}\`, which does not exist here.`
  return { code, detail, hint: near === null ? list : `Did you mean \`${near}\`?` }
}
