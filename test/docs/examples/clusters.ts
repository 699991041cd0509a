/** Two stores under one runtime: the tenant acme in the second, everybody else in the first. */
import { createRuntime, defineAgent, localPrincipal, memoryStore, routedStore } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import type { DatabaseId } from '@witan/protocol'

const eu = memoryStore()
const us = memoryStore()
const store = routedStore({ clusters: { eu, us }, homes: { acme: 'us' }, others: 'eu' })

const clerk = defineAgent({ id: 'clerk', instructions: 'Help.', model: scriptedModel(() => 'Filed.') })
const runtime = createRuntime({ store, agents: [clerk] })
for (const database of ['acme', 'beta']) {
  const tenant = runtime.as({ ...localPrincipal, database: database as DatabaseId })
  await (await tenant.start({ agent: 'clerk', id: 'chats/1', prompt: 'File it.' })).run?.result
}
console.log('eu:', await eu.listDatabases())
console.log('us:', await us.listDatabases())
await runtime.close()
