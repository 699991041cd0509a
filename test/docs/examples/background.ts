/** A task that outlives its run: asked for its progress, sent a message, and reported by a follow-up run. */
import { createRuntime, defineAgent } from '@witan/core'
import { call, lastUserMessage, type Rule, scriptedModel } from '@witan/core/testing'

const archive = Promise.withResolvers<void>()
const read: Rule = async (request) => {
  if (lastUserMessage(request).includes('<history>')) return 'It has opened the archive.'
  await archive.promise
  return lastUserMessage(request) === 'What is there?' ? 'There are 40 papers.' : 'There are 3 letters.'
}
const answer: Rule = (request, turn) => {
  if (lastUserMessage(request).startsWith('[from @reader')) return 'I have heard from the archive.'
  return turn === 0 ? call('reader', { message: 'What is there?' }) : 'I am having it read.'
}
const reader = defineAgent({ id: 'reader', instructions: 'Read.', model: scriptedModel(read, { id: 'demo/reader' }) })
const desk = defineAgent({
  id: 'desk',
  instructions: 'Have the archive read.',
  model: scriptedModel(answer, { id: 'demo/desk' }),
  subAgents: [{ agent: 'reader', description: 'Reads the archive.', blocking: 'never' }],
})

const { tasks, ...runtime } = createRuntime({ agents: [desk, reader] })
const chat = runtime.conversation('desk', { id: 'chats/1' })
const run = await chat.run('What is in the archive?')
const id = run.tasks[0]?.taskId ?? ''
console.log(run.status, '-', run.text)
console.log((await tasks.progress(id, { question: 'How far is it?' })).text)
console.log((await tasks.message(id, { text: 'Only letters.' })).status)
archive.resolve()

const stop = new AbortController()
for await (const event of runtime.followEvents(chat.id, { signal: stop.signal })) {
  if (event.type !== 'end' || event.kind !== 'agent' || event.callId === run.runId) continue
  console.log('follow-up -', event.content['text'])
  stop.abort()
}
console.log((await tasks.get(id)).status, '-', (await tasks.get(id)).text)
await runtime.close()
