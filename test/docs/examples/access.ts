/** A refund for staff only: the same agent has the tool in one run, and not in the other. */
import { createRuntime, defineAgent, defineTool, type Principal } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import type { DatabaseId } from '@witan/protocol'
import { z } from 'zod'

const refund = defineTool({
  name: 'refund',
  description: 'Pays an order back.',
  parameters: z.object({ order: z.string() }),
  execute: ({ order }, { principal }) => `${order} is refunded by ${principal.id}`,
})
const desk = defineAgent({
  id: 'desk',
  instructions: 'Help with orders.',
  model: scriptedModel((request) => {
    const offered = request.tools.map(({ name }) => name)
    return (
      toolResults(request)[0] ?? (offered.includes('refund') ? call('refund', { order: '7' }) : 'Please ask staff.')
    )
  }),
  tools: [refund],
  access: { call: ['role:staff', 'role:customer'], tools: { refund: ['role:staff'] } },
})

const runtime = createRuntime({ agents: [desk] })
const person = (id: string, role: string): Principal => ({
  database: 'default' as DatabaseId,
  id: `user:${id}`,
  roles: ['run', role],
  address: null,
})
for (const who of [person('sam', 'staff'), person('eve', 'customer')]) {
  const { run } = await runtime.as(who).start({ agent: 'desk', prompt: 'Refund order 7.' })
  console.log(`${who.id}: ${(await run?.result)?.text}`)
}
await runtime.close()
