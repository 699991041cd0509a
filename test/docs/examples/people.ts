/** Two people in one conversation: both speak, both are asked at once, and one leaves before answering. */
import { createRuntime, defineAgent } from '@witan/core'
import { call, lastUserMessage, scriptedModel, toolResults } from '@witan/core/testing'

const host = defineAgent({
  id: 'host',
  instructions: 'Find a day.',
  users: 'participants',
  model: scriptedModel(
    (request) => {
      const [replies] = toolResults(request)
      if (replies !== undefined) return `They say: ${replies}`
      console.log(lastUserMessage(request))
      return lastUserMessage(request).includes('ask') ? call('ask_all_users', { message: 'Which day?' }) : 'Noted.'
    },
    { id: 'demo/host' },
  ),
})

const runtime = createRuntime({ agents: [host] })
await runtime.start({ agent: 'host', id: 'chats/1', users: [{ id: 'anna', name: 'Anna' }] })
const say = async (author: string, prompt: string) => (await runtime.run('chats/1', { prompt, author })).result
await say('anna', 'I am the first.')
await runtime.addParticipant('chats/1', { id: 'bob', name: 'Bob', roles: ['buyer'] })
const { runId, interruptions } = await say('bob', 'Please ask us both.')
for (const { id, kind, addressee } of interruptions) {
  console.log(`${kind} for ${addressee}`)
  if (addressee === 'anna') await runtime.answerInterruption(id, { answer: 'Friday' })
}
await runtime.removeParticipant('chats/1', 'bob')
console.log((await (await runtime.followRun(runId)).result).text)
for (const { id, leftAt } of (await runtime.listParticipants('chats/1')).items)
  console.log(`${id} ${leftAt === null ? 'takes part' : 'has left'}`)
await runtime.close()
