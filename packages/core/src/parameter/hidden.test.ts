/** The box of a bound value, for whoever prints, spreads, copies or serialises it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { format, inspect } from 'node:util'
import { Boxed } from './hidden.ts'

test('[D15] the box shows nothing but to reveal', () => {
  const box = new Boxed('cny-boxed')
  const bound = new Map([['userId', { box, origin: 'caller' }]])
  const shown = [box, { box }, [box], bound, { ...box }, Object.assign({}, box), structuredClone({ ...box })]
  const printed = shown.flatMap((one) => [
    inspect(one, { depth: 9, showHidden: true, customInspect: false }),
    inspect(one, { depth: 9 }),
    format('%s %o %O %j', one, one, one, one),
    JSON.stringify([one, ...bound]),
    `${String(one)} ${Object.entries(one).join()}`,
  ])
  assert.doesNotMatch(printed.join('\n'), /cny/)
  assert.equal(box.reveal(), 'cny-boxed')
})
