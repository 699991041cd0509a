/** The same as a library: everything of one store, line by line, into another one. */
import { createRuntime, defineAgent, memoryStore } from '@witan/core'
import { exportStore, importInto, exportText, readExport } from '@witan/core/export'
import { scriptedModel } from '@witan/core/testing'

const from = memoryStore()
const clerk = defineAgent({ id: 'clerk', instructions: 'Help.', model: scriptedModel(() => 'Filed.') })
const runtime = createRuntime({ store: { ...from, close: async () => {} }, agents: [clerk] })
await (await runtime.start({ agent: 'clerk', id: 'chats/1', prompt: 'File it.' })).run?.result
await runtime.close()

async function* lines() {
  for await (const line of exportStore(from, await from.listDatabases())) yield exportText(line)
}

const to = memoryStore()
await to.open()
const take = importInto(to)
for await (const item of readExport(lines())) console.log(item.kind, await take(item))
for await (const line of lines()) console.log(line.slice(0, 17), '…')
