/**
 * Which code one turn enters: `node --conditions=witan-source bench/turn.ts [--list]`. A turn is `POST /conversations` with a prompt
 * that the model answers at once, on a warm server with a store in memory. V8 counts the functions; those without a name are left out.
 */
import { Session } from 'node:inspector/promises'
import { parseArgs } from 'node:util'
import { createRuntime } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { createApp, createAuth, createLog } from '@witan/server'

const { values } = parseArgs({ options: { list: { type: 'boolean', default: false } } })
const port = () => 80

const runtime = createRuntime({ models: { 'instant/any': scriptedModel(() => 'Good morning.') } })
const stop = new AbortController()
const app = createApp({
  runtime,
  auth: createAuth('none', port),
  hosts: { port, allowed: [] },
  log: createLog('silent'),
  stop: { streams: stop.signal, waits: stop.signal },
  studio: new URL('about:blank'),
})

async function send(method: string, path: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const url = `http://localhost/api/v1${path}`
  const response = await app.fetch(new Request(url, { method, headers, body: JSON.stringify(body) }))
  const text = await response.text()
  if (response.status !== 201) throw new Error(`${path}: ${response.status} ${text}`)
}

const turn = (id: string) => send('POST', '/conversations', { agent: 'greeter', id, prompt: 'Hello' })

/** The named functions of our packages that ran since the last call, by file. */
async function entered(session: Session): Promise<Map<string, readonly string[]>> {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const files = new Map<string, readonly string[]>()
  for (const { url, functions } of result) {
    const file = /\/packages\/(.*)$/.exec(url)?.[1]
    const ran = functions.filter(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0)
    if (file !== undefined && ran.length > 0)
      files.set(
        file,
        ran.map((one) => one.functionName),
      )
  }
  return files
}

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
await send('PUT', '/agents/greeter', { id: 'greeter', model: 'instant/any', instructions: 'Greet.' })
for (const id of ['chats/1', 'chats/2', 'chats/3']) await turn(id)
await new Promise((resolve) => setTimeout(resolve, 300)) // what the last turn does after its reply
await entered(session)
await turn('chats/4')
const files = await entered(session)
if (values.list) for (const [file, functions] of files) console.log(`${file}: ${functions.join(', ')}`)
console.log(`One turn enters ${[...files.values()].flat().length} functions in ${files.size} files.`)
session.disconnect()
stop.abort()
await runtime.close()
