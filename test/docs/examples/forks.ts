/** Artificial actions, and a fork that continues differently from the same point. */
import { createRuntime, defineAgent } from '@witan/core'
import { lastUserMessage, scriptedModel, toolResults } from '@witan/core/testing'

const clerk = defineAgent({
  id: 'clerk',
  instructions: 'Help with orders.',
  model: scriptedModel(
    (request) => toolResults(request)[0] ?? `${request.messages.length - 2} before "${lastUserMessage(request)}"`,
    { id: 'demo/clerk' },
  ),
})

const runtime = createRuntime({ agents: [clerk] })
const chat = runtime.conversation('clerk', { expiresInSeconds: 3600 })
await chat.run('Hello')
const here = await runtime.getConversation(chat.id)

const artificialActions = [{ name: 'GetBasket', response: 'two books' }]
const run = await runtime.run(chat.id, { prompt: 'What do I have?', artificialActions })
console.log((await run.result).text)

const fork = await runtime.forkConversation(chat.id, { seq: here.lastSeq })
console.log(fork.lastSeq === here.lastSeq, fork.expiresAt === here.expiresAt, fork.runs)
for (const id of [chat.id, fork.id]) console.log((await (await runtime.run(id, { prompt: 'And now?' })).result).text)

const inside = here.lastSeq + 1
await runtime.forkConversation(chat.id, { seq: inside }).catch((error) => console.log(error.code))
await runtime.close()
