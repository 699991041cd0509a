/** The raw log in a store: entries in order, hidden values in none of them. */
import { createRuntime, defineAgent, memoryStore } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

const store = memoryStore()
const vault = defineAgent({
  id: 'vault',
  instructions: 'Guard.',
  model: scriptedModel(() => 'Guarded.'),
  parameters: [{ name: 'code', sendToModel: false, policy: 'forbidModelGeneration' }],
})
const runtime = createRuntime({ store, agents: [vault] })
const { runId } = await runtime.conversation('vault', { id: 'chats/1', parameters: { code: '4711' } }).run('Guard it')

const entries = await store.readEntries('default', 'chats/1', { after: 0, limit: 100 })
for (const { seq, type, kind, job, appendNo } of entries) console.log(seq, type, kind, job === runId, appendNo)
console.log('the code is in the log:', JSON.stringify(entries).includes('4711'))

const job = await store.getJob('default', runId)
console.log(job?.status, 'epoch', job?.epoch, 'owner', job?.owner)
const last = { database: 'default', conversation: 'chats/1', entries: [] }
const refused = await store.append({ ...last, fence: { job: runId, epoch: 99 } })
console.log(refused.ok ? 'stored' : refused.reason)
await runtime.close()
