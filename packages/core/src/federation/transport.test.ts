/** What a refusal of another server says, in both bindings. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RefusedError, type RemoteEndpoint, requestRemote } from './transport.ts'

const problem = { code: 'UNAUTHENTICATED', title: 'No credential', detail: 'The keys cannot be read.' }

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}

async function refusalOf(binding: RemoteEndpoint['binding'], status: number, body: unknown): Promise<RefusedError> {
  const endpoint = { url: 'https://b.test/', binding, tenant: null, isStreaming: false, isIdempotent: false }
  const fetch = async () => ({ status, header: () => 'application/json', body: bytesOf(JSON.stringify(body)) })
  const request = {
    method: 'get',
    params: { id: '1' },
    bearer: null,
    extensions: [],
    signal: AbortSignal.any([]),
  } as const
  try {
    for await (const _ of requestRemote(fetch, endpoint, request)) assert.fail('it was not refused')
  } catch (error) {
    if (error instanceof RefusedError) return error
    throw error
  }
  return assert.fail('nothing came')
}

test('a refusal below A2A says what its problem document says', async () => {
  for (const binding of ['JSONRPC', 'HTTP+JSON'] as const) {
    for (const [body, said] of [
      [problem, 'it answered 401: The keys cannot be read.'],
      [{ title: 'No credential' }, 'it answered 401: No credential'],
      [{ detail: 7 }, binding === 'JSONRPC' ? 'it answered 401 without a result' : 'it answered 401'],
    ] as const) {
      const error = await refusalOf(binding, 401, body)
      assert.deepEqual([error.code, error.message], [401, said], binding)
    }
    const long = await refusalOf(binding, 401, { detail: 'x'.repeat(5_000) })
    assert.equal(long.message.length, 1_000)
  }
})
