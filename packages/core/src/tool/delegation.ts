/** What every edge that calls a child has in common: what is bound, what the model supplies, and when the child is not offered. */
import { type AgentData, MissingAgentParameterError, type Parameter, type SubAgentEdge } from '@witan/protocol'
import type { AnswerTerms, CallOverrides } from '@witan/protocol/entries'
import { fitsType, typeToJsonSchema } from '@witan/protocol/schemas'
import { bind, type Binding, sameValues, withGenerated } from '../parameter/bind.ts'
import type { Bound } from '../parameter/parameter.ts'
import { failed, pending } from './outcome.ts'
import type { JsonSchema } from './schema.ts'
import type { ArgumentCheck, Caller, ImmediateTool, Spawn, Tool, ToolRequest } from './tool.ts'

/** Finds the definition that a run keeps of an agent, or null where it is gone or disabled. */
export type FindAgent = (caller: Caller, id: string) => AgentData | null

/** What tells one style of edge from another. */
export interface DelegationStyle {
  /** The argument that carries the task, and what the model reads of it. */
  readonly task: { readonly name: string; readonly description: string }
  /** What the calling model reads when it chooses. */
  describe(edge: SubAgentEdge, child: AgentData, caller: Caller): string
  /** How the caller reads the answer; undefined for the answer as it is. */
  answer(edge: SubAgentEdge): AnswerTerms | undefined
}

/** The child of an edge as a tool of its caller, named by its id [R02]. */
export function delegationTool(
  edge: SubAgentEdge,
  caller: Caller,
  on: { style: DelegationStyle; find: FindAgent },
): Tool {
  const child = on.find(caller, edge.agent)
  if (child === null) return refusing(edge, goneText(edge))
  if (caller.depth >= caller.maxDepth) {
    return refusing(
      edge,
      `delegation to \`${edge.agent}\` would go deeper than ${caller.maxDepth}; answer with what you have.`,
      'DEPTH_EXCEEDED',
    )
  }
  const binding = bind(child.parameters, { parent: caller.parameters, given: caller.given, map: edge.map })
  const missing = binding.missing[0]
  if (missing !== undefined) return untrusted(edge, missing, caller)
  const description = on.style.describe(edge, child, caller)
  const isThere = () => on.find(caller, edge.agent) !== null
  return offered(edge, { style: on.style, child, binding, description, isThere })
}

function goneText(edge: SubAgentEdge): string {
  return `\`${edge.agent}\` is not available: it was deleted or disabled.`
}

interface Delegation {
  readonly style: DelegationStyle
  readonly child: AgentData
  readonly binding: Binding
  readonly description: string
  /** False once it was deleted or disabled while its caller was at work [E6]. */
  isThere(): boolean
}

function offered(edge: SubAgentEdge, delegation: Delegation): ImmediateTool {
  const { style, child, binding, description, isThere } = delegation
  const { generate } = binding
  return {
    name: edge.agent,
    offer: { name: edge.agent, description, parameters: schemaOf(edge, delegation) },
    notice: null,
    effect: 'none',
    bound: [...binding.bound.keys()],
    immediate: true,
    check: (args) => checkDelegation(edge, args, { style, generate }),
    invoke(request, caller, verbs) {
      if (!isThere()) return failed('TOOL_UNKNOWN', goneText(edge))
      const spawn = spawnOf(edge, style, request)
      if (repeats(caller, spawn, withGenerated(binding, spawn.generated))) {
        return failed(
          'DEPTH_EXCEEDED',
          `\`${child.id}\` is already at work on the same message above you; answer it yourself or ask something else.`,
        )
      }
      const background =
        edge.blocking === 'never' || (edge.blocking === 'model' && request.arguments['blocking'] === false)
      if (verbs.spawn(spawn, { background })) return pending
      return failed(
        'BUDGET_EXCEEDED',
        `The budget leaves no room for \`${child.id}\` in the background; do it yourself.`,
      )
    },
  }
}

function spawnOf(edge: SubAgentEdge, style: DelegationStyle, request: ToolRequest): Spawn {
  const { [style.task.name]: message, model, temperature, blocking: _, ...generated } = request.arguments
  const overrides: CallOverrides = {
    ...(model === undefined ? {} : { model: String(model) }),
    ...(temperature === undefined ? {} : { temperature: Number(temperature) }),
  }
  const answer = style.answer(edge)
  return {
    agent: edge.agent,
    message: String(message),
    generated: Object.keys(generated).length === 0 ? null : generated,
    map: edge.map,
    history: edge.history,
    ...(answer === undefined ? {} : { answer }),
    ...(Object.keys(overrides).length === 0 ? {} : { overrides }),
  }
}

const schemas = new WeakMap<SubAgentEdge, { readonly child: AgentData; readonly made: Map<string, JsonSchema> }>()

/** The schemas of an edge by what the model must supply: made anew when the child changes [C8]. */
function schemasOf(edge: SubAgentEdge, child: AgentData): Map<string, JsonSchema> {
  const known = schemas.get(edge)
  if (known?.child === child) return known.made
  const made = new Map<string, JsonSchema>()
  schemas.set(edge, { child, made })
  return made
}

/** The task, what the calling model must supply, and what it may choose; bound names are never in it [P5]. */
function schemaOf(edge: SubAgentEdge, { style, child, binding: { generate } }: Delegation): JsonSchema {
  const known = schemasOf(edge, child)
  const signature = generate.map(({ name }) => name).join(' ')
  const found = known.get(signature)
  if (found !== undefined) return found
  const needed: Record<string, unknown> = { [style.task.name]: { type: 'string', description: style.task.description } }
  for (const { name, type, description } of generate) {
    needed[name] = description === '' ? typeToJsonSchema(type) : { ...typeToJsonSchema(type), description }
  }
  const made = Object.freeze({
    type: 'object',
    properties: { ...needed, ...choices(edge) },
    required: Object.keys(needed),
    additionalProperties: false,
  })
  known.set(signature, made)
  return made
}

/** What the edge lets the calling model choose for this one delegation [F14, D22]. */
function choices({ overrides, blocking }: SubAgentEdge): Record<string, unknown> {
  const properties: Record<string, unknown> = {}
  if (blocking === 'model') {
    const description = 'False: it works in the background and you go on at once. Otherwise you wait for its answer.'
    properties['blocking'] = { type: 'boolean', description }
  }
  const models = overrides?.model ?? []
  if (models.length > 0) {
    properties['model'] = { type: 'string', enum: models, description: 'Another model for this one task.' }
  }
  const range = overrides?.temperature ?? null
  if (range !== null) {
    const [minimum, maximum] = range
    properties['temperature'] = {
      type: 'number',
      minimum,
      maximum,
      description: 'Another temperature for this one task.',
    }
  }
  return properties
}

const anyInWords = 'a string, number, boolean, null, or an array of one of the first three'

function checkDelegation(
  { overrides }: SubAgentEdge,
  args: Readonly<Record<string, unknown>>,
  { style, generate }: { readonly style: DelegationStyle; readonly generate: readonly Parameter[] },
): ArgumentCheck {
  const issues: string[] = []
  const task = args[style.task.name]
  if (typeof task !== 'string' || task.trim() === '') issues.push(`\`${style.task.name}\`: expected the task as text`)
  for (const { name, type } of generate) {
    if (!fitsType(type, args[name])) issues.push(`\`${name}\`: expected ${type === 'any' ? anyInWords : type}`)
  }
  const { model, temperature, blocking } = args
  if (blocking !== undefined && typeof blocking !== 'boolean') issues.push('`blocking`: expected true or false')
  if (model !== undefined && !overrides?.model.includes(model as string)) {
    issues.push(`\`model\`: expected one of ${(overrides?.model ?? []).join(', ')}`)
  }
  const [least, most] = overrides?.temperature ?? [0, 0]
  if (temperature !== undefined && !(typeof temperature === 'number' && temperature >= least && temperature <= most)) {
    issues.push(`\`temperature\`: expected a number from ${least} to ${most}`)
  }
  return issues.length === 0 ? { ok: true, arguments: args } : { ok: false, issues }
}

/** A live ancestor with the same agent, message and values: going on could only repeat [C1]. */
function repeats(caller: Caller, { agent, message }: Spawn, parameters: Bound): boolean {
  return caller.lineage.some(
    (one) => one.agent === agent && normal(one.message) === normal(message) && sameValues(one.parameters, parameters),
  )
}

function normal(message: string): string {
  return message.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase()
}

/** A delegate that is not offered; called all the same it answers why, and the run goes on. */
function refusing(
  edge: SubAgentEdge,
  why: string,
  code: 'DEPTH_EXCEEDED' | 'TOOL_UNKNOWN' = 'TOOL_UNKNOWN',
): ImmediateTool {
  return { ...hidden(edge, `Not offered: ${why}`), invoke: () => failed(code, why) }
}

/** A trusted value is missing: not offered, with the reason told; a call all the same fails the run [C16, R42]. */
function untrusted(edge: SubAgentEdge, missing: Parameter, caller: Caller): ImmediateTool {
  const path = `${caller.agentPath}/${edge.agent}`
  const why = `\`${path}\` needs \`${missing.name}\` from the caller; the model may not supply it.`
  const invoke = (_request: ToolRequest): never => {
    throw new MissingAgentParameterError(why, {
      path: `parameters.${missing.name}`,
      hint: 'Pass it when starting the conversation.',
    })
  }
  return { ...hidden(edge, `Not offered: ${why}`), invoke }
}

function hidden(edge: SubAgentEdge, notice: string): Omit<ImmediateTool, 'invoke'> {
  return {
    name: edge.agent,
    offer: null,
    notice,
    effect: 'none',
    bound: [],
    immediate: true,
    check: (args) => ({ ok: true, arguments: args }),
  }
}
