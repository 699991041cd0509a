/** Checks of one agent by itself: its names, and what its names point at. */
import type { AgentData, Finding } from '@witan/protocol'
import { nearest } from '../nearest.ts'
import { type AgentSet, listedBy } from './graph.ts'

/** What exists beside the agents; `hasModel` says whether a name such as `local/qwen3` leads to a model. */
export interface Surroundings {
  readonly tools: ReadonlySet<string>
  readonly sources: ReadonlySet<string>
  hasModel(name: string): boolean
  readonly modelNames: readonly string[]
}

const builtIns = new Set([
  'transfer_to_agent',
  'ask_question',
  'ask_user',
  'ask_all_users',
  'get_background_sub_agent_result',
  'fetch_sub_agent_progress',
  'message_sub_agent',
  'cancel_background_sub_agent',
  'exit_loop',
  'set_output',
  'end_tool_mode',
])

/** An error finding; `path` is relative to the agent. */
export function errorAt(agent: AgentData, path: string, what: Pick<Finding, 'code' | 'detail' | 'hint'>): Finding {
  return { ...what, severity: 'error', agent: agent.id, path }
}

/** Names that clash, and names that lead nowhere. */
export function checkNames(agent: AgentData, agents: AgentSet, around: Surroundings): Finding[] {
  return [...clashes(agent), ...references(agent, agents), ...unknownNames(agent, around), ...shutOut(agent, agents)]
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
      const near = nearest(id, [...agents.keys()])
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
function shutOut(agent: AgentData, agents: AgentSet): Finding[] {
  return listedBy(agent.id, agents)
    .filter((parent) => !mayList(parent, agent))
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
      findings.push(errorAt(agent, `tools.${index}`, unknown('TOOL_UNKNOWN', `tool \`${name}\``, [...around.tools])))
  }
  for (const [index, { source }] of agent.queries.entries()) {
    if (!around.sources.has(source))
      findings.push(
        errorAt(
          agent,
          `queries.${index}.source`,
          unknown('SOURCE_UNKNOWN', `source \`${source}\``, [...around.sources]),
        ),
      )
  }
  for (const [path, model] of modelsOf(agent)) {
    if (!around.hasModel(model))
      findings.push(errorAt(agent, path, unknown('MODEL_UNKNOWN', `model \`${model}\``, around.modelNames)))
  }
  return findings
}

/** The models that an agent names: its own, and what its edges allow instead [D22]. */
function modelsOf(agent: AgentData): [path: string, model: string][] {
  const allowed = agent.subAgents.flatMap(({ overrides }, index) =>
    (overrides?.model ?? []).map((model, at): [string, string] => [`subAgents.${index}.overrides.model.${at}`, model]),
  )
  return [['model', agent.model], ...allowed]
}

function unknown(
  code: Finding['code'],
  what: string,
  known: readonly string[],
): Pick<Finding, 'code' | 'detail' | 'hint'> {
  const near = nearest(/`(.*)`/.exec(what)?.[1] ?? what, known)
  const list = known.length === 0 ? 'None is configured.' : `Known: ${known.join(', ')}.`
  return { code, detail: `There is no ${what} here.`, hint: near === null ? list : `Did you mean \`${near}\`?` }
}
