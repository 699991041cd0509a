/** A run that waits outlives its process: one runtime asks, another one on the same file gets the answer. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRuntime, defineAgent, sqliteStore } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'

const folder = mkdtempSync(join(tmpdir(), 'witan-docs-'))
const file = join(folder, 'witan.db')
const porter = defineAgent({
  id: 'porter',
  instructions: 'Open the gate when asked.',
  model: scriptedModel((request) => toolResults(request)[0] ?? call('OpenGate')),
  actions: [{ name: 'OpenGate', description: 'Opens the gate.' }],
})

const first = createRuntime({ store: sqliteStore({ file }), agents: [porter] })
const asked = await first.conversation('porter', { id: 'chats/1' }).run('Let me in.')
console.log(asked.status, asked.interruptions.length)
await sqliteStore({ file })
  .open()
  .catch((error) => console.log(error.code, '–', error.hint))
await first.close()

const store = sqliteStore({ file, synchronous: 'normal' })
const second = createRuntime({ store, agents: [porter] })
const actionResponses = asked.interruptions.map(({ id }) => ({ id, response: 'The gate is open.' }))
const result = await (await second.run('chats/1', { actionResponses })).result
console.log(result.status, result.text, result.runId === asked.runId)
const entries = await store.readEntries('default', 'chats/1', { after: 0, limit: 100 })
console.log(entries.map(({ seq, type, epoch }) => `${seq} ${type} (${epoch})`).join(', '))
await second.close()
rmSync(folder, { recursive: true })
