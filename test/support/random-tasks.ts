/** Random systems of agents that work in the background, and what their models do. */
import type { ModelRequest } from '@witan/core'
import type { Rule, ScriptedCall } from '@witan/core/testing'
import fc from 'fast-check'
import { answerTo, randomPlay, type RandomSystem, randomSystem } from './random-system.ts'
import { settle, type Stage } from './stage.ts'

/** Any system, with delegates that may work in the background. */
export const systemWithTasks: fc.Arbitrary<RandomSystem> = fc
  .tuple(randomSystem, fc.array(fc.constantFrom('always', 'never', 'model'), { minLength: 20, maxLength: 20 }))
  .map(([{ agents, ...rest }, blocking]) => {
    let next = 0
    const blockingOf = () => {
      next += 1
      return blocking[next % blocking.length] ?? 'always'
    }
    return {
      ...rest,
      agents: agents.map((agent, index) => {
        if (agent.workflow) return agent
        const below = agents[index + 1]
        const subAgents = (agent.subAgents ?? []).map((edge) => ({ ...edge, blocking: blockingOf() }))
        const hasIt = below === undefined || subAgents.some((edge) => edge.agent === below.id)
        return {
          ...agent,
          subAgents: hasIt ? subAgents : [...subAgents, { agent: below.id, blocking: 'never' as const }],
        }
      }),
    }
  })

/** What a random model does, but it delegates more, names tasks that it has read of, and chooses what exists. */
export function playWithTasks(seed: number): Rule {
  const play = randomPlay(seed)
  return async (request, turn) => {
    const said = await play(request, turn)
    if (typeof said !== 'object' || said instanceof Error || said.toolCalls === undefined) return said
    return { ...said, toolCalls: said.toolCalls.map((call) => sensible(call, request)) }
  }
}

function sensible(call: ScriptedCall, { messages, tools }: ModelRequest): ScriptedCall {
  const known = [...JSON.stringify(messages).matchAll(/task_id\\":\\"(c_[^\\"]+)/g)].map(([, id = '']) => id)
  const dice = messages.length + call.name.length
  const takes = (tool: ModelRequest['tools'][number], name: string) =>
    Object.hasOwn((tool.parameters['properties'] ?? {}) as object, name)
  const delegates = tools.filter((tool) => takes(tool, 'message') && !takes(tool, 'task_id'))
  const delegate = delegates[dice % Math.max(1, delegates.length)]
  if (typeof call.arguments !== 'object' || call.arguments === null) return call
  const isHelper = 'task_id' in call.arguments
  if (delegate !== undefined && (isHelper ? known.length === 0 : call.name === 'note' || call.name.length > 8))
    return { name: delegate.name, arguments: { message: `message ${dice}`, key: 'k', made: 'm', blocking: false } }
  const args: Record<string, unknown> = { ...call.arguments }
  if (isHelper) args['task_id'] = known[dice % known.length] ?? 'c_none'
  if ('mode' in args) args['mode'] = dice % 2 === 0 ? 'send' : 'send_and_wait'
  if ('blocking' in args) args['blocking'] = dice % 2 === 0
  return { name: call.name, arguments: args }
}

/** Answers whatever waits, in runs and tasks, until nothing is live. */
export async function quiet({ runtime }: Pick<Stage, 'runtime'>): Promise<void> {
  for (let round = 0; round < 20_000; round += 1) {
    const { status, tasks, interruptions } = await runtime.getConversation('chats/1')
    if (status === 'idle' && tasks.length === 0) return
    for (const { id, kind } of interruptions)
      await runtime.answerInterruption(id, { answer: answerTo(kind, round) }).catch(() => {})
    await settle(1)
  }
  throw new Error('I9: something does not come to its end')
}
