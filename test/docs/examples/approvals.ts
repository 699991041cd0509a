/** Small payments run at once, large ones wait for a person; refunds always do. */
import { createRuntime, defineAgent, defineTool } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import { z } from 'zod'

const amount = z.object({ amount: z.number() })
const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  parameters: amount,
  execute: (one) => `paid ${one.amount}`,
})
const refund = defineTool({ name: 'refund', description: 'Refunds.', parameters: amount, execute: () => 'refunded' })

const steps = [call('pay', { amount: 20 }), call('pay', { amount: 600 })]
const runtime = createRuntime({
  agents: [
    defineAgent({
      id: 'clerk',
      instructions: 'Pay the invoices.',
      model: scriptedModel((request, turn) => steps[turn] ?? `Done: ${toolResults(request).join(', ')}`),
      tools: [pay, refund],
      approvals: ['refund', { tool: 'pay', when: (args) => Number(args['amount']) >= 500 }],
    }),
  ],
})
const waiting = await runtime.conversation('clerk').run('Two invoices have come.')
for (const one of waiting.interruptions) if (one.kind === 'approval') console.log(one.tool, one.arguments)
const answers = waiting.interruptions.map(({ id }) => ({ id, answer: { decision: 'approved' } }))
console.log((await (await runtime.run(waiting.conversationId, { answers })).result).text)

const { agent } = await runtime.agents.save({
  ...(await runtime.agents.get('clerk')),
  id: 'junior',
  approvals: [{ tool: 'pay', when: { required: ['amont'], properties: { amont: { minimum: 100 } } } }],
})
for (const { code, detail, hint } of agent.warnings) console.log(code, detail, hint)
await runtime.close()
