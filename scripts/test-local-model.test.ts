/** The script that asks a model on this machine: it runs against any server that speaks the protocol, and says when there is none. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json, text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { chunk } from '../test/support/fake-provider.ts'

const script = fileURLToPath(new URL('test-local-model.ts', import.meta.url))
const root = fileURLToPath(new URL('..', import.meta.url))

async function run(settings: Readonly<Record<string, string>>) {
  const { WITAN_LOCAL_MODEL_URL: _, WITAN_LOCAL_MODEL: __, NODE_TEST_CONTEXT: ___, ...env } = process.env
  const child = spawn(process.execPath, ['--no-warnings', script], { cwd: root, env: { ...env, ...settings } })
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code: child.exitCode, out, err }
}

/** A server whose model says the same again and again, keeps to a schema or not, or one that refuses every request. */
async function serve(context: TestContext, kind: 'exact' | 'vague' | 'refusing'): Promise<string> {
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') return void response.end(JSON.stringify({ data: [{ id: 'parrot' }] }))
    const { response_format: format } = (await json(request)) as { response_format?: unknown }
    if (kind === 'refusing') return void response.writeHead(400).end('{"error":{"message":"What?"}}')
    const isFree = format === undefined || kind === 'vague'
    const words = isFree ? ['Good ', 'day.'] : ['{"city":"Oslo",', '"warm":false}']
    const usage = { prompt_tokens: 5, completion_tokens: 2 }
    const documents = [...words.map((content) => chunk({ content })), chunk({}, 'stop', usage)]
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const document of documents) {
      response.write(`data: ${JSON.stringify(document)}\n\n`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    response.end('data: [DONE]\n\n')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  context.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

test('without a server, or with one that does not answer, it could not run', async () => {
  const gone = createServer().listen(0, '127.0.0.1')
  await once(gone, 'listening')
  const { port } = gone.address() as AddressInfo
  gone.close()
  for (const url of ['', 'no address', `http://127.0.0.1:${port}/v1`]) {
    const { code, err } = await run({ WITAN_LOCAL_MODEL_URL: url })
    assert.equal(code, 3)
    assert.match(err, /^local model: COULD NOT RUN: /)
  }
})

test('a model that keeps to the protocol passes, whatever it says', async (context) => {
  for (const kind of ['exact', 'vague'] as const) {
    const { code, out } = await run({ WITAN_LOCAL_MODEL_URL: await serve(context, kind) })
    assert.equal(code, 0, out)
    assert.match(out, /local model: parrot at 127\.0\.0\.1:\d+\n/)
    assert.match(out, /pass 5\n/)
  }
})

test('a server that refuses the requests fails', async (context) => {
  const { code, out } = await run({ WITAN_LOCAL_MODEL_URL: await serve(context, 'refusing') })
  assert.equal(code, 1)
  assert.match(out, /fail 5\n/)
})
