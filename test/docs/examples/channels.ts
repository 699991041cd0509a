/** A channel in its smallest form: it reads the log, delivers each question at least once, and answers as the person. */
import { createRuntime, defineAgent, type Witan } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'

const asker = defineAgent({
  id: 'asker',
  instructions: 'Ask.',
  users: [{ id: 'anna', name: 'Anna' }],
  model: scriptedModel((request) => toolResults(request)[0] ?? call('ask_user', { message: 'Which day?' }), {
    id: 'demo/asker',
  }),
})
const runtime = createRuntime({ agents: [asker] })
const { run } = await runtime.start({ agent: 'asker', id: 'chats/1', users: ['anna'], prompt: 'Find a day.' })
await run?.result

/** What a channel keeps: how far it has read. It moves only after a delivery, so a crash between repeats one. */
let cursor = 0

async function deliver(witan: Witan, to: string, send: (id: string, prompt: string) => Promise<void>) {
  const { events } = await witan.readEvents('chats/1', { from: cursor, verbose: false })
  for (const { seq = 0, type, content } of events) {
    if (type === 'message_required' && content.addressee === to) await send(content.id, content.prompt)
    cursor = seq
  }
}

const anna = runtime.as({ ...runtime.principal, id: 'user:anna', roles: [] })
await deliver(runtime, 'anna', async (id, prompt) => {
  console.log(`to anna: ${prompt}`)
  // The interruption's id goes along, for the reply to name it. A repeated reply is accepted and changes nothing.
  for (const _ of [1, 2]) console.log((await anna.answerInterruption(id, { answer: 'Friday' })).state)
})
console.log((await (await runtime.followRun(run?.runId ?? '')).result).text)
await runtime.close()
