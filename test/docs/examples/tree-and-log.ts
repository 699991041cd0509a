/** A run of two agents, and the log it leaves: every entry names its call and its parent. */
import { createRuntime, defineAgent } from '@witan/core'
import { call, countedIds, scriptedModel, turns } from '@witan/core/testing'

const clerk = defineAgent({
  id: 'clerk',
  instructions: 'Look things up.',
  model: scriptedModel(() => 'It is in drawer 4.', { id: 'demo/clerk' }),
})
const desk = defineAgent({
  id: 'desk',
  instructions: 'Ask the clerk.',
  model: scriptedModel(turns(call('clerk', { message: 'Where is the form?' }), 'Drawer 4.'), { id: 'demo/desk' }),
  subAgents: [{ agent: 'clerk', description: 'Finds forms.' }],
})

const runtime = createRuntime({ agents: [clerk, desk], ids: countedIds() })
const chat = runtime.conversation('desk', { id: 'chats/1' })
const { runId } = await chat.run('Where is the form?')

const { events } = await runtime.readEvents('chats/1', { verbose: true })
for (const { seq, type, kind, callId, parentCallId, document } of events)
  console.log(seq, kind === null ? type : `${type} ${kind}`, callId, 'under', parentCallId, 'in', document)

const { tree } = await runtime.getRun(runId)
console.log(tree.name, '→', tree.children.map((child) => `${child.name} (${child.status})`).join(', '))
await runtime.close()
