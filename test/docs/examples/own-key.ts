/** A key in `.env` reaches its vendor and nothing else. A local server plays the vendor and prints what it got. */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { createLog, loadConfig, openRuntime } from '@witan/server'

const vendor = createServer(async (request, response) => {
  const { model } = (await json(request)) as { model: string }
  console.log(`${request.url} as "${request.headers.authorization}" for ${model}`)
  const choices = [{ message: { role: 'assistant', content: 'Good morning.' }, finish_reason: 'stop' }]
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ choices }))
})
await once(vendor.listen(0, '127.0.0.1'), 'listening')
const baseUrl = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}/v1`

const folder = mkdtempSync(join(tmpdir(), 'witan-docs-'))
writeFileSync(join(folder, '.env'), 'VENDOR_API_KEY=key-of-the-file\n')
writeFileSync(
  join(folder, 'witan.config.ts'),
  `process.loadEnvFile(new URL('.env', import.meta.url))

export default {
  store: { url: 'memory:' },
  connections: { vendor: { kind: 'openai-compatible', baseUrl: '${baseUrl}', apiKeyEnv: 'VENDOR_API_KEY' } },
  agents: [{ id: 'helper', model: 'vendor/small', instructions: 'Help, and be brief.' }],
}`,
)

const runtime = await openRuntime(await loadConfig({ cwd: folder }), createLog('error'))
console.log(runtime.models)
console.log((await runtime.conversation('helper').run('Hello')).text)

await runtime.close()
vendor.close()
rmSync(folder, { recursive: true })
