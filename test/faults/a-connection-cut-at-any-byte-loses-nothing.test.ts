/** The connection to another server breaks after each byte of a stream: the call ends right, and its task there is made once. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { createSafeFetch } from '@witan/core/tooling'
import { cuttingProxy } from '../support/cutting-proxy.ts'
import { failureOf, methodsOf, play } from '../support/remote-call.ts'

const chunk = (text: string, append: boolean) => ({
  artifactUpdate: { taskId: 't', append, artifact: { artifactId: 'a', parts: [{ text }] } },
})
const whole = {
  ...{ id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } },
  artifacts: [{ artifactId: 'a', parts: [{ text: 'In the cellar.' }] }],
}
const frames = [
  { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } } },
  chunk('In the ', false),
  chunk('cellar.', true),
  { statusUpdate: { taskId: 't', status: { state: 'TASK_STATE_COMPLETED' } } },
]
const rpc = (result: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, result })

/** An A2A server that streams one answer, and counts the messages that began a task. */
async function openRemote() {
  const begun: string[] = []
  let bytes = 0
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const { method, params } = JSON.parse(body)
    response.sendDate = false
    if (method === 'GetTask') {
      response.end(rpc(whole))
      return
    }
    if (method === 'SendStreamingMessage') begun.push(params.message.messageId)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const { socket } = response
    const from = socket?.bytesWritten ?? 0
    const told = method === 'SubscribeToTask' ? [{ task: whole }] : frames
    for (const frame of told) response.write(`data: ${rpc(frame)}\n\n`)
    response.end(() => {
      if (method === 'SendStreamingMessage') bytes = Math.max(bytes, (socket?.bytesWritten ?? 0) - from)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { begun, server, bytes: () => bytes, port: (server.address() as AddressInfo).port }
}

describe('a stream of another server', () => {
  let remote: Awaited<ReturnType<typeof openRemote>>
  let proxy: Awaited<ReturnType<typeof cuttingProxy>>
  before(async () => {
    remote = await openRemote()
    proxy = await cuttingProxy(remote.port)
  })
  after(async () => {
    await proxy.close()
    remote.server.closeAllConnections()
    remote.server.close()
  })

  for (const isIdempotent of [true, false])
    for (const how of ['reset', 'end'] as const)
      test(`[D1] is cut (${how}) after each of its bytes, at a server that ${isIdempotent ? 'takes a message once' : 'does not say so'}`, async (context) => {
        const { open } = createSafeFetch({ resolve: { 'b.test': proxy.url } })
        const calm = await play(open, { isIdempotent })
        assert.equal(textOf(calm), 'In the cellar.')
        let unknown = 0
        for (let at = 0; at <= remote.bytes(); at += 1) {
          remote.begun.length = 0
          proxy.cut(at, how)
          const played = await play(open, { isIdempotent })
          assert.equal(new Set(remote.begun).size, 1, `byte ${at}: ${remote.begun}`)
          if (!isIdempotent) assert.equal(remote.begun.length, 1, `byte ${at}: the message was sent again`)
          if (!isIdempotent && /^OUTCOME_UNKNOWN/.test(failureOf(played))) unknown += 1
          else assert.equal(textOf(played), 'In the cellar.', `byte ${at}: ${failureOf(played)} ${methodsOf(played)}`)
        }
        const trials = remote.bytes() + 1
        context.diagnostic(`${trials} trials, ${unknown} unknown, 0 violations`)
        assert.ok(trials > 300 && (isIdempotent ? unknown === 0 : unknown > 100), `${trials} ${unknown}`)
      })
})

const textOf = ({ outcome }: Awaited<ReturnType<typeof play>>) =>
  outcome.kind === 'result' ? outcome.answered?.text : null
