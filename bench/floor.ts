/** The floor: a loop written by hand on the same instant model, in memory, with nothing but what any loop must do. */
import type { Model, ModelMessage, ModelReply, ModelRequest, ModelTool } from '@witan/core'
import { instantModel, type Latency } from './instant-model.ts'
import { instructionsOf, lookUp, type Scenario } from './scenario.ts'
import type { OnDelta, Subject } from './subject.ts'

type Run = (args: Record<string, unknown>, onDelta: OnDelta | null) => Promise<string>

interface FloorAgent {
  readonly system: ModelMessage
  readonly model: Model
  readonly tools: readonly ModelTool[]
  readonly run: ReadonlyMap<string, Run>
  readonly target: FloorAgent | null
}

/** Builds the floor of a scenario. */
export function floor(scenario: Scenario, latency: Latency): Subject {
  const root = agentOf('root', scenario, latency)
  const names = scenario.roles['root']?.parallel ?? null
  const children = (names ?? []).map((name) => agentOf(name, scenario, latency))
  const atOnce = async (prompt: string) => {
    const texts = await Promise.all(children.map((child) => loop(child, opening(child, prompt), null)))
    return texts.map((text, index) => `[from @${names?.[index]}] ${text}`).join('\n\n')
  }
  return {
    run: (prompt) => (names === null ? loop(root, opening(root, prompt), null) : atOnce(prompt)),
    stream: (prompt, onDelta) => loop(root, opening(root, prompt), onDelta),
    grow() {
      const messages: ModelMessage[] = [root.system]
      return {
        turn(prompt) {
          messages.push({ role: 'user', content: prompt })
          return loop(root, messages, null)
        },
      }
    },
    refresh: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}

function agentOf(name: string, scenario: Scenario, latency: Latency): FloorAgent {
  const role = scenario.roles[name]
  if (role === undefined) throw new Error(`no role ${name}`)
  const run = new Map<string, Run>()
  if (role.tool) run.set('lookup', async (args) => lookUp(text(args, 'city'), text(args, 'unit')))
  for (const sub of role.subAgents) {
    const child = agentOf(sub, scenario, latency)
    run.set(sub, (args, onDelta) => loop(child, opening(child, text(args, 'message')), onDelta))
  }
  const tools = [...run.keys()].map((tool) => ({ name: tool, description: tool, parameters: { type: 'object' } }))
  const system = { role: 'system', content: instructionsOf(name) } as const
  const target = role.target === undefined ? null : agentOf(role.target, scenario, latency)
  return { system, model: instantModel(name, role, latency), tools, run, target }
}

function opening(agent: FloorAgent, prompt: string): ModelMessage[] {
  return [agent.system, { role: 'user', content: prompt }]
}

async function loop(agent: FloorAgent, messages: ModelMessage[], onDelta: OnDelta | null): Promise<string> {
  for (let step = 0; step < 50; step += 1) {
    const { text: content, toolCalls } = await ask(agent, messages, onDelta)
    messages.push(toolCalls.length === 0 ? { role: 'assistant', content } : { role: 'assistant', content, toolCalls })
    if (toolCalls.length === 0) return content
    if (agent.target !== null) return loop(agent.target, [agent.target.system, ...messages.slice(1, -1)], onDelta)
    const results = await Promise.all(
      toolCalls.map((call) => {
        const tool = agent.run.get(call.name)
        if (tool === undefined) throw new Error(`no tool ${call.name}`)
        return tool(JSON.parse(call.arguments) as Record<string, unknown>, onDelta)
      }),
    )
    for (const [index, { id, name }] of toolCalls.entries()) {
      messages.push({ role: 'tool', toolCallId: id, name, content: results[index] ?? '' })
    }
  }
  throw new Error('too many steps')
}

const never = new AbortController().signal

async function ask(agent: FloorAgent, messages: readonly ModelMessage[], onDelta: OnDelta | null): Promise<ModelReply> {
  const request: ModelRequest = {
    messages,
    tools: agent.tools,
    toolChoice: 'auto',
    temperature: null,
    reasoningEffort: null,
    output: null,
  }
  for await (const part of agent.model.stream(request, { signal: never, deltas: onDelta !== null })) {
    if (part.type === 'reply') return part.reply
    onDelta?.(part.text)
  }
  throw new Error('the model gave no reply')
}

function text(args: Record<string, unknown>, name: string): string {
  const value = args[name]
  if (typeof value !== 'string') throw new Error(`bad argument ${name}`)
  return value
}
