/** Checks of one agent by itself: its names, and what its names point at. */
import type { AgentData, Finding } from '@witan/protocol'
import { builtIns, namesake } from '../naming.ts'
import { nearest } from '../nearest.ts'
import { type AgentSet, listedBy } from './graph.ts'

/** What exists beside the agents; `hasModel` says whether a name such as `local/qwen3` leads to a model. */
export interface Surroundings {
  readonly tools: ReadonlySet<string>
  readonly sources: ReadonlySet<string>
  hasModel(name: string): boolean
  /** Whether it is known what the calls of a model cost. */
  hasPrice(name: string): boolean
  readonly modelNames: readonly string[]
  /** What is checked in the same round: who lists wrongly among them is told there, at the edge. */
  readonly checked?: ReadonlySet<string>
}

/** An error finding; `path` is relative to the agent. */
export function errorAt(agent: AgentData, path: string, what: Pick<Finding, 'code' | 'detail' | 'hint'>): Finding {
  return { ...what, severity: 'error', agent: agent.id, path }
}

/** Names that clash, and names that lead nowhere. */
export function checkNames(agent: AgentData, agents: AgentSet, around: Surroundings): Finding[] {
  return [
    ...sharedName(agent, agents),
    ...clashes(agent),
    ...references(agent, agents),
    ...unknownNames(agent, around),
    ...shutOut(agent, agents, around),
  ]
}

/** Who says an id or a display name must mean one agent [C28]. */
function sharedName(agent: AgentData, agents: AgentSet): Finding[] {
  const other = namesake(agent, agents.values())
  if (other === null) return []
  const called = agent.name === undefined ? '' : ` named \`${agent.name}\``
  const named = other.name === undefined ? '' : ` named \`${other.name}\``
  return [
    errorAt(agent, agent.name === undefined ? 'id' : 'name', {
      code: 'NAME_TAKEN',
      detail: `Agent \`${agent.id}\`${called} could be taken for \`${other.id}\`${named}.`,
      hint: 'An id and a display name lead to one agent each; case and spaces make no difference. Choose another name.',
    }),
  ]
}

function clashes(agent: AgentData): Finding[] {
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
  for (const [index, { agent: id }] of agent.subAgents.entries()) take(id, `subAgents.${index}`)
  for (const [index, { name }] of agent.queries.entries()) take(name, `queries.${index}`)
  for (const [index, { name }] of agent.actions.entries()) take(name, `actions.${index}`)
  for (const [index, name] of agent.tools.entries()) take(name, `tools.${index}`)
  const people = agent.users.map(({ id }) => id)
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

/** An agent with `parents` is listed by those only [F03]. */
function mayList(parent: string, child: AgentData | undefined): boolean {
  return child === undefined || child.parents === null || child.parents.includes(parent)
}

function references(agent: AgentData, agents: AgentSet): Finding[] {
  const findings: Finding[] = []
  for (const [index, { agent: id }] of agent.subAgents.entries()) {
    const path = `subAgents.${index}.agent`
    if (id === agent.id) {
      findings.push(
        errorAt(agent, path, {
          code: 'AGENT_SELF_REFERENCE',
          detail: `Agent \`${id}\` lists itself as a sub-agent.`,
          hint: 'Remove the edge; a specialist of the same kind needs an id of its own.',
        }),
      )
    } else if (agents.has(id) && !mayList(agent.id, agents.get(id))) {
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
          detail: `Agent \`${agent.id}\` lists sub-agent \`${id}\`, which does not exist.${meant}`,
          hint: 'Create it first, or send both in one batch.',
        }),
      )
    }
  }
  return findings
}

/** Parents that list the agent although its `parents` leave them out: who is in no roster must first be taken out of all [E10]. */
function shutOut(agent: AgentData, agents: AgentSet, { checked }: Surroundings): Finding[] {
  return listedBy(agent.id, agents)
    .filter((parent) => !mayList(parent, agent) && checked?.has(parent) !== true)
    .map((parent) =>
      errorAt(agent, 'parents', {
        code: 'PARENT_NOT_ALLOWED',
        detail: `Agent \`${agent.id}\` does not allow \`${parent}\` as a parent, which lists it.`,
        hint: `Take it out of \`${parent}\` first, or add \`${parent}\` to \`parents\`.`,
      }),
    )
}

function unknownNames(agent: AgentData, around: Surroundings): Finding[] {
  const findings: Finding[] = []
  for (const [index, name] of agent.tools.entries()) {
    if (!around.tools.has(name))
      findings.push(errorAt(agent, `tools.${index}`, unknown(agent, { kind: 'tool', name }, [...around.tools])))
  }
  const own = toolNames(agent)
  for (const [index, name] of agent.approvals.entries()) {
    if (!own.includes(name)) findings.push(errorAt(agent, `approvals.${index}`, noOwnTool(agent, name, own)))
  }
  for (const [index, { source }] of agent.queries.entries()) {
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
    if (!around.hasModel(model))
      findings.push(errorAt(agent, path, unknown(agent, { kind: 'model', name: model }, around.modelNames)))
  }
  return findings
}

/** What an agent can call, apart from the built-in tools. */
function toolNames({ subAgents, queries, actions, tools }: AgentData): readonly string[] {
  return [...subAgents.map((edge) => edge.agent), ...[...queries, ...actions].map(({ name }) => name), ...tools]
}

function noOwnTool(agent: AgentData, name: string, own: readonly string[]): Pick<Finding, 'code' | 'detail' | 'hint'> {
  const near = nearest(name, own)
  const list = own.length === 0 ? 'It has no tools.' : `Its tools: ${own.join(', ')}.`
  return {
    code: 'TOOL_UNKNOWN',
    detail: `Agent \`${agent.id}\` wants \`${name}\` approved, which is none of its tools.`,
    hint: near === null ? list : `Did you mean \`${near}\`?`,
  }
}

/** The models that an agent names: its own, and what its edges allow instead [D22]. */
export function modelsOf(agent: AgentData): [path: string, model: string][] {
  const allowed = agent.subAgents.flatMap(({ overrides }, index) =>
    (overrides?.model ?? []).map((model, at): [string, string] => [`subAgents.${index}.overrides.model.${at}`, model]),
  )
  return [['model', agent.model], ...allowed]
}

/** What the runtime can have of each kind: the code where it is missing, and where it comes from. */
const kinds = {
  tool: { code: 'TOOL_UNKNOWN', from: 'give it under `tools`, made with `defineTool`' },
  source: { code: 'SOURCE_UNKNOWN', from: 'add it under `sources`' },
  model: { code: 'MODEL_UNKNOWN', from: 'add its connection under `connections`, or give a live model' },
} as const

function unknown(
  { id }: AgentData,
  { kind, name }: { readonly kind: keyof typeof kinds; readonly name: string },
  known: readonly string[],
): Pick<Finding, 'code' | 'detail' | 'hint'> {
  const { code, from } = kinds[kind]
  const near = nearest(name, known)
  const list = known.length === 0 ? `No ${kind} is configured: ${from}.` : `Known: ${known.join(', ')}.`
  const detail = `Agent \`${id}\` names ${kind} \`${name}\`, which does not exist here.`
  return { code, detail, hint: near === null ? list : `Did you mean \`${near}\`?` }
}
