/** How a terminal shows what waits: what asks, from where, and for whom the run works. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Interruption } from '@witan/protocol'
import { askedLines, askedPhrase, askedPlace } from './interruption-lines.ts'

const base = {
  id: 'i_1',
  path: 'shop/pay',
  agent: '@shop@b.test',
  callId: 'c_1',
  addressee: null,
  state: 'open',
  expiresAt: null,
} as const

const shown = (open: Interruption) =>
  askedLines(open)
    .map((line) => line.map(({ text }) => text).join(''))
    .slice(1)

const condition = (policy: Record<string, unknown>, issuer = '@shop@b.test'): Interruption => ({
  ...base,
  kind: 'policy',
  issuer,
  policy,
})

describe('a condition of a remote agent', () => {
  test('shows its words, its kind, and where it leads', () => {
    const policy = {
      kind: 'payment_required',
      title: 'Pay first',
      message: 'Two euros.\nPlease.',
      url: 'https://shop.b.test/pay?n=1',
      action_label: 'kind',
      data: { price: '2.00' },
    }
    assert.deepEqual(shown(condition(policy)), [
      '◆ @shop@b.test has a condition  shop/pay',
      '  Pay first',
      '  Two euros.',
      '  Please.',
      '  kind     payment_required',
      '  label    kind',
      '  address  https://shop.b.test/pay?n=1',
      '  data     { price: "2.00" }',
    ])
    assert.equal(askedPhrase(condition(policy)), 'payment_required of @shop@b.test: Pay first')
  })

  test('of an own agent reads the same', () => {
    const open = { ...condition({ kind: 'consent_required', message: 'May we?' }, 'shop'), agent: 'shop', path: 'shop' }
    assert.deepEqual(shown(open), ['◆ shop has a condition  shop', '  May we?', '  kind  consent_required'])
    assert.equal(askedPhrase(open), 'consent_required of shop: May we?')
    assert.equal(askedPlace(open), 'shop')
  })

  test('names the issuer where another address passes it on, and shows an address that is no HTTPS one as a field like any other', () => {
    const lines = shown(condition({ kind: 'x', url: 'javascript:alert(1)', retry_after_seconds: '9' }, '@bank@c.test'))
    assert.deepEqual(lines, [
      '◆ @shop@b.test passes on a condition of @bank@c.test  shop/pay',
      '  kind                 x',
      '  url                  javascript:alert(1)',
      '  retry_after_seconds  9',
    ])
  })

  test('can move no cursor, in whichever field', () => {
    const evil = `\u001b[2J\u202e${'x'.repeat(16_000)}`
    const policy = Object.fromEntries(
      ['kind', 'title', 'message', 'code', 'action_label', evil].map((name) => [name, evil]),
    )
    const open = { ...condition(policy, evil), agent: evil, path: evil, addressee: evil }
    for (const text of [...shown(open), askedPhrase(open), askedPlace(open)])
      assert.ok(!text.includes('\u001b') && !text.includes('\u202e'))
  })
})

test('what waits says which address asks and which one called', () => {
  const caller = { address: '@a@a.test', hop: 2 }
  const asked: Interruption = { ...base, kind: 'action', name: 'Pay', arguments: {}, caller }
  assert.equal(askedPlace(asked), 'shop/pay @shop@b.test ← @a@a.test, hop 2')
  assert.equal(askedPlace({ ...asked, agent: 'desk', caller: { ...caller, hop: null } }), 'shop/pay ← @a@a.test')
  assert.deepEqual(shown(asked), ['◆ @shop@b.test asks you to do Pay  ← @a@a.test, hop 2  shop/pay'])
})
