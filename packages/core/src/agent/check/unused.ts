/** Warns about declarations without an effect: unused values, dangling names, and delegates and levels that no run reaches. */
import { asksPeople, peopleTools } from '../../parameter/known-people.ts'
import type { AgentData, Finding } from '@witan/protocol'
import type { WarningFinding } from '@witan/protocol/schemas'
import { knowledgeUses } from '@witan/protocol/knowledge'
import { agentEdgesOf, edgesOf, edgeWords, mappedName, transferTool } from '@witan/protocol/edges'
import { nearest } from '../../identity/nearest.ts'
import { type PeerMessage, peerMessagesIn } from '../protocol/peer-messages.ts'
import { type AgentSet, pathsFrom } from './graph.ts'
import type { Surroundings } from './names.ts'
import type { Pausable } from '../../identity/pausable.ts'

/** Warnings about one agent. `maxDepth` is the ceiling of the runtime. */
export function* checkUnused(
  agent: AgentData,
  agents: AgentSet,
  { maxDepth, checked, protocols }: Pick<Surroundings, 'checked' | 'protocols'> & { readonly maxDepth: number },
): Pausable<Finding[]> {
  return [
    ...unusedParameters(agent, agents),
    ...unusedQueries(agent),
    ...(yield* unknownMaps(agent, agents)),
    ...closedDelegates(agent, agents),
    // A save skips this: a child may be saved before its parents, and the stored warning would soon be wrong.
    ...(checked === undefined ? [] : yield* unknownParents(agent, agents)),
    ...modesWithoutEffect(agent, offersOf(agent, peerMessagesIn(agent, { agents, protocols }))),
    ...(yield* tooDeep(agent, agents, maxDepth)),
  ]
}

function warningAt(agent: AgentData, path: string, what: Pick<WarningFinding, 'code' | 'detail' | 'hint'>): Finding {
  return { ...what, severity: 'warning', agent: agent.id, path }
}

/** A parameter that no model, query, action, tool, filter or sub-agent uses. Actions and tools get every bound parameter. */
function unusedParameters(agent: AgentData, agents: AgentSet): Finding[] {
  if (agent.actions.length + agent.tools.length > 0) return []
  const used = new Set(agent.queries.flatMap(({ query }) => [...query.matchAll(/\$(\w+)/g)].map(([, name]) => name)))
  for (const { filter } of knowledgeUses(agent)) for (const name of Object.values(filter)) used.add(name)
  for (const edge of agentEdgesOf(agent)) {
    for (const { name } of agents.get(edge.agent)?.parameters ?? []) used.add(mappedName(edge, name) ?? '')
  }
  return agent.parameters.flatMap(({ name, sendToModel }, index) =>
    sendToModel || used.has(name)
      ? []
      : [
          warningAt(agent, `parameters.${index}`, {
            code: 'PARAM_UNUSED',
            detail: `\`${name}\` is hidden from the model of \`${agent.id}\`, and no query, action, tool, filter or sub-agent takes it.`,
            hint: `Take it out, or use it, such as \`$${name}\` in a query.`,
          }),
        ],
  )
}

/** A query that no model may call and that is not part of the initial context [Rb40]. */
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

function* unknownMaps(agent: AgentData, agents: AgentSet): Pausable<Finding[]> {
  const own = agent.parameters.map(({ name }) => name)
  const findings: Finding[] = []
  for (const edge of agentEdgesOf(agent)) {
    yield
    const names = agents.get(edge.agent)?.parameters.map(({ name }) => name)
    if (names === undefined) continue
    findings.push(
      ...Object.entries(edge.map).flatMap(([name, source]) => {
        const at = `${edge.agentAt.replace(/\.agent$/, '')}.map.${name}`
        if (!names.includes(name)) {
          const detail = `\`${agent.id}\` maps \`${name}\` for \`${edge.agent}\`, which declares no such parameter.`
          const known = names.length === 0 ? 'It declares none.' : `It declares: ${names.join(', ')}.`
          return [warningAt(agent, at, { code: 'MAP_NAME_UNKNOWN', detail, hint: meant(name, names) ?? known })]
        }
        if (source === null || own.includes(source)) return []
        const detail = `\`${agent.id}\` maps \`${name}\` of \`${edge.agent}\` to \`${source}\`, which it does not declare: only a conversation can supply it.`
        const hint =
          meant(source, own) ?? `Declare \`${source}\` on \`${agent.id}\`, or pass it at the start of conversations.`
        return [warningAt(agent, at, { code: 'MAP_NAME_UNKNOWN', detail, hint })]
      }),
    )
  }
  return findings
}

function meant(name: string, known: readonly string[]): string | null {
  const near = nearest(name, known)
  return near === null ? null : `Did you mean \`${near}\`?`
}

function closedDelegates(agent: AgentData, agents: AgentSet): Finding[] {
  return agentEdgesOf(agent).flatMap(({ kind, agent: id, agentAt }) =>
    agents.get(id)?.disabled === true
      ? [
          warningAt(agent, agentAt, {
            code: 'DELEGATE_UNAVAILABLE',
            detail: `\`${agent.id}/${id}\` can never ${edgeWords[kind].passive}: \`${id}\` is disabled.`,
            hint: `Enable \`${id}\`, or take it out of \`${agent.id}\`.`,
          }),
        ]
      : [],
  )
}

function* unknownParents(agent: AgentData, agents: AgentSet): Pausable<Finding[]> {
  const others = [...agents.keys()].filter((id) => id !== agent.id)
  const findings: Finding[] = []
  for (const [index, id] of (agent.parents ?? []).entries()) {
    if (agents.has(id)) continue
    yield
    findings.push(
      warningAt(agent, `parents.${index}`, {
        code: 'AGENT_REF_UNKNOWN',
        detail: `\`${agent.id}\` lets \`${id}\` list it, which does not exist.`,
        hint: meant(id, others) ?? `Create \`${id}\`, or take it out.`,
      }),
    )
  }
  return findings
}

/** The tools that the model of an agent may be offered. */
function offersOf(agent: AgentData, messages: readonly PeerMessage[]): readonly string[] {
  const { queries, actions, tools, questions, users } = agent
  return [
    ...new Set(edgesOf(agent).flatMap((edge) => edge.tool ?? [])),
    ...(agent.transferReach === 'tree' && agent.transfers.length === 0 ? [transferTool] : []),
    ...[...queries.filter(({ allowModelQueries }) => allowModelQueries), ...actions].map(({ name }) => name),
    ...tools,
    ...(questions ? ['ask_question'] : []),
    ...(asksPeople({ users }) ? peopleTools : []),
    ...messages.map(({ tool }) => tool),
  ]
}

/** Modes that switch off what there is, or that need what is not there. */
function modesWithoutEffect(agent: AgentData, offered: readonly string[]): Finding[] {
  const { id, toolMode, outputMode, outputSchema } = agent
  const findings: Finding[] = []
  if (toolMode === 'none' && offered.length > 0)
    findings.push(
      warningAt(agent, 'toolMode', {
        code: 'TOOLS_OFF',
        detail: `\`${id}\` has \`toolMode: "none"\`, so its model can never call ${offered.map((name) => `\`${name}\``).join(', ')}.`,
        hint: 'Set `toolMode: "auto"`, or take them out.',
      }),
    )
  if (toolMode === 'force' && offered.length === 0)
    findings.push(
      warningAt(agent, 'toolMode', {
        code: 'TOOL_MODE_WITHOUT_TOOLS',
        detail: `\`${id}\` has \`toolMode: "force"\` and no tool: its model answers in text.`,
        hint: 'Give it a tool, or set `toolMode: "auto"`.',
      }),
    )
  if (outputMode === 'tool' && outputSchema === null)
    findings.push(
      warningAt(agent, 'outputMode', {
        code: 'OUTPUT_MODE_WITHOUT_SCHEMA',
        detail: `\`${id}\` has \`outputMode: "tool"\` and no output schema: there is no structured answer to request.`,
        hint: 'Give it an `outputSchema` or an `outputSample`, or take `outputMode` out.',
      }),
    )
  return findings
}

/** Compares the longest path with the maximum depth of a run of this root [C2]. */
function* tooDeep(agent: AgentData, agents: AgentSet, ceiling: number): Pausable<Finding[]> {
  const most = Math.min(agent.limits.maxDepth, ceiling)
  const ways = yield* pathsFrom(agent, agents)
  const { path, levels } = ways.reduce((one, other) => (other.levels > one.levels ? other : one))
  if (levels <= most) return []
  return [
    warningAt(agent, 'limits.maxDepth', {
      code: 'DEPTH_UNREACHABLE',
      detail: `\`${path}\` is ${levels} levels deep, but runs of \`${agent.id}\` go ${most} deep: \`${path.split('/')[most + 1]}\` is not offered there.`,
      hint:
        ceiling < agent.limits.maxDepth
          ? "Raise the configuration's `limits.maxDepth`."
          : 'Raise `limits.maxDepth`, or shorten the path.',
    }),
  ]
}
