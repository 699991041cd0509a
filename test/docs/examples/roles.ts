/** What four principals reach of one conversation: its creator, a person in it, a reader, and somebody else. */
import { createRuntime, defineAgent, type Principal } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import type { DatabaseId } from '@witan/protocol'

const desk = defineAgent({
  id: 'desk',
  name: 'Help desk',
  instructions: 'Help with orders.',
  model: scriptedModel(() => 'Noted.', { id: 'demo/desk' }),
})
const runtime = createRuntime({ agents: [desk] })
const as = (id: string, ...roles: string[]): Principal => ({
  database: 'default' as DatabaseId,
  id,
  roles,
  address: null,
})
const maker = runtime.as(as('user:maker', 'run'))
await (await maker.start({ agent: 'desk', id: 'chats/1', users: [{ id: 'anna' }], prompt: 'Hello.' })).run?.result

for (const who of [as('user:maker', 'run'), as('user:anna'), as('key:audit', 'read'), as('user:eve', 'run')]) {
  const witan = runtime.as(who)
  const found = async (what: Promise<unknown>) => what.then(() => 'yes').catch((error) => error.code)
  const { items } = await witan.listConversations()
  console.log(`${who.id}: lists ${items.length}, reads ${await found(witan.getConversation('chats/1'))},`)
  const said = found(witan.run('chats/1', { prompt: 'And?' }).then(({ result }) => result))
  const added = found(witan.addParticipant('chats/1', { id: 'bob' }))
  console.log(`  speaks ${await said}, adds people ${await added}`)
}
console.log((await runtime.as(as('user:eve', 'run')).agents.views()).items)
await runtime.close()
