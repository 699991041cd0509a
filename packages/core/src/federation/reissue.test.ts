/** An issuer that makes evidence anew: whom it is asked for, what of its answers goes out, and what becomes of a call when it does not answer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProvenEvidence } from '@witan/protocol/entries'
import { fakeClock } from '../../../../test/support/clock.ts'
import { type Json, signedEvidence } from '../../../../test/support/evidence.ts'
import { createReissue, type EvidenceIssuer } from './reissue.ts'

const at = Date.UTC(2026, 0, 1)
const issuer = 'https://ids.test'
const proven = (more: Partial<ProvenEvidence> = {}): ProvenEvidence => ({
  ...{ subject: 'mailto:u@example.com', onBehalfOf: [], issuer, digest: 'sha256:1', expiresAt: at + 1 },
  ...more,
})
const of = { audience: '@docs@b.test', messageId: 'c_1', thread: 'ctx' }
const content = {
  ...{ subject: 'mailto:u@example.com', issuer, method: 'urn:x:oauth', assurance: 'oauth', audience: '@docs@b.test' },
  ...{ issued_at: '2026-01-01T00:00:00Z', expires_at: '2026-01-01T00:05:00Z' },
}
const made = (more: Json = {}) => signedEvidence({ ...content, ...more })

async function asked(reissue: EvidenceIssuer['reissue'], pieces = [proven()]) {
  const reports: string[] = []
  const clock = fakeClock(at)
  const ask = createReissue([{ issuer, reissue }], clock, (error) => reports.push(String(error)))
  const asking = ask(pieces, of)
  // What answers at all has answered by now.
  await new Promise((resolve) => setImmediate(resolve))
  clock.advance(5_000)
  return { pieces: await asking, reports }
}

test('[E69] [M31] what an issuer makes for this message goes out as it is; it is told what its evidence had proved', async () => {
  const seen: unknown[] = []
  const piece = made({ claims: { thread: 'ctx', message: 'c_1' }, extra: 'é' })
  const { pieces, reports } = await asked(async ({ signal, ...request }) => {
    seen.push(request, signal.aborted)
    return piece
  })
  assert.deepEqual([pieces, reports, seen], [[piece], [], [{ ...of, evidence: proven() }, false]])
})

test('[E69] it is asked only about evidence of its own that has not expired, and about three pieces at most', async () => {
  const seen: string[] = []
  const none: EvidenceIssuer['reissue'] = async ({ evidence }) => {
    seen.push(evidence.digest)
    return null
  }
  const four = ['a', 'b', 'c', 'd'].map((digest) => proven({ digest }))
  const rows: readonly (readonly [readonly ProvenEvidence[], readonly string[]])[] = [
    [[], []],
    [[proven({ issuer: 'https://a.test' })], []],
    [[proven({ expiresAt: at })], []],
    [[proven({ issuer: 'https://a.test' }), proven()], ['sha256:1']],
    [four, ['a', 'b', 'c']],
  ]
  for (const [pieces, expected] of rows) {
    seen.length = 0
    assert.deepEqual(await asked(none, [...pieces]), { pieces: [], reports: [] })
    assert.deepEqual(seen, expected)
  }
})

const circle: Json = made()
circle['self'] = circle
const answers: Readonly<Record<string, () => unknown>> = {
  'a piece for somebody else': () => made({ audience: '@x@x.test' }),
  'a piece for two': () => made({ audience: ['@docs@b.test', '@x@x.test'] }),
  'a piece for another message': () => made({ claims: { message: 'c_2' } }),
  'a piece for another thread': () => made({ claims: { thread: 'y' } }),
  'a piece of another issuer': () => made({ issuer: 'https://evil.test' }),
  'a piece about somebody else': () => made({ subject: 'mailto:boss@example.com' }),
  'a piece without a signature': () => content,
  'a piece of 20,000 characters': () => made({ extra: 'x'.repeat(20_000) }),
  'a piece of a million values': () => made({ extra: new Array(1_000_000).fill(0) }),
  'a circle': () => circle,
  'a getter that throws': () => ({
    get subject() {
      throw new Error('no')
    },
  }),
  'a list': () => [made()],
  nothing: () => undefined,
  'a rejection that repeats what it was asked': () => Promise.reject(new Error('mailto:u@example.com')),
  'a rejection without an error': () => Promise.reject('down'),
  'a promise for ever': () => new Promise(() => {}),
}
for (const [what, answer] of Object.entries(answers))
  test(`[E69] the message goes out without ${what}, which is reported`, async () => {
    const { pieces, reports } = await asked((async () => answer()) as EvidenceIssuer['reissue'])
    assert.deepEqual(pieces, [])
    assert.equal(reports.length, 1)
    assert.match(reports[0] ?? '', /https:\/\/ids\.test has made no evidence/)
    assert.doesNotMatch(reports[0] ?? '', /example|docs|c_2/)
  })
