/**
 * What all edges that call a child share: which values are bound, which the model supplies, and when the child is not
 * offered.
 */
import { type AgentData, MissingAgentParameterError, type Parameter, type SubAgentEdge } from '@witan/protocol'
import { isNumberAsText, numberAsText } from '@witan/protocol/digits'
import type { AnswerTerms, CallOverrides } from '@witan/protocol/entries'
import { fitsType, typeToJsonSchema } from '@witan/protocol/schemas'
import type { ToolKind } from '@witan/protocol/tools'
import { bind, type Binding, sameValues, withGenerated } from '../parameter/bind.ts'
import type { Bound } from '../parameter/parameter.ts'
import { failed, type ResultOutcome } from './outcome.ts'
import { type JsonSchema, refused } from './schema.ts'
import type { ArgumentCheck, Caller, ImmediateTool, Tool, ToolRequest, ToolSource } from './tool.ts'
import type { Spawn } from './waiting.ts'

/** Finds the definition of an agent at the revision that a run keeps; null if it is deleted or disabled. */
export type FindAgent = (caller: Caller, id: string) => AgentData | null

/** What differs between the styles of edges. */
export interface DelegationStyle {
  readonly kind: ToolKind
  /** The argument that holds the task, and its description for the model. */
  readonly task: { readonly name: string; readonly description: string }
  /** The description that the calling model reads when it chooses a tool. */
  describe(edge: SubAgentEdge, child: AgentData, caller: Caller): string
  /** How the caller reads the answer; undefined: unchanged. */
  answer(edge: SubAgentEdge): AnswerTerms | undefined
}

/** The target of an edge: its tool, its id, and the map of its parameters. */
interface EdgeTarget {
  readonly tool: string
  readonly kind: ToolKind
  /** What people read as behind the tool: the agent, the protocol or the server. */
  readonly of: string
  readonly agent: string
  readonly map: SubAgentEdge['map']
}

/** A callable target with its bindings, or a replacement tool that says why the target cannot be called. */
export type Reached =
  | { readonly ok: true; readonly child: AgentData; readonly binding: Binding }
  | { readonly ok: false; readonly tool: ImmediateTool }

/** Looks up a target and binds its parameters. Refuses a target that is gone, would be too deep, or lacks a trusted value. */
export function reachTarget(target: EdgeTarget, caller: Caller, find: FindAgent): Reached {
  const child = find(caller, target.agent)
  if (child === null) return { ok: false, tool: refusing(target, goneText(target)) }
  if (caller.depth >= caller.maxDepth) {
    const why = `delegation to \`${target.agent}\` would go deeper than ${caller.maxDepth}; answer with what you have.`
    return { ok: false, tool: refusing(target, why, 'DEPTH_EXCEEDED') }
  }
  const binding = bindChild(caller, child, target.map)
  const missing = binding.missing[0]
  if (missing !== undefined) return { ok: false, tool: untrusted(target, missing, caller) }
  return { ok: true, child, binding }
}

/**
 * Why a call may not start this child: its agent is gone by now [E6], or the call would repeat one in progress [C1]. Null
 * if it may start.
 */
export function refusalOf(
  { target, spawn, binding }: { readonly target: EdgeTarget; readonly spawn: Spawn; readonly binding: Binding },
  caller: Caller,
  find: FindAgent,
): ResultOutcome | null {
  if (find(caller, target.agent) === null) return failed('TOOL_UNKNOWN', goneText(target))
  if (!repeats(caller, spawn, withGenerated(binding, spawn.generated))) return null
  const detail = `\`${target.agent}\` is already at work on the same message above you; answer it yourself or ask something else.`
  return failed('DEPTH_EXCEEDED', detail)
}

/** A tool that is the same for every caller, as long as its child and its description stay. */
interface KeptTool {
  readonly child: AgentData
  readonly description: string
  readonly tool: ImmediateTool
}

/** The children of an agent as its tools, by the edges of one style. */
export function delegationTools(
  edges: SubAgentEdge['style'],
  of: { readonly style: DelegationStyle; readonly find: FindAgent },
): ToolSource {
  const offering: Offering = { style: of.style, find: of.find, kept: new WeakMap() }
  return (caller) =>
    caller.agent.subAgents.flatMap((edge) => (edge.style === edges ? delegationTool(edge, caller, offering) : []))
}

/** One style of edges, and the tools that are the same for every caller. */
interface Offering {
  readonly style: DelegationStyle
  readonly find: FindAgent
  readonly kept: WeakMap<SubAgentEdge, KeptTool>
}

/** The child of an edge as a tool of its caller, named by the child's id [R02]. */
function delegationTool(edge: SubAgentEdge, caller: Caller, { style, find, kept }: Offering): Tool {
  const target = { tool: edge.agent, kind: style.kind, of: edge.agent, agent: edge.agent, map: edge.map }
  const reached = reachTarget(target, caller, find)
  if (!reached.ok) return reached.tool
  const { child, binding } = reached
  const description = style.describe(edge, child, caller)
  const known = kept.get(edge)
  if (known?.child === child && known.description === description) return known.tool
  const refusal = (spawn: Spawn, from: Caller) => refusalOf({ target, spawn, binding }, from, find)
  const tool = offered(edge, { style, child, binding, description, refusal })
  // Values differ from caller to caller; where there are none, the tool does not.
  if (child.parameters.length === 0) kept.set(edge, { child, description, tool })
  return tool
}

/** Binds a child's parameters below `caller`. */
export function bindChild(
  { parameters, conversationValues }: Caller,
  child: AgentData,
  map: SubAgentEdge['map'] = {},
): Binding {
  return bind(child.parameters, { parent: parameters, conversationValues, map })
}

function goneText({ agent }: EdgeTarget): string {
  return `\`${agent}\` is not available: it was deleted or disabled.`
}

interface Delegation {
  readonly style: DelegationStyle
  readonly child: AgentData
  readonly binding: Binding
  readonly description: string
  refusal(spawn: Spawn, caller: Caller): ResultOutcome | null
}

function offered(edge: SubAgentEdge, delegation: Delegation): ImmediateTool {
  const { style, binding, description, refusal } = delegation
  const { generate } = binding
  return {
    name: edge.agent,
    kind: style.kind,
    of: edge.agent,
    offer: { name: edge.agent, description, parameters: schemaOf(edge, delegation) },
    notice: null,
    effect: 'none',
    bound: [...binding.bound.keys()],
    immediate: true,
    check: (args) => checkDelegation(edge, args, { style, generate }),
    invoke(request, caller) {
      const spawn = spawnOf(edge, style, request)
      const refused = refusal(spawn, caller)
      if (refused !== null) return refused
      const background =
        edge.blocking === 'never' || (edge.blocking === 'model' && request.arguments['blocking'] === false)
      if (!background) return { kind: 'pending', child: spawn }
      const why = `The budget leaves no room for \`${edge.agent}\` in the background; do it yourself.`
      return { kind: 'pending', child: spawn, background: { noBudget: failed('BUDGET_EXCEEDED', why) } }
    },
  }
}

function spawnOf(edge: SubAgentEdge, style: DelegationStyle, request: ToolRequest): Spawn {
  const { arguments: args } = request
  const answer = style.answer(edge)
  const overrides = overridesIn(args)
  const spawn: Spawn = {
    agent: edge.agent,
    message: String(args[style.task.name]),
    generated: generatedIn(args, style.task.name),
    map: edge.map,
    history: edge.history,
  }
  if (answer === undefined && overrides === null) return spawn
  return { ...spawn, ...(answer && { answer }), ...(overrides && { overrides }) }
}

/** What the model chose for this one delegation; null if nothing. */
function overridesIn({ model, temperature }: ToolRequest['arguments']): CallOverrides | null {
  if (model === undefined && temperature === undefined) return null
  return {
    ...(model === undefined ? {} : { model: String(model) }),
    ...(temperature === undefined ? {} : { temperature: Number(temperature) }),
  }
}

/** The arguments that are values for the child; null if there are none. */
function generatedIn(args: ToolRequest['arguments'], task: string): Spawn['generated'] {
  for (const name in args) {
    if (name === task || name === 'model' || name === 'temperature' || name === 'blocking') continue
    const { [task]: _task, model: _model, temperature: _temperature, blocking: _blocking, ...generated } = args
    return generated
  }
  return null
}

const schemas = new WeakMap<SubAgentEdge, { readonly child: AgentData; readonly made: Map<string, JsonSchema> }>()

/** The schemas of an edge, by the parameters that the model must supply. Generated again when the child changes [C8]. */
function schemasOf(edge: SubAgentEdge, child: AgentData): Map<string, JsonSchema> {
  const known = schemas.get(edge)
  if (known?.child === child) return known.made
  const made = new Map<string, JsonSchema>()
  schemas.set(edge, { child, made })
  return made
}

/** The task, the values that the calling model must supply, and its choices. Bound names are never in the schema [P5]. */
function schemaOf(edge: SubAgentEdge, { style, child, binding: { generate } }: Delegation): JsonSchema {
  const known = schemasOf(edge, child)
  const signature = generate.map(({ name }) => name).join(' ')
  const found = known.get(signature)
  if (found !== undefined) return found
  const task = { [style.task.name]: { type: 'string', description: style.task.description } }
  const needed = { ...task, ...neededProperties(generate) }
  const made = Object.freeze({
    type: 'object',
    properties: { ...needed, ...choices(edge) },
    required: Object.keys(needed),
    additionalProperties: false,
  })
  known.set(signature, made)
  return made
}

/** The values that the calling model must supply for a target, as properties of a schema. */
function neededProperties(generate: readonly Parameter[]): Record<string, unknown> {
  const properties: Record<string, unknown> = {}
  for (const { name, type, description } of generate) {
    properties[name] = description === '' ? typeToJsonSchema(type) : { ...typeToJsonSchema(type), description }
  }
  return properties
}

/** Problems with the values that the calling model supplied for a target; no value is repeated. */
function neededIssues(generate: readonly Parameter[], args: Readonly<Record<string, unknown>>): string[] {
  return generate
    .filter(({ name, type }) => !fitsType(type, args[name]))
    .map(({ name, type }) => {
      const got = [args[name]].flat().some(isNumberAsText) ? `, got ${numberAsText}` : ''
      return `\`${name}\`: expected ${type === 'any' ? anyInWords : type}${got}`
    })
}

/** What the calling model may choose for this one delegation [F14, D22]. */
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
  issues.push(...neededIssues(generate, args))
  const { model, temperature, blocking } = args
  if (blocking !== undefined && typeof blocking !== 'boolean') issues.push('`blocking`: expected true or false')
  if (model !== undefined && !overrides?.model.includes(model as string)) {
    issues.push(`\`model\`: expected one of ${(overrides?.model ?? []).join(', ')}`)
  }
  const [least, most] = overrides?.temperature ?? [0, 0]
  if (temperature !== undefined && !(typeof temperature === 'number' && temperature >= least && temperature <= most)) {
    issues.push(`\`temperature\`: expected a number from ${least} to ${most}`)
  }
  return issues.length === 0 ? { ok: true, arguments: args } : refused(issues)
}

/** True if a live ancestor has the same agent, message and values: the call could only repeat it [C1]. */
export function repeats(caller: Caller, { agent, message }: Spawn, parameters: Bound): boolean {
  return caller.lineage.some(
    (one) => one.agent === agent && normal(one.message) === normal(message) && sameValues(one.parameters, parameters),
  )
}

function normal(message: string): string {
  return message.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase()
}

/** A delegate that is not offered. If the model calls it anyway, it reads the reason as an error, and the run continues. */
export function refusing(
  target: EdgeTarget,
  why: string,
  code: 'CHAIN_EXHAUSTED' | 'DEPTH_EXCEEDED' | 'REMOTE_CARD_INVALID' | 'TOOL_UNKNOWN' = 'TOOL_UNKNOWN',
): ImmediateTool {
  return { ...hidden(target, why), invoke: () => failed(code, why) }
}

/**
 * A trusted value is missing: the delegate is not offered, and the reason is shown. If the model calls it anyway, the run
 * fails [C16, R42].
 */
function untrusted(target: EdgeTarget, missing: Parameter, caller: Caller): ImmediateTool {
  const path = `${caller.agentPath}/${target.agent}`
  const why = `\`${path}\` needs \`${missing.name}\` from the caller; the model may not supply it.`
  const invoke = (_request: ToolRequest): never => {
    throw new MissingAgentParameterError(why, {
      path: `parameters.${missing.name}`,
      hint: 'Pass it when starting the conversation.',
    })
  }
  return { ...hidden(target, why), invoke }
}

function hidden({ tool: name, kind, of }: EdgeTarget, why: string): Omit<ImmediateTool, 'invoke'> {
  return {
    name,
    kind,
    of,
    offer: null,
    notice: `Not offered: ${why}`,
    withheld: { why, offer: null },
    effect: 'none',
    bound: [],
    immediate: true,
    check: (args) => ({ ok: true, arguments: args }),
  }
}
