/** What a workflow cannot say: keys of an agent with a model, and lists that make no sense. */
import { type AgentData, WitanError } from '@witan/protocol'
import { agentSchema } from '@witan/protocol/schemas'

/** The keys that mean something in a workflow. */
const keysOfWorkflows: readonly string[] = [
  'id',
  'name',
  'description',
  'parents',
  'access',
  'address',
  'parameters',
  'hooks',
  'demands',
  'acceptTransfer',
  'workflow',
  'anonymizeUsers',
  'interruptionExpiresInSeconds',
  'limits',
  'onExhausted',
  'disabled',
]

/** Keys that only an agent with a model has, those of features to come included. */
const keysOfModels = [
  ...Object.keys(agentSchema.shape).filter((key) => !keysOfWorkflows.includes(key)),
  'remotes',
  'mcp',
]

let defaults: AgentData | undefined

/** A workflow as it is without any of these keys, made once. */
function silent(): AgentData {
  defaults ??= agentSchema.parse({ id: 'x', workflow: { kind: 'sequence', agents: ['y'] } })
  return defaults
}

/** Each problem of a workflow. A key with its default says nothing and is accepted, so that what was read can be saved again. */
export function workflowProblems(input: object & { readonly workflow: object }): WitanError[] {
  const { id } = input as { id?: unknown }
  const who = typeof id === 'string' ? `Agent \`${id.slice(0, 80)}\`` : 'The agent'
  const wrong = (path: string, what: string, hint: string) =>
    new WitanError('AGENT_INVALID', `${who}: ${what}.`, { path, hint })
  const foreign = keysOfModels.filter((key) => says(input, key))
  return [
    ...foreign.map((key) =>
      wrong(
        key,
        `\`${key}\` has no meaning in a workflow`,
        `A workflow has no model of its own: take \`${key}\` out, or put it on one of its agents.`,
      ),
    ),
    ...listProblems(input.workflow, id, wrong),
  ]
}

function says(input: object, key: string): boolean {
  const value = (input as Record<string, unknown>)[key]
  if (value === undefined || value === null) return false
  return JSON.stringify(value) !== JSON.stringify((silent() as Record<string, unknown>)[key])
}

type Wrong = (path: string, what: string, hint: string) => WitanError

function listProblems(workflow: object, id: unknown, wrong: Wrong): WitanError[] {
  const { kind, agents, exitBy } = workflow as { kind?: unknown; agents?: unknown; exitBy?: unknown }
  const listed = (Array.isArray(agents) ? agents : []).map((step: unknown) =>
    typeof step === 'string' ? step : (step as { agent?: unknown } | null)?.agent,
  )
  const found = listed.flatMap((agent, index): WitanError[] => {
    const path = `workflow.agents.${index}`
    if (agent === id && id !== undefined)
      return [wrong(path, `\`${path}\` is the workflow itself`, 'Take it out; a `loop` repeats its agents by rounds.')]
    if (kind !== 'parallel' || listed.indexOf(agent) === index) return []
    const hint = 'A parallel runs an agent once; use a `sequence` or a `loop`, or a second agent.'
    return [wrong(path, `\`${path}\` names \`${String(agent).slice(0, 80)}\` a second time`, hint)]
  })
  if (kind === 'loop' || exitBy === undefined || exitBy === null) return found
  return [...found, wrong('workflow.exitBy', '`workflow.exitBy` is for loops', 'Take it out, or set `kind: "loop"`.')]
}
