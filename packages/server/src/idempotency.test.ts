/** What becomes of a key when its request fails. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localPrincipal } from '@witan/core'
import { WitanError } from '@witan/protocol'
import { actOnce } from './idempotency.ts'

const scope = {
  ...{ principal: localPrincipal, method: 'POST', path: '/api/v1/conversations' },
  ...{ key: 'k', name: 'Idempotency-Key', digest: 'd' },
}

const held = { key: 'k', at: 1 }

/** What is asked of the replies when the request ends in this error. */
async function askedAfter(error: WitanError, runId?: string): Promise<readonly string[]> {
  const asked: string[] = []
  const replies = {
    begin: async () =>
      runId === undefined
        ? ({ state: 'fresh', reservation: held } as const)
        : ({ state: 'noted', reservation: held, runId } as const),
    finish: async (_: unknown, of: unknown) => void asked.push(of === held ? 'finish' : 'finish another'),
    abandon: async (_: unknown, of: unknown) => void asked.push(of === held ? 'abandon' : 'abandon another'),
  }
  const failure = () => ({ status: 500, text: null, headers: {} })
  const acting = actOnce(scope, () => Promise.reject(error), { replies, log: () => {}, failure })
  await assert.rejects(acting, error)
  return asked
}

test('[P20] a key is given up where its request was refused, and kept where the store may still do it', async () => {
  assert.deepEqual(await askedAfter(new WitanError('RUN_ACTIVE', 'busy')), ['abandon'])
  assert.deepEqual(await askedAfter(new WitanError('IN_PROGRESS', 'it is taken')), ['abandon'])
  assert.deepEqual(await askedAfter(new WitanError('STORE_UNAVAILABLE', 'the disk is full')), ['abandon'])
  const lost = new WitanError('STORE_UNAVAILABLE', 'no reply', { details: { outcome: 'unknown' } })
  assert.deepEqual(await askedAfter(lost), [])
})

test('[P20] the key of a run that is there stays, whatever refuses a repeat', async () => {
  for (const code of ['STORE_UNAVAILABLE', 'NOT_FOUND'] as const)
    assert.deepEqual(await askedAfter(new WitanError(code, 'not now'), 'c_1'), [], code)
})
