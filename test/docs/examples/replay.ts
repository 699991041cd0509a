/** A conversation is exported, and played again without its model. */
import { createRuntime, defineAgent } from '@witan/core'
import { readReplaySource, replay } from '@witan/core/export'
import { call, scriptedModel, toolResults } from '@witan/core/testing'

const model = scriptedModel((request, turn) => (turn === 0 ? call('Ship') : `It is ${toolResults(request)[0]}.`))
const clerk = defineAgent({ id: 'clerk', instructions: 'Help.', model, actions: [{ name: 'Ship' }] })
const runtime = createRuntime({ agents: [clerk] })
const chat = runtime.conversation('clerk', { id: 'chats/1' }).handle('Ship', () => 'on its way')
await chat.run('Ship order 7.')

const source = await readReplaySource(runtime.exportConversation('chats/1'))
const { entries, difference, runs } = await replay(source)
console.log(entries, difference, runs.length)
await runtime.close()
