/** Who called from another server, and for whom. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callerOf } from './caller.ts'
import { forWhomWords } from './caller-words.ts'

const piece = (subject: string, ...onBehalfOf: string[]) => ({
  ...{ subject, onBehalfOf, issuer: 'https://a.test', digest: 'sha256:1', expiresAt: 0 },
})
const mail = 'mailto:u@x.test'

test('[M24] a caller is shown with those for whom it acts, as its evidence proved', () => {
  const rows: readonly (readonly [
    evidence: readonly ReturnType<typeof piece>[],
    onBehalfOf: readonly string[] | undefined,
  ])[] = [
    [[], undefined],
    [[piece('@a@a.test')], undefined],
    [[piece('@a@a.test', '@b@b.test', mail)], ['@b@b.test', mail]],
    [[piece(mail), piece('@a@a.test', '@b@b.test')], ['@b@b.test']],
    [[piece(mail)], [mail]],
    [[piece(mail, '@b@b.test')], ['@b@b.test']],
  ]
  for (const [evidence, expected] of rows) {
    const caller = callerOf({ principal: { id: '@a@a.test' }, incoming: { evidence } })
    assert.deepEqual(caller?.onBehalfOf, expected, JSON.stringify(evidence))
  }
  assert.equal(callerOf({ principal: { id: 'user:anna' }, incoming: undefined }), null)
})

test('[M23] the words name the immediate principal, and who began it', () => {
  const words = (...onBehalfOf: string[]) => forWhomWords({ address: '@a@a.test', hop: null, onBehalfOf })
  assert.equal(forWhomWords({ address: '@a@a.test', hop: 1 }), '')
  assert.equal(words(mail), `for ${mail}`)
  assert.equal(words('@b@b.test', '@c@c.test', mail), `for @b@b.test (begun by ${mail})`)
})
