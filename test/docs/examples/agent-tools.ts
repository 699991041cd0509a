/** An agent wrapped as a tool of another: one request in, text and perhaps an error out. */
import { agentTool, createRuntime, defineAgent } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'

const translator = defineAgent({
  id: 'translator',
  instructions: 'Translate into French.',
  model: scriptedModel([({ temperature }) => `Bonjour (temperature ${temperature})`], { id: 'demo/translator' }),
})
const writer = defineAgent({
  id: 'writer',
  instructions: 'Write letters; have them translated.',
  model: scriptedModel(
    (request, turn) =>
      turn === 0 ? call('translator', { request: 'Hello', temperature: 0.5 }) : toolResults(request)[0],
    { id: 'demo/writer' },
  ),
  tools: [agentTool(translator, { description: 'Translates.', overrides: { temperature: [0, 1] } })],
})

const runtime = createRuntime({ agents: [writer] })
console.log((await runtime.conversation('writer', { id: 'chats/1' }).run('A greeting, please')).text)
const { events } = await runtime.readEvents('chats/1', { verbose: true })
for (const { type, kind, author, content } of events) {
  if (type === 'start' && kind === 'agent' && content.overrides) console.log(author, content.overrides)
}
await runtime.close()
