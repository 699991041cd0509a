/** The digest of a call: equal for equal calls, different for all others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callDigest, canonicalJson } from './digest.ts'

test('[D11] the order of keys says nothing, everything else does', () => {
  const one = callDigest('pay', { amount: 5, to: { name: 'x', tags: ['a', 'b'] } })
  assert.match(one, /^[0-9a-f]{64}$/)
  assert.equal(one, callDigest('pay', { to: { tags: ['a', 'b'], name: 'x' }, amount: 5 }))
  const others = [
    callDigest('Pay', { amount: 5, to: { name: 'x', tags: ['a', 'b'] } }),
    callDigest('pay', { amount: 5.5, to: { name: 'x', tags: ['a', 'b'] } }),
    callDigest('pay', { amount: '5', to: { name: 'x', tags: ['a', 'b'] } }),
    callDigest('pay', { amount: 5, to: { name: 'x', tags: ['b', 'a'] } }),
    callDigest('pay', { amount: 5, to: { name: 'x', tags: ['a', 'b'] }, note: null }),
    callDigest('pay', {}),
  ]
  assert.equal(new Set([one, ...others]).size, others.length + 1)
})

test('[D14] no name is lost to a prototype', () => {
  const odd = JSON.parse('{"__proto__":{"x":1},"constructor":2}') as Record<string, unknown>
  assert.equal(canonicalJson(odd), '{"__proto__":{"x":1},"constructor":2}')
  assert.notEqual(callDigest('t', odd), callDigest('t', JSON.parse('{"__proto__":{"x":2},"constructor":2}')))
})
