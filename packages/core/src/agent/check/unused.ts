/** What is declared and yet can come to nothing: values nobody reads, names that lead nowhere, delegates and levels out of reach. Warnings only. */
import type { AgentData, Finding, SubAgentEdge } from '@witan/protocol'
import { nearest } from '../nearest.ts'
import { type AgentSet, pathsFrom } from './graph.ts'

/** Warnings about one agent. `maxDepth` is the ceiling of the runtime. */
export function checkUnused(
  agent: AgentData,
  agents: AgentSet,
  { maxDepth, checked }: { readonly maxDepth: number; readonly checked?: ReadonlySet<string> },
): Finding[] {
  return [
    ...unusedParameters(agent, agents),
    ...unusedQueries(agent),
    ...unknownMaps(agent, agents),
    ...closedDelegates(agent, agents),
    // A save does not ask: a child may come before its parents, and what is kept with it would soon be wrong.
    ...(checked === undefined ? [] : unknownParents(agent, agents)),
    ...toolsOff(agent),
    ...tooDeep(agent, agents, maxDepth),
  ]
}

function warningAt(agent: AgentData, path: string, what: Pick<Finding, 'code' | 'detail' | 'hint'>): Finding {
  return { ...what, severity: 'warning', agent: agent.id, path }
}

/** A parameter of which no model, query, action, tool or sub-agent gets anything. Actions and tools get all that is bound. */
function unusedParameters(agent: AgentData, agents: AgentSet): Finding[] {
  if (agent.actions.length + agent.tools.length > 0) return []
  const used = new Set(agent.queries.flatMap(({ query }) => [...query.matchAll(/\$(\w+)/g)].map(([, name]) => name)))
  for (const edge of agent.subAgents) {
    for (const { name } of agents.get(edge.agent)?.parameters ?? []) used.add(sourceName(edge, name))
  }
  return agent.parameters.flatMap(({ name, sendToModel }, index) =>
    sendToModel || used.has(name)
      ? []
      : [
          warningAt(agent, `parameters.${index}`, {
            code: 'PARAM_UNUSED',
            detail: `\`${name}\` is hidden from the model of \`${agent.id}\`, and no query, action, tool or sub-agent takes it.`,
            hint: `Take it out, or use it, such as \`$${name}\` in a query.`,
          }),
        ],
  )
}

/** A query that no model may call and that stands at no beginning [Rb40]. */
function unusedQueries(agent: AgentData): Finding[] {
  return agent.queries.flatMap(({ name, allowModelQueries, addToInitialContext }, index) =>
    allowModelQueries || addToInitialContext
      ? []
      : [
          warningAt(agent, `queries.${index}`, {
            code: 'QUERY_UNUSED',
            detail: `\`${name}\` never runs: no model may call it, and it is not part of the initial context.`,
            hint: 'Set `allowModelQueries` or `addToInitialContext`, or take it out.',
          }),
        ],
  )
}

/** What a parameter of the child is called above; nothing where the edge cuts it off. */
function sourceName({ map }: SubAgentEdge, name: string): string | undefined {
  return Object.hasOwn(map, name) ? (map[name] ?? undefined) : name
}

function unknownMaps(agent: AgentData, agents: AgentSet): Finding[] {
  const own = agent.parameters.map(({ name }) => name)
  return agent.subAgents.flatMap((edge, index) => {
    const names = agents.get(edge.agent)?.parameters.map(({ name }) => name)
    if (names === undefined) return []
    return Object.entries(edge.map).flatMap(([name, source]) => {
      const at = `subAgents.${index}.map.${name}`
      if (!names.includes(name)) {
        const detail = `\`${agent.id}\` maps \`${name}\` for \`${edge.agent}\`, which declares no such parameter.`
        const known = names.length === 0 ? 'It declares none.' : `It declares: ${names.join(', ')}.`
        return [warningAt(agent, at, { code: 'MAP_NAME_UNKNOWN', detail, hint: meant(name, names) ?? known })]
      }
      if (source === null || own.includes(source)) return []
      const detail = `\`${agent.id}\` maps \`${name}\` of \`${edge.agent}\` to \`${source}\`, which it does not declare: only a conversation can give it.`
      const hint =
        meant(source, own) ?? `Declare \`${source}\` on \`${agent.id}\`, or give it at the start of conversations.`
      return [warningAt(agent, at, { code: 'MAP_NAME_UNKNOWN', detail, hint })]
    })
  })
}

function meant(name: string, known: readonly string[]): string | null {
  const near = nearest(name, known)
  return near === null ? null : `Did you mean \`${near}\`?`
}

function closedDelegates(agent: AgentData, agents: AgentSet): Finding[] {
  return agent.subAgents.flatMap(({ agent: id }, index) =>
    agents.get(id)?.disabled === true
      ? [
          warningAt(agent, `subAgents.${index}.agent`, {
            code: 'DELEGATE_UNAVAILABLE',
            detail: `\`${agent.id}/${id}\` can never be called: \`${id}\` is disabled.`,
            hint: `Enable \`${id}\`, or take it out of \`${agent.id}\`.`,
          }),
        ]
      : [],
  )
}

function unknownParents(agent: AgentData, agents: AgentSet): Finding[] {
  const others = [...agents.keys()].filter((id) => id !== agent.id)
  return (agent.parents ?? []).flatMap((id, index) =>
    agents.has(id)
      ? []
      : [
          warningAt(agent, `parents.${index}`, {
            code: 'AGENT_REF_UNKNOWN',
            detail: `\`${agent.id}\` lets \`${id}\` list it, which does not exist.`,
            hint: meant(id, others) ?? `Create \`${id}\`, or take it out.`,
          }),
        ],
  )
}

function toolsOff({ toolMode, ...agent }: AgentData): Finding[] {
  const { subAgents, queries, actions, tools, questions, users } = agent
  const offered = [
    ...subAgents.map((edge) => edge.agent),
    ...[...queries.filter(({ allowModelQueries }) => allowModelQueries), ...actions].map(({ name }) => name),
    ...tools,
    ...(questions ? ['ask_question'] : []),
    ...(users.length > 0 ? ['ask_user'] : []),
  ]
  if (toolMode !== 'none' || offered.length === 0) return []
  return [
    warningAt({ toolMode, ...agent }, 'toolMode', {
      code: 'TOOLS_OFF',
      detail: `\`${agent.id}\` has \`toolMode: "none"\`, so its model can never call ${offered.map((name) => `\`${name}\``).join(', ')}.`,
      hint: 'Set `toolMode: "auto"`, or take them out.',
    }),
  ]
}

/** The longest way down against how deep a run of this root may go [C2]. */
function tooDeep(agent: AgentData, agents: AgentSet, ceiling: number): Finding[] {
  const most = Math.min(agent.limits.maxDepth, ceiling)
  const ways = pathsFrom(agent, agents).map(({ path }) => path.split('/'))
  const longest = ways.reduce((one, other) => (other.length > one.length ? other : one))
  const levels = longest.length - 1
  if (levels <= most) return []
  return [
    warningAt(agent, 'limits.maxDepth', {
      code: 'DEPTH_UNREACHABLE',
      detail: `\`${longest.join('/')}\` is ${levels} levels deep, but runs of \`${agent.id}\` go ${most} deep: \`${longest[most + 1]}\` is not offered there.`,
      hint:
        ceiling < agent.limits.maxDepth
          ? "Raise the configuration's `limits.maxDepth`."
          : 'Raise `limits.maxDepth`, or shorten the way.',
    }),
  ]
}
