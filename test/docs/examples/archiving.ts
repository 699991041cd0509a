/** A conversation of this store moves into a file, and comes back. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { runCommandLine } from '@witan/cli'
import { createRuntime, defineAgent, sqliteStore } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

const folder = mkdtempSync(join(tmpdir(), 'witan-docs-'))
writeFileSync(join(folder, 'witan.config.json'), JSON.stringify({ store: { url: 'file:./witan.db' } }))
const clerk = defineAgent({ id: 'clerk', instructions: 'Help.', model: scriptedModel(() => 'Filed.') })
const runtime = createRuntime({ store: sqliteStore({ file: join(folder, 'witan.db') }), agents: [clerk] })
await (await runtime.start({ agent: 'clerk', id: 'chats/7', prompt: 'File it.' })).run?.result
await runtime.close()

const output = { write: () => {} }
const terminal = { input: Readable.from([]), output, errors: output, environment: {}, folder }
const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
console.log('archive:', await runCommandLine(['archive', '--before', tomorrow, '--to', 'archive'], terminal))
const file = join('archive', 'default', 'chats%2F7.jsonl')
console.log(readdirSync(join(folder, 'archive', 'default')))
console.log('import:', await runCommandLine(['import', file], terminal))
rmSync(folder, { recursive: true })
