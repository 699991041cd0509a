/** Checks approvals: the agent has each tool, and each condition can be read and can be met. */
import { asksPeople, peopleTools } from '../../parameter/known-people.ts'
import type { AgentData, Finding } from '@witan/protocol'
import { knowledgeUses } from '@witan/protocol/knowledge'
import { mcpUses } from '@witan/protocol/mcp'
import { planTool } from '@witan/protocol/plan'
import { agentEdgesOf, edgesOf, transferTool } from '@witan/protocol/edges'
import { type JsonSchema, propertyNames } from '../../tool/schema.ts'
import { namesOf } from '../../tool/schema-names.ts'
import { nearest } from '../../identity/nearest.ts'
import { type PeerMessage, peerMessagesIn } from '../protocol/peer-messages.ts'
import type { AgentSet } from './graph.ts'
import { errorAt, type Refusal, type Surroundings } from './names.ts'
import { takesObject, unreadable } from './queries.ts'
import type { Pausable } from '../../identity/pausable.ts'

/** Findings about the approvals of one agent. */
export function* checkApprovals(agent: AgentData, agents: AgentSet, around: Surroundings): Pausable<Finding[]> {
  const { tools, protocols } = around
  const messages = peerMessagesIn(agent, { agents, protocols })
  const findings: Finding[] = []
  for (const [index, approval] of agent.approvals.entries()) {
    yield
    const isPlain = typeof approval === 'string'
    const name = isPlain ? approval : approval.tool
    const path = `approvals.${index}`
    const own = ownTools(agent, messages)
    if (!hasTool(agent, own, name))
      findings.push(errorAt(agent, isPlain ? path : `${path}.tool`, noOwnTool(agent, name, own)))
    else if (!isPlain && approval.when !== 'code')
      findings.push(
        ...(yield* conditionFindings({ agent, tool: name, path: `${path}.when`, around }, approval.when, () =>
          argumentsOf(agent, name, { agents, tools, messages }),
        )),
      )
  }
  return findings
}

/** The tools that an agent can call, peers' messages included, except most built-in ones. */
export function ownTools(agent: AgentData, messages: readonly PeerMessage[]): readonly string[] {
  return [...toolNames(agent), ...messages.map(({ tool }) => tool)]
}

/** Whether an agent has a tool of that name: one of `own`, or a built-in one. */
export function hasTool(agent: AgentData, own: readonly string[], name: string): boolean {
  return own.includes(name) || builtInsOf(agent).includes(name) || isOfServer(agent, name)
}

/** Whether a tool of an MCP server of the agent may have that name: which tools a server has is known once it is asked. */
function isOfServer(agent: AgentData, name: string): boolean {
  return mcpUses(agent).some(({ server }) => name.startsWith(`${server}_`))
}

/** The tools that an agent can call, except built-in ones other than the one that hands over. */
function toolNames(agent: AgentData): readonly string[] {
  const { queries, actions, tools } = agent
  return [
    ...new Set(edgesOf(agent).flatMap((edge) => edge.tool ?? [])),
    ...[...queries, ...actions].map(({ name }) => name),
    ...tools,
  ]
}

/** The built-in tools of an agent. Whether it is in a loop depends on who lists it. */
function builtInsOf(agent: AgentData): readonly string[] {
  const { questions, users, endToolMode, artifacts, enablePlanning, memory, transferReach } = agent
  return [
    'exit_loop',
    ...(questions ? ['ask_question'] : []),
    ...(asksPeople({ users }) ? peopleTools : []),
    ...(endToolMode ? ['end_tool_mode'] : []),
    ...(artifacts ? ['save_artifact', 'read_artifact'] : []),
    ...(knowledgeUses(agent).length > 0 ? ['search_knowledge'] : []),
    ...((memory ?? null) === null ? [] : ['remember', 'recall']),
    ...(enablePlanning ? [planTool] : []),
    ...(transferReach === 'tree' ? [transferTool] : []),
    ...(edgesOf(agent).some(({ mayRunInBackground }) => mayRunInBackground) ? taskTools : []),
  ]
}

const taskTools = [
  'get_background_sub_agent_result',
  'fetch_sub_agent_progress',
  'message_sub_agent',
  'cancel_background_sub_agent',
]

function noOwnTool(agent: AgentData, name: string, own: readonly string[]): Refusal {
  const near = nearest(name, own)
  const list = own.length === 0 ? 'It has no tools.' : `Its tools: ${own.join(', ')}.`
  return {
    code: 'TOOL_UNKNOWN',
    detail: `Agent \`${agent.id}\` requires approval of \`${name}\`, which is not one of its tools.`,
    hint: near === null ? list : `Did you mean \`${near}\`?`,
  }
}

interface ConditionAt {
  readonly agent: AgentData
  readonly tool: string
  readonly path: string
  readonly around: Surroundings
}

/** A condition on a name that is not an argument may let every call pass, or make every call wait. */
function* conditionFindings(
  { agent, tool, path, around }: ConditionAt,
  when: JsonSchema,
  argumentsOfTool: () => readonly string[] | null,
): Pausable<Finding[]> {
  const broken = yield* unreadable({ agent, path, patterns: around.patterns }, when)
  if (broken.length > 0) return broken
  if (!takesObject(when)) {
    const detail = `The condition of \`${tool}\` is never true: arguments are always an object.`
    const hint = 'Write `{ "type": "object", "properties": { … } }`.'
    return [errorAt(agent, path, { code: 'AGENT_INVALID', detail, hint })]
  }
  const known = argumentsOfTool()
  const required = Array.isArray(when['required']) ? when['required'].map(String) : []
  const names = new Set([...propertyNames(when), ...required])
  return [...names].flatMap((name): Finding[] => {
    if (known === null || known.includes(name)) return []
    const near = nearest(name, known)
    const list = known.length === 0 ? 'It has none.' : `Its arguments: ${known.join(', ')}.`
    return [
      {
        code: 'APPROVAL_NAME_UNKNOWN',
        severity: 'warning',
        agent: agent.id,
        path,
        detail: `The condition of \`${tool}\` uses \`${name}\`, which is not an argument that its model writes.`,
        hint: near === null ? list : `Did you mean \`${near}\`?`,
      },
    ]
  })
}

/**
 * The names that a model may fill in; null: any name. Bound names are not included, because a condition never sees their
 * values.
 */
function argumentsOf(
  agent: AgentData,
  tool: string,
  of: Pick<Surroundings, 'tools'> & { readonly agents: AgentSet; readonly messages: readonly PeerMessage[] },
): readonly string[] | null {
  const { agents, tools, messages } = of
  const sent = messages.find((one) => one.tool === tool)
  if (sent !== undefined) return propertyNames(sent.message.schema)
  const remote = edgesOf(agent).find((one) => one.target === 'remote' && one.tool === tool)
  if (remote !== undefined) return remote.arguments
  const edges = agentEdgesOf(agent).filter((one) => one.tool === tool)
  if (edges.length > 0) {
    const targets = edges.map((edge) => agents.get(edge.agent))
    if (targets.includes(undefined)) return null
    const needed = edges.some(({ mayGenerate }) => !mayGenerate)
      ? []
      : targets.flatMap((target) => target?.parameters.map(({ name }) => name) ?? [])
    return [...edges.flatMap((edge) => edge.arguments), ...needed]
  }
  const own = [...agent.queries, ...agent.actions].find(({ name }) => name === tool)
  if (own === undefined && builtInsOf(agent).includes(tool)) return null
  const schema = own === undefined ? tools.get(tool)?.jsonSchema : (own.parametersSchema ?? {})
  if (schema === undefined || namesOf(schema).isOpen) return null
  const bound = new Set(agent.parameters.map(({ name }) => name))
  return propertyNames(schema).filter((name) => !bound.has(name))
}
