/** A purchase in which three people have a word: one chooses, one is asked by name, and one releases the payment. */
import { createRuntime, defineAgent, defineTool } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import { z } from 'zod'

const pay = defineTool({
  name: 'pay',
  description: 'Pays an invoice.',
  parameters: z.object({ amount: z.number().max(1000) }),
  execute: ({ amount }) => `paid ${amount}`,
})
const questions = [{ id: 'size', text: 'Which size?', options: ['s', 'l'].map((id) => ({ id, label: `Size ${id}` })) }]
const steps = [
  call('ask_question', { questions }),
  call('ask_user', { user: 'anna', message: 'How many?' }),
  call('pay', { amount: 900 }),
]
const buyer = defineAgent({
  id: 'buyer',
  instructions: 'Buy what is needed.',
  model: scriptedModel((request, turn) => steps[turn] ?? `Done: ${toolResults(request)[0]}`),
  tools: [pay],
  approvals: [{ tool: 'pay', when: ({ amount }) => Number(amount) > 500 }],
  questions: true,
  users: [{ id: 'anna', name: 'Anna' }, { id: 'bob' }],
  interruptionExpiresInSeconds: 86_400,
})
const runtime = createRuntime({ agents: [buyer] })

let waiting = await runtime.conversation('buyer').run('We need boxes.')
const say = async (answer: unknown) => {
  const [asked] = waiting.interruptions
  console.log(asked?.kind, asked?.path, asked?.addressee)
  const answers = [{ id: asked?.id ?? '', answer }]
  waiting = await (await runtime.run(waiting.conversationId, { answers })).result
}
const [asked] = waiting.interruptions
const wrong = { answer: { size: { options: ['xl'] } } }
await runtime.answerInterruption(asked?.id ?? '', wrong).catch((error) => console.log(error.code, error.message))
await say({ size: { options: ['l'] } })
await say('forty')
await say({ decision: 'approved', arguments: { amount: 450 }, reason: 'half now' })
console.log(waiting.status, waiting.text)
await runtime.close()
