/** Chains of calls between servers: what comes in, what holds, what goes out, and what a model reads. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { holds } from '../../../../test/support/seeds.ts'
import {
  chainInside,
  type ChainTerms,
  chainLines,
  type GivenChains,
  isFinal,
  nextHop,
  relayOf,
  takeChain,
} from './chain.ts'

const called = '@docs@bots.example'
const caller = '@a@a.test'
const terms = { called, caller, ceiling: 4, canonical: (address: string) => address.toLowerCase() }

function taken(given: GivenChains, more: Partial<ChainTerms> = {}) {
  return takeChain(given, { ...terms, ...more })
}

/** hop, max_hops and final of the chain that holds, and the codes of its notices; or why it was refused. */
function shortly(given: GivenChains, more: Parameters<typeof taken>[1] = {}): unknown {
  const result = taken(given, more)
  if (!result.ok) return result.code
  const { chain, notices } = result
  return [chain && [chain.hop, chain.maxHops, isFinal(chain)], ...notices.map(({ code }) => code)]
}

const of = (hop: unknown, max_hops: unknown, more = {}) => ({ hop, max_hops, ...more })

test('[M04] [M05] [M07] [M08] hop and ceiling come in, and whether a hop is final is always computed', () => {
  const table: readonly [GivenChains, unknown][] = [
    [{ message: of(1, 4) }, [[1, 4, false]]],
    [{ message: of(4, 4) }, [[4, 4, true]]],
    [{ message: of(1, 1) }, [[1, 1, true]]],
    [{ message: of(2, 4, { is_final: true }) }, [[2, 4, false]]],
    [{ message: of(4, 4, { is_final: false }) }, [[4, 4, true]]],
    [{ message: of(2, 4, { is_final: 'yes' }) }, [[2, 4, false]]],
    [{ message: of(2, 3, { extra: 1 }) }, [[2, 3, false]]],
  ]
  for (const [given, expected] of table) assert.deepEqual(shortly(given), expected, JSON.stringify(given))
})

test('[M06] [M32] [C22] [E31] our ceiling only lowers an incoming one, and says so', () => {
  assert.deepEqual(shortly({ message: of(2, 10) }), [[2, 4, false], 'CHAIN_LOWERED'])
  assert.deepEqual(shortly({ message: of(4, 10) }), [[4, 4, true], 'CHAIN_LOWERED'])
  assert.deepEqual(shortly({ message: of(6, 10) }), [[6, 4, true], 'CHAIN_LOWERED'])
  assert.deepEqual(shortly({ message: of(2, 3) }), [[2, 3, false]])
  assert.deepEqual(shortly({ message: of(2, Number.MAX_SAFE_INTEGER) }), [[2, 4, false], 'CHAIN_LOWERED'])
})

test('[M28] of chains that contradict each other the one with the fewest hops left counts', () => {
  const orders = [
    ['message', 'capabilities', 'credential'],
    ['credential', 'message', 'capabilities'],
    ['capabilities', 'credential', 'message'],
  ] as const
  for (const [first, second, third] of orders) {
    const given = { [first]: of(1, 4), [second]: of(3, 4), [third]: of(1, 3) }
    assert.deepEqual(shortly(given), [[3, 4, false]], JSON.stringify(given))
    assert.deepEqual(shortly({ [first]: of(1, 9), [second]: of(2, 3) }), [[2, 3, false]])
    // Under our ceiling the second one has fewer hops left, although it says more.
    assert.deepEqual(shortly({ [first]: of(3, 4), [second]: of(9, 100) }), [[9, 4, true], 'CHAIN_LOWERED'])
    assert.equal(shortly({ [first]: of(1, 4), [second]: of(5, 4) }), 'AGENT_CHAIN_INVALID')
  }
})

test('[M05] [E30] a chain that is not one is refused: nothing is clamped', () => {
  const bad: readonly unknown[] = [
    ...[of(0, 4), of(-1, 4), of(5, 4), of(1.5, 4), of(1, 4.5), of('1', 4), of(1, '4'), of(null, 4), of(1, undefined)],
    ...[of(Number.NaN, 4), of(1, Number.POSITIVE_INFINITY), of(1e300, 1e308), of(1, 2 ** 53), of(true, true)],
    ...[{}, [], [1, 4], 'hop', 1, true, { hop: 1 }, { max_hops: 4 }, { hops: 1, max: 4 }],
    JSON.parse('{"__proto__":{"hop":1,"max_hops":4}}'),
    Object.create({ hop: 1, max_hops: 4 }),
  ]
  for (const place of ['message', 'capabilities', 'credential'] as const)
    for (const value of bad) {
      const result = taken({ [place]: value })
      assert.ok(!result.ok && result.code === 'AGENT_CHAIN_INVALID', `${place} ${JSON.stringify(value)}`)
      assert.match(result.detail, /whole numbers `hop` and `max_hops`/)
    }
})

test('[M35] [M37] [E32] an agent without a chain makes the first hop, and a person has none', () => {
  assert.deepEqual(shortly({}), [[1, 4, false], 'CHAIN_MISSING'])
  assert.deepEqual(shortly({ message: null }), [[1, 4, false], 'CHAIN_MISSING'])
  assert.deepEqual(shortly({}, { ceiling: 1 }), [[1, 1, true], 'CHAIN_MISSING'])
  assert.deepEqual(shortly({}, { caller: null }), [null])
  assert.deepEqual(shortly({ message: of(2, 4) }, { caller: null }), [[2, 4, false]])
})

test('[M32] a call that came here before is refused, and so is a path without end', () => {
  const path = (...addresses: unknown[]) => ({ credential: of(1, 4, { root: 'r', path: addresses }) })
  assert.equal(shortly(path(caller, called)), 'CHAIN_LOOP')
  assert.equal(shortly(path(called.toUpperCase(), caller)), 'CHAIN_LOOP')
  assert.equal(shortly({ message: of(1, 4) }, { caller: called }), 'CHAIN_LOOP')
  assert.equal(shortly(path(...Array.from({ length: 65 }, (_, at) => `@a${at}@a.test`))), 'CHAIN_LOOP')
  assert.equal(shortly(path(...Array.from({ length: 10_000 }, () => caller))), 'CHAIN_LOOP')
  assert.equal(shortly(path(caller, 7)), 'AGENT_CHAIN_INVALID')
  assert.equal(shortly({ credential: of(1, 4, { path: 'no' }) }), 'AGENT_CHAIN_INVALID')
  const result = taken(path('@X@x.test', caller))
  assert.ok(result.ok)
  assert.deepEqual([result.chain?.root, result.chain?.path], ['r', ['@x@x.test', caller]])
  const without = taken({ message: of(1, 4) })
  assert.ok(without.ok)
  assert.deepEqual([without.chain?.root, without.chain?.path], [null, [caller]])
})

test('[M26] [M27] [M28] the next hop is one more, under the same ceiling, and there is none after the last', () => {
  const chain = (hop: number, maxHops: number) => ({ hop, maxHops, root: null, path: [] })
  assert.deepEqual(nextHop(null, 4), { hop: 1, maxHops: 4 })
  assert.deepEqual(nextHop(chain(1, 4), 9), { hop: 2, maxHops: 4 })
  assert.deepEqual(nextHop(chain(3, 4), 4), { hop: 4, maxHops: 4 })
  assert.equal(nextHop(chain(4, 4), 9), null)
  assert.equal(nextHop(chain(6, 4), 9), null)
})

test('[M09] [M10] [M11] an agent reads which hop it is', () => {
  const line = (hop: number, maxHops: number) => chainLines({ chain: { hop, maxHops, root: null, path: [] } }, true)
  assert.deepEqual(line(2, 4), ['This is hop 2 of at most 4: calls to other servers may go 2 hops further.'])
  assert.deepEqual(line(3, 4), ['This is hop 3 of at most 4: calls to other servers may go 1 hop further.'])
  assert.deepEqual(line(4, 4), ['This is the final hop (4 of 4): conclude; no agent on another server can be asked.'])
  assert.deepEqual(chainLines({}, true), [])
  assert.deepEqual(chainLines({ chain: { hop: 1, maxHops: 4, root: null, path: [], assumed: true } }, true), [])
})

test('[M13] [M14] [M15] [M33] [C23] the called agent reads that mentions are routed, and no other', () => {
  const chain = { hop: 1, maxHops: 2, root: null, path: [] }
  const relay = /^To bring in another agent, write its address such as @c@domain at the beginning of your answer/
  const isTold = (...given: Parameters<typeof chainLines>) => chainLines(...given).some((line) => relay.test(line))
  assert.equal(isTold({ mentionRelay: 'inline' }, true), true)
  assert.equal(isTold({ mentionRelay: 'inline', chain }, true), true)
  assert.equal(isTold({ mentionRelay: 'inline', chain }, false), false)
  assert.equal(isTold({ mentionRelay: 'inline', chain: { ...chain, hop: 2 } }, true), false)
  for (const one of ['inline', { kind: 'inline' }, { kind: 'inline', more: 1 }])
    assert.equal(relayOf({ mention_relay: one }), 'inline')
  for (const one of ['none', { kind: 'none' }, { kind: 'later' }, 'INLINE', null, 7, ['inline'], {}])
    assert.equal(relayOf({ mention_relay: one }), null, JSON.stringify(one))
  for (const one of [null, undefined, 'inline', [], 7]) assert.equal(relayOf(one), null)
  assert.deepEqual(chainInside({ agent_chain: of(1, 4) }), of(1, 4))
  assert.equal(chainInside('x'), undefined)
})

test('[P13] a chain only ever gets shorter: no input gives more hops than it says, or than we allow', async (context) => {
  const number = fc.oneof(fc.integer({ min: -2, max: 8 }), fc.double(), fc.constant('2'), fc.maxSafeInteger())
  const chain = fc.option(fc.record({ hop: number, max_hops: number, is_final: fc.anything() }), { nil: undefined })
  const given = fc.record({ message: chain, capabilities: chain, credential: chain })
  await holds(
    context,
    fc.property(given, fc.integer({ min: 1, max: 64 }), (chains, ceiling) => {
      const result = taken(chains, { ceiling })
      if (!result.ok) return
      const all = [chains.message, chains.capabilities, chains.credential].filter((one) => one !== undefined)
      const next = nextHop(result.chain, ceiling)
      const left = next === null ? 0 : next.maxHops - next.hop + 1
      const may = Math.min(ceiling - 1, ...all.map(({ hop, max_hops }) => Number(max_hops) - Number(hop)))
      assert.ok(left <= Math.max(0, may), `${left} of ${may}`)
      assert.equal(next === null, result.chain !== null && isFinal(result.chain))
    }),
    500,
  )
})
