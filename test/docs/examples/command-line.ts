/** The command line as a library: the same words as in a shell, on streams of our own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { runCommandLine } from '@witan/cli'

const folder = mkdtempSync(join(tmpdir(), 'witan-docs-'))
const agent = { id: 'clerk', model: 'local/any', instructions: 'File things.', parameters: [{ name: 'userId' }] }
const config = {
  store: { url: 'memory:' },
  connections: { local: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' } },
  agents: [agent],
}
writeFileSync(join(folder, 'witan.config.json'), JSON.stringify(config))

const written: string[] = []
const output = { write: (text: string) => written.push(text) }
const terminal = { input: Readable.from([]), output, errors: output, environment: {}, folder }
const witan = async (...words: string[]) => {
  const code = await runCommandLine(words, terminal)
  console.log(`$ witan ${words.join(' ')}\n${written.splice(0).join('').trimEnd()}\n(exit ${code})`)
}

await witan('check')
await witan('agents', 'list')
rmSync(folder, { recursive: true })
