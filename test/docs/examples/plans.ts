/** An agent that writes a plan, works on it, and changes it. */
import { createRuntime, defineAgent } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'

const step = (id: string, title: string, status: string) => ({ id, title, status })
const play = [
  call('update_plan', {
    steps: [step('find', 'Find a train', 'in_progress'), step('book', 'Book a seat', 'pending')],
  }),
  call('trains', { message: 'Which train on Friday?' }),
  call('update_plan', {
    steps: [step('find', 'Find a train', 'completed'), step('book', 'Book a seat', 'dropped')],
    reason: 'No seat is needed.',
  }),
  'Take the one at nine.',
]

const runtime = createRuntime({
  agents: [
    defineAgent({
      id: 'travel',
      instructions: 'Plan a trip.',
      enablePlanning: true,
      subAgents: [{ agent: 'trains' }],
      model: scriptedModel((_, turn) => play[turn] ?? 'Done.', { id: 'demo/travel' }),
    }),
    defineAgent({
      id: 'trains',
      instructions: 'Know trains.',
      model: scriptedModel(() => 'The one at nine.', { id: 'demo/trains' }),
    }),
  ],
})

const chat = runtime.conversation('travel')
const { text, runId } = await chat.run('How do I get there?')
console.log(text)
const { plan, tree } = await runtime.getRun(runId)
console.log('revision', plan?.revision)
for (const { title, status, calls } of plan?.steps ?? []) {
  const names = calls.map((id) => tree.children.find(({ callId }) => callId === id)?.name)
  console.log(status, title, names)
}
await runtime.close()
