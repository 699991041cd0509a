/** Addresses: what is read, in which form it is kept, and what is refused. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readAddress } from './address.ts'

describe('an address', () => {
  test('[Mb01] [M01] [E70] is read in three forms and kept in one', () => {
    for (const [text, kept] of [
      ['@agent@verse8.io', '@agent@verse8.io'],
      ['agent@verse8.io', '@agent@verse8.io'],
      ['acct:agent@verse8.io', '@agent@verse8.io'],
      ['ACCT:Agent@Verse8.IO', '@agent@verse8.io'],
      ['acct:@agent@verse8.io', '@agent@verse8.io'],
      ['@a.b_c-d@agent.localhost', '@a.b_c-d@agent.localhost'],
      ['@docs@bücher.example', '@docs@xn--bcher-kva.example'],
      ['@docs@BÜCHER.example', '@docs@xn--bcher-kva.example'],
      ['@docs@xn--bcher-kva.example', '@docs@xn--bcher-kva.example'],
      ['@docs@ｂｏｔｓ.example', '@docs@bots.example'],
      ['@docs@bots。example', '@docs@bots.example'],
      [`@${'a'.repeat(64)}@b.test`, `@${'a'.repeat(64)}@b.test`],
    ] as const) {
      const read = readAddress(text)
      assert.ok(read.ok, text)
      assert.equal(read.address.text, kept)
      assert.deepEqual(readAddress(kept), read)
    }
  })

  test('[Mb01] [E70] is refused with its reason', () => {
    for (const [text, problem] of [
      ['', /expected `@local@domain`/],
      ['docs', /expected `@local@domain`/],
      ['@verse8.io', /expected `@local@domain`/],
      ['@@verse8.io', /local part/],
      ['@foo@bar@baz', /one local part and one domain/],
      ['@@a@b.test', /one local part and one domain/],
      ['@foo@localhost', /two labels/],
      ['@foo@', /missing/],
      ['@foo@bots.example.', /dot at its end/],
      ['@foo@bots.example。', /dot at its end/],
      ['@foo@bots.example:443', /port/],
      ['@foo@127.0.0.1', /IP address/],
      ['@foo@127.1', /IP address/],
      ['@foo@0x7f.1', /IP address/],
      ['@foo@0x7f000001', /IP address/],
      ['@foo@2130706433', /IP address/],
      ['@foo@１２７.0.0.1', /IP address/],
      ['@foo@[::1]', /IP address/],
      ['@foo@::1', /IP address/],
      ['@foo@b.test/x', /not a domain name/],
      ['@foo@b.test?x', /not a domain name/],
      ['@foo@b.test#x', /not a domain name/],
      ['@foo@b%2etest', /not a domain name/],
      ['@foo@b\\test.x', /not a domain name/],
      ['@foo@b.te\nst', /not a domain name/],
      ['@foo@b_c.test', /not a domain name/],
      ['@foo@-b.test', /not a domain name/],
      ['@foo@b..test', /not a domain name/],
      [`@foo@${'a'.repeat(64)}.test`, /not a domain name/],
      [`@foo@${'a.'.repeat(200)}test`, /320|not a domain name/],
      ['@v1@b.test', /reserved/],
      ['@V1@b.test', /reserved/],
      ['@.@b.test', /reserved/],
      ['@..@b.test', /reserved/],
      ['@fö@b.test', /local part/],
      ['@\u212a@b.test', /local part/],
      ['@a b@b.test', /local part/],
      [`@${'a'.repeat(65)}@b.test`, /local part/],
      ['mailto:a@b.test', /local part/],
      ['x'.repeat(1_000_000), /at most/],
    ] as const) {
      const read = readAddress(text)
      assert.ok(!read.ok, text)
      assert.match(read.problem, problem, text.slice(0, 100))
    }
  })
})
