/** What a document and a passage are known by changes with all that decides how they are found, and with nothing else. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertCheap } from '../../../../test/support/cpu.ts'
import { runWithoutPause, runWithPauses } from '../identity/pausable.ts'
import { documentDigest, passageId } from './digest.ts'

const base = { passageCharacters: 1200, language: 'en', embedding: null } as const
const document = { title: 'T', uri: null, mediaType: 'text/plain', content: 'x', attributes: { a: '1', b: ['2'] } }
const digest = (change: object = {}, changed: object = {}) =>
  runWithoutPause(documentDigest({ ...base, ...changed }, { ...document, ...change }))

test('the digest of a document changes with each part of it, and with how its base reads it', () => {
  const digests = [
    digest(),
    digest({ title: null }),
    digest({ title: 'null' }),
    digest({ uri: 'T' }),
    digest({ mediaType: 'text/html' }),
    digest({ content: 'y' }),
    digest({ content: Buffer.from('x') }),
    digest({ attributes: { a: 1, b: ['2'] } }),
    digest({ attributes: { a: '1', b: '2' } }),
    digest({ attributes: { a: '1' } }),
    digest({}, { passageCharacters: 1201 }),
    digest({}, { language: 'none' }),
    digest({}, { embedding: 'local/embed' }),
  ]
  assert.equal(new Set(digests).size, digests.length)
  for (const each of digests) assert.match(each, /^sha256:[0-9a-f]{64}$/)
  assert.equal(digest({ attributes: { b: ['2'], a: '1' } }), digest())
  assert.equal(digest({}, { name: 'Another name' }), digest())
})

test('the id of a passage changes with base, document, digest and place', () => {
  const passage = { base: 'b', document: 'd', digest: digest(), place: 0 }
  const changes = [{}, { base: 'c' }, { document: 'e' }, { digest: digest({ content: 'y' }) }, { place: 1 }]
  const ids = changes.map((change) => passageId({ ...passage, ...change }))
  assert.equal(new Set(ids).size, ids.length)
  for (const id of ids) assert.match(id, /^k[a-z2-7]{8}$/)
  assert.equal(passageId(passage), passageId({ ...passage }))
})

test('the digest of 16 MB holds no turn', async () => {
  for (const content of ['知'.repeat(16_000_000), Buffer.alloc(16_000_000)])
    await assertCheap({ longest: 40 }, () => runWithPauses(documentDigest(base, { ...document, content })))
})
