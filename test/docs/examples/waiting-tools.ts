/** A tool that orders something elsewhere, and asks a person in the middle: the order is placed once, the function runs twice. */
import { createRuntime, defineAgent, defineTool } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import { z } from 'zod'

const orders: string[] = []

const order = defineTool({
  name: 'order',
  description: 'Orders paper.',
  parameters: z.object({ packs: z.number() }),
  async execute({ packs }, { callId, ask, checkpoint }) {
    console.log(checkpoint.value === undefined ? 'runs' : 'runs again')
    if (checkpoint.value === undefined) {
      orders.push(callId)
      await checkpoint.save({ order: callId })
    }
    const { colour } = await ask([{ id: 'colour', text: 'Which colour?', options: [{ id: 'white', label: 'White' }] }])
    return `${packs} packs in ${colour?.options?.[0]}`
  },
})

const clerk = defineAgent({
  id: 'clerk',
  instructions: 'Order what is needed.',
  model: scriptedModel((request) => toolResults(request)[0] ?? call('order', { packs: 3 })),
  tools: [order],
})

const runtime = createRuntime({ agents: [clerk] })
const chat = runtime.conversation('clerk')
const waiting = await chat.run('We need paper.')
const [question] = waiting.interruptions
console.log(waiting.status, question?.kind)

const answers = [{ id: question?.id ?? '', answer: { colour: { options: ['white'] } } }]
const { result } = await runtime.run(chat.id, { answers })
console.log((await result).text, `(${orders.length} order)`)
await runtime.close()
