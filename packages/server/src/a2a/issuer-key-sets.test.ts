/** The keys of other servers while strangers name servers that do not answer: nobody whose keys are known is kept out. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { isWitanError } from '@witan/protocol'
import { createIssuerKeySets } from './issuer-key-sets.ts'

const jwk = {
  ...generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }),
  kid: 'k1',
  alg: 'EdDSA',
  use: 'sig',
}
const limits = { issuers: 3, atOnce: 2, freshMs: 300_000, pauseMs: 10_000 }
const isRefused = (error: unknown) => isWitanError(error) && error.code === 'UNAUTHENTICATED'

/** The cache on a network where `good…` answer, `slow…` never do, and nobody else is there. */
function network() {
  const clock = { now: 1_000 }
  const asked: string[] = []
  const ends: (() => void)[] = []
  const fetchJson = (url: string): Promise<unknown> => {
    asked.push(new URL(url).hostname)
    if (url.startsWith('https://good')) return Promise.resolve({ keys: [jwk] })
    if (!url.startsWith('https://slow')) return Promise.reject(new Error('nobody there'))
    return new Promise((_, reject) => ends.push(() => reject(new Error('too late'))))
  }
  const sets = createIssuerKeySets(fetchJson, () => clock.now, limits)
  const keyOf = (host: string) => sets.keyOf({ form: 'jwks', issuer: `https://${host}`, kid: 'k1' })
  const end = () => {
    for (const one of ends.splice(0)) one()
  }
  return { clock, asked, keyOf, end }
}

test('[M03] an issuer whose keys are known is asked again, however many others are asked', async () => {
  const { clock, keyOf, end } = network()
  assert.ok(await keyOf('good.test'))
  const waiting = ['slow1.test', 'slow2.test'].map((host) => keyOf(host).catch((error: unknown) => error))
  await assert.rejects(keyOf('good2.test'), isRefused)
  clock.now += limits.freshMs + 1
  assert.ok(await keyOf('good.test'))
  end()
  for (const one of await Promise.all(waiting)) assert.ok(isRefused(one))
  assert.ok(await keyOf('good2.test'))
})

test('[M03] issuers that do not answer push out none whose keys are known, and are left alone for a while', async () => {
  const { clock, asked, keyOf } = network()
  assert.ok(await keyOf('good.test'))
  for (let count = 0; count < 20; count += 1) await assert.rejects(keyOf(`none${count}.test`), isRefused)
  assert.ok(await keyOf('good.test'))
  assert.equal(asked.filter((host) => host === 'good.test').length, 1)
  await assert.rejects(keyOf('none19.test'), isRefused)
  assert.equal(asked.filter((host) => host === 'none19.test').length, 1)
  clock.now += limits.pauseMs + 1
  await assert.rejects(keyOf('none19.test'), isRefused)
  assert.equal(asked.filter((host) => host === 'none19.test').length, 2)
})
