/** A model that never stops calling its tool: the agent's cap ends in an answer, the cap of the tree fails the run. */
import { createRuntime, defineAgent, defineTool } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import { z } from 'zod'

const look = defineTool({
  name: 'look',
  description: 'Looks again.',
  parameters: z.object({}),
  effect: 'none',
  execute: () => 'nothing new',
})
const restless = scriptedModel(({ toolChoice }) => (toolChoice === 'none' ? 'I found nothing.' : call('look')))
const watcher = (id: string, limits: { maxIterations?: number; maxModelCalls?: number }) =>
  defineAgent({ id, instructions: 'Keep looking.', model: restless, tools: [look], limits })

const runtime = createRuntime({
  agents: [watcher('patient', { maxIterations: 3 }), watcher('poor', { maxModelCalls: 2 })],
})
const answered = await runtime.conversation('patient').run('Anything?')
console.log(answered.status, answered.finishReason, answered.text, answered.usage.modelCalls)

const failed = await runtime.conversation('poor').run('Anything?')
console.log(failed.status, failed.error?.code, '–', failed.error?.detail)
console.log(failed.error?.hint)
await runtime.close()
