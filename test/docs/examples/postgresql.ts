/** Two runtimes on one schema, as on two machines: what one was asked the other one answers, while both are open. */
import { createRuntime, defineAgent, postgresStore } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'

const url = process.env.DATABASE_URL ?? 'postgres://localhost/app'
const porter = defineAgent({
  id: 'porter',
  instructions: 'Open the gate when asked.',
  model: scriptedModel((request) => toolResults(request)[0] ?? call('OpenGate')),
  actions: [{ name: 'OpenGate', description: 'Opens the gate.' }],
})
const open = () => createRuntime({ store: postgresStore({ url, schema: 'witan_example' }), agents: [porter] })

const first = open()
const asked = await first.conversation('porter', { id: 'chats/1' }).run('Let me in.')
console.log(asked.status)
const second = open()
const actionResponses = asked.interruptions.map(({ id }) => ({ id, response: 'The gate is open.' }))
const { status, text, runId } = await (await second.run('chats/1', { actionResponses })).result
console.log(status, text, runId === asked.runId)
await Promise.all([first.close(), second.close()])

await postgresStore({ url: 'postgres://me:secret@127.0.0.1:1/app' })
  .open()
  .catch((error) => console.log(error.code, '–', error.message))
