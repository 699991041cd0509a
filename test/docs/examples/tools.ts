/** A function tool with checked arguments; what goes wrong is text for the model, and the run goes on. */
import { createRuntime, defineAgent, defineTool } from '@witan/core'
import { call, scriptedModel, turns } from '@witan/core/testing'
import { z } from 'zod'

const charge = defineTool({
  name: 'charge',
  description: 'Charges an amount in cents.',
  parameters: z.object({ cents: z.number().int().positive() }),
  effect: 'keyed',
  timeoutMs: 5_000,
  execute({ cents }, { parameters }) {
    if (cents > 10_000) throw new Error('the limit is 100.00')
    return { charged: cents, account: parameters['account'] }
  },
})

const cashier = defineAgent({
  id: 'cashier',
  instructions: 'Charge what is asked.',
  model: scriptedModel(
    turns(
      call('charge', { cents: 'ten' }),
      call('charge', { cents: 99_999 }),
      call('charge', { cents: 1_000 }),
      'Charged.',
    ),
  ),
  parameters: [{ name: 'account', sendToModel: false, policy: 'forbidModelGeneration' }],
  tools: [charge],
})

const runtime = createRuntime({ agents: [cashier] })
const chat = runtime.conversation('cashier', { id: 'chats/1', parameters: { account: 'acc-7' } })
console.log((await chat.run('Ten euros')).text)
for (const { toolCalls } of (await runtime.getDocument('chats/1')).messages)
  for (const { arguments: args, result } of toolCalls) console.log(args, '→', result)
await runtime.close()
