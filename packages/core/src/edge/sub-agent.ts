/** The edge to a sub-agent that is called as a tool and whose answer the caller waits for [R01, F15–F20]. */
import { type AgentData, MissingAgentParameterError, type Parameter, type SubAgentEdge } from '@witan/protocol'
import { fitsType, typeToJsonSchema } from '@witan/protocol/schemas'
import { bind, type Binding } from '../parameter/bind.ts'
import { failed, pending } from '../tool/outcome.ts'
import type { JsonSchema } from '../tool/schema.ts'
import type { ArgumentCheck, Caller, ImmediateTool, Tool, ToolRequest, ToolSource } from '../tool/tool.ts'

/** Finds the definition that a run keeps of an agent, or null where it is gone or disabled. */
export type FindAgent = (caller: Caller, id: string) => AgentData | null

/** The sub-agents of an agent as tools, named by their ids. */
export function subAgentTools(find: FindAgent): ToolSource {
  return (caller) => caller.agent.subAgents.map((edge) => toolOf(edge, caller, find))
}

function toolOf(edge: SubAgentEdge, caller: Caller, find: FindAgent): Tool {
  const child = find(caller, edge.agent)
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
  return delegate(edge, { child, binding, isThere: () => find(caller, edge.agent) !== null })
}

function goneText(edge: SubAgentEdge): string {
  return `\`${edge.agent}\` is not available: it was deleted or disabled.`
}

interface Delegate {
  readonly child: AgentData
  readonly binding: Binding
  /** False once it was deleted or disabled while its caller was at work [E6]. */
  isThere(): boolean
}

function delegate(edge: SubAgentEdge, { child, binding, isThere }: Delegate): ImmediateTool {
  const parameters = schemaOf(edge, binding.generate)
  return {
    name: edge.agent,
    offer: { name: edge.agent, description: edge.description || child.description, parameters },
    notice: null,
    effect: 'none',
    bound: [...binding.bound.keys()],
    immediate: true,
    check: (args) => checkDelegation(binding.generate, args),
    invoke(request, caller, verbs) {
      if (!isThere()) return failed('TOOL_UNKNOWN', goneText(edge))
      const { message, ...generated } = request.arguments as { message: string }
      if (repeats(caller, child.id, message)) {
        return failed(
          'DEPTH_EXCEEDED',
          `\`${child.id}\` is already at work on the same message above you; answer it yourself or ask something else.`,
        )
      }
      const supplied = Object.keys(generated).length === 0 ? null : generated
      verbs.spawn({ agent: child.id, message, generated: supplied, map: edge.map, history: edge.history })
      return pending
    },
  }
}

const schemas = new WeakMap<SubAgentEdge, Map<string, JsonSchema>>()

/** The task text, and what the calling model must supply; bound names are never in it. */
function schemaOf(edge: SubAgentEdge, generate: readonly Parameter[]): JsonSchema {
  const known = schemas.get(edge) ?? new Map<string, JsonSchema>()
  schemas.set(edge, known)
  const signature = generate.map(({ name, type }) => `${name}:${type}`).join(' ')
  const found = known.get(signature)
  if (found !== undefined) return found
  const properties: Record<string, unknown> = {
    message: { type: 'string', description: 'The task or question, complete in itself.' },
  }
  for (const { name, type, description } of generate) {
    properties[name] = description === '' ? typeToJsonSchema(type) : { ...typeToJsonSchema(type), description }
  }
  const made = Object.freeze({
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  })
  known.set(signature, made)
  return made
}

function checkDelegation(generate: readonly Parameter[], args: Readonly<Record<string, unknown>>): ArgumentCheck {
  const issues: string[] = []
  const message = args['message']
  if (typeof message !== 'string' || message.trim() === '') issues.push('`message`: expected the task as text')
  for (const { name, type } of generate) {
    if (!fitsType(type, args[name])) issues.push(`\`${name}\`: expected ${type}`)
  }
  return issues.length === 0 ? { ok: true, arguments: args } : { ok: false, issues }
}

/** A live ancestor with the same agent and the same message: going on could only repeat [C1]. */
function repeats(caller: Caller, agent: string, message: string): boolean {
  const plain = normal(message)
  return caller.lineage.some((one) => one.agent === agent && normal(one.message) === plain)
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
