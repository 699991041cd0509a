/** Uploads to MLflow, by a stand-in that keeps what it gets: each file once, and no trace waits for a server that stores no files. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, beforeEach, describe, test } from 'node:test'
import { scrubberOfValues } from '../parameter/scrub.ts'
import { Mlflow } from './mlflow.ts'
import type { Parcel } from './parcel-queue.ts'
import { filesOf, type TraceFile } from './trace-file.ts'

describe('artifacts for MLflow', () => {
  const seen: string[] = []
  let meddle: (path: string) => number = () => 200
  let uri = 'mlflow-artifacts:/7/run1/artifacts'
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const path = `${request.method} ${(request.url ?? '').replace(/^\/api\/\d\.0\//, '').replace(/\?.*/, '')}`
    seen.push(`${path} ${await text(request)}`)
    const run = { info: { run_id: 'run1', artifact_uri: uri } }
    const body = path.endsWith('get-by-name')
      ? { experiment: { experiment_id: '7' } }
      : path.endsWith('runs/search')
        ? { runs: [run] }
        : { run }
    response.writeHead(meddle(path)).end(JSON.stringify(body))
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  let url = ''
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  beforeEach(() => {
    seen.length = 0
    meddle = () => 200
    uri = 'mlflow-artifacts:/7/run1/artifacts'
  })

  const open = () =>
    new Mlflow({
      url,
      headers: {},
      resource: [],
      timeoutMs: 5_000,
      experiment: 'witan',
      runs: 'none',
      artifacts: true,
    })
  const file = (path = 'lead/c_1/a b.txt', bytes: Uint8Array | null = Buffer.from('text')): TraceFile => ({
    ...{ id: 'art_1', traceId: 'ab12', path },
    read: async () => bytes,
  })
  const parcel = (...files: readonly TraceFile[]): Parcel => ({
    ...{ count: 0, bytes: 0, data: new Uint8Array(), group: 'default\nchats/1', summary: null },
    files,
  })
  const { signal } = new AbortController()
  const asked = (method: string) => seen.filter((one) => one.startsWith(method))

  test('[T31] a file is put below its run, and the trace names it', async () => {
    assert.deepEqual(await open().send([parcel(file())], signal), { kind: 'taken' })
    assert.deepEqual(asked('PUT'), ['PUT mlflow-artifacts/artifacts/7/run1/artifacts/lead/c_1/a%20b.txt text'])
    assert.deepEqual(asked('PATCH'), [
      'PATCH mlflow/traces/tr-ab12/tags {"key":"witan.artifact.art_1","value":"lead/c_1/a b.txt"}',
      'PATCH mlflow/traces/tr-ab12/tags {"key":"witan.artifacts.run","value":"run1"}',
    ])
  })

  test('[E80] it is put once, though its trace is sent again; a trace waits for three tries of it at most', async () => {
    const mlflow = open()
    const one = parcel(file())
    meddle = (path) => (path === 'POST /v1/traces' ? 503 : 200)
    assert.equal((await mlflow.send([one], signal)).kind, 'failed')
    meddle = () => 200
    assert.equal((await mlflow.send([one], signal)).kind, 'taken')
    assert.equal(asked('PUT').length, 1)
    const other = parcel(file('lead/c_2/b.txt'))
    meddle = (path) => (path.startsWith('PUT') ? 503 : 200)
    assert.equal((await mlflow.send([other], signal)).kind, 'failed')
    assert.equal((await mlflow.send([other], signal)).kind, 'failed')
    const last = await mlflow.send([other], signal)
    assert.deepEqual(last, { kind: 'taken', complaint: 'it answered 503 for an artifact' })
    assert.equal(asked('PUT').length, 4)
  })

  test('what is refused for good, gone, or has no place there holds up nothing, and no tag names it', async () => {
    meddle = (path) => (path.startsWith('PUT') ? 400 : 200)
    const refused = await open().send([parcel(file())], signal)
    assert.deepEqual(refused, { kind: 'taken', complaint: 'it answered 400 for an artifact' })
    meddle = () => 200
    assert.deepEqual(await open().send([parcel(file('a/b/c', null))], signal), { kind: 'taken' })
    seen.length = 0
    for (const elsewhere of [
      's3://bucket/1',
      'file:///etc',
      'mlflow-artifacts:/../../x',
      'mlflow-artifacts:/a/%2e%2e/b',
      '',
    ]) {
      uri = elsewhere
      const sent = await open().send([parcel(file())], signal)
      assert.deepEqual(sent, { kind: 'taken', complaint: 'it lets nobody but its own client store files' }, elsewhere)
    }
    assert.deepEqual([asked('PUT'), asked('PATCH')], [[], []])
    uri = 'mlflow-artifacts:/7/run1/artifacts'
    meddle = (path) => (path.startsWith('PATCH') ? 404 : 200)
    const untagged = await open().send([parcel(file())], signal)
    assert.deepEqual(untagged, { kind: 'taken', complaint: 'it answered 404 for the tag of a trace' })
  })
})

test('[D15] [T31] a file of a trace has a plain name and no hidden value, and a job has at most 500', async () => {
  const scrub = scrubberOfValues(['token-4711'])
  const entry = (name: string, call = 'c_1') =>
    ({
      ...{ type: 'artifact', place: { agentPath: 'lead', call, run: 'c_0' } },
      body: { id: `art_${name}`, name, mediaType: 'text/plain', digest: 'sha256:x' },
    }) as never
  const job = { database: 'default', conversation: 'chats/1', job: 'c_0', run: 'c_0', upTo: 9, seen: null }
  const source = { scrub, content: async () => Buffer.from('a token-4711 b') }
  const pathsOf = (...names: string[]) =>
    filesOf(
      job,
      names.map((name) => entry(name)),
      source,
    ).map(({ path }) => path)
  assert.deepEqual(pathsOf('token-4711.txt', '.a#%?.txt', 'x', 'x', 'ä'.repeat(150)), [
    'lead/c_1/[hidden].txt',
    'lead/c_1/_a___.txt',
    'lead/c_1/x',
    'lead/c_1/art_x/x',
    `lead/c_1/art_${'ä'.repeat(150)}`,
  ])
  const [one] = filesOf(job, [entry('a')], source)
  assert.equal(String(await one?.read()), 'a [hidden] b')
  const many = Array.from({ length: 600 }, (_, index) => entry('a', `c_${index}`))
  assert.equal(filesOf(job, many, source).length, 500)
})
