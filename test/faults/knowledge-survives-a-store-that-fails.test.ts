/** A store whose knowledge fails at random, before or after it did what it was asked: what is acknowledged is found, and nothing of what was deleted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, memoryStore, type Runtime } from '@witan/core'
import { type FaultRates, faultyStore } from '@witan/core/testing'
import fc from 'fast-check'
import { fakeClock } from '../support/clock.ts'
import { holds } from '../support/seeds.ts'

const bad = { fail: 0.12, executeAndFail: 0.12 }
const rates: FaultRates = {
  'knowledge.beginIngest': bad,
  'knowledge.beginReread': bad,
  'knowledge.claimDocuments': bad,
  'knowledge.countKnowledge': bad,
  'knowledge.deleteDocument': bad,
  'knowledge.deleteKnowledge': bad,
  'knowledge.endDocument': bad,
  'knowledge.listBases': bad,
  'knowledge.listDocuments': bad,
  'knowledge.readDocument': bad,
  'knowledge.readIngest': bad,
  'knowledge.renewDocuments': bad,
  changeAgents: bad,
}

type Step =
  | { readonly kind: 'ingest'; readonly key: string; readonly word: string }
  | { readonly kind: 'delete'; readonly key: string }
  | { readonly kind: 'save' | 'drop' }

const key = fc.constantFrom('a', 'b', 'c')
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('ingest' as const), key, word: fc.constantFrom('horse', 'cart', 'road') }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), key }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('save' as const, 'drop' as const) }),
  },
)

/** Tries until it is acknowledged, or refused for what it is. */
async function tried(work: () => Promise<unknown>, advance: () => void): Promise<boolean> {
  for (let tries = 0; tries < 60; tries += 1) {
    try {
      await work()
      return true
    } catch (error) {
      const { code } = error as { readonly code?: string }
      if (code === 'NOT_FOUND') return false
      assert.match(String(code), /^(?:STORE_|REVISION_MISMATCH)/, String(error))
      advance()
    }
  }
  return assert.fail('it never ended')
}

/** What must be there: the word of each document; null while its base is deleted. */
type Expected = Map<string, string> | null

interface Now {
  expected: Expected
  characters: number
  /** Lets time go on. */
  readonly advance: () => void
}

async function take(runtime: Runtime, one: Step, now: Now): Promise<void> {
  const { advance } = now
  const { knowledge } = runtime
  const save = () => knowledge.save({ id: 'files', passageCharacters: now.characters })
  if (one.kind === 'save') {
    now.characters = now.characters === 300 ? 400 : 300
    await tried(save, advance)
    now.expected ??= new Map()
    return
  }
  if (now.expected === null) return
  if (one.kind === 'drop') {
    await tried(() => knowledge.delete('files'), advance)
    now.expected = null
  } else if (one.kind === 'delete') {
    // What an ingest has taken goes on: only a document that is there already is deleted.
    await settled(runtime, advance)
    await tried(() => knowledge.documents.delete('files', one.key), advance)
    now.expected.delete(one.key)
  } else if (one.kind === 'ingest') {
    const documents = [{ key: one.key, text: `${one.word} of ${one.key}` }]
    await tried(() => knowledge.documents.ingest('files', { documents, wait: false }), advance)
    now.expected.set(one.key, one.word)
  }
}

/** Time goes on until nothing waits. */
async function settled(runtime: Runtime, advance: () => void): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    const base = await runtime.knowledge.get('files').catch(() => null)
    if (base?.waiting === 0) return
    advance()
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  assert.fail('documents wait for ever')
}

test('what is acknowledged is found, and nothing of a deleted base, on a store that fails at any moment', {
  timeout: 600_000,
}, async (context) => {
  const property = fc.asyncProperty(fc.nat(), fc.array(step, { minLength: 3, maxLength: 12 }), async (seed, steps) => {
    const clock = fakeClock()
    const inner = memoryStore({ now: clock.now })
    const { store, heal } = faultyStore(inner, { seed, rates })
    const runtime = createRuntime({ store, clock, leaseMs: 3_000, report: () => {} })
    const advance = () => clock.advance(1_000)
    const now: Now = { expected: null, characters: 300, advance }
    try {
      await runtime.ready
      await take(runtime, { kind: 'save' }, now)
      for (const one of steps) await take(runtime, one, now)
      heal()
      const { expected } = now
      for (let tries = 0; ; tries += 1) {
        const bases = await inner.knowledge.listBases('default')
        const waiting = expected === null ? 0 : (await runtime.knowledge.get('files')).waiting
        const isRead = bases.every(({ readings }) => readings.length <= 1)
        if (waiting === 0 && isRead && bases.length <= (expected === null ? 0 : 1)) break
        assert.ok(tries < 400, `left: ${JSON.stringify(bases)}, ${waiting} wait`)
        clock.advance(tries % 10 === 0 ? 300_000 : 1_000)
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
      if (expected === null) return
      const { items } = await runtime.knowledge.documents.list('files')
      const found = await Promise.all(
        items.map(async ({ key: of }) => [of, (await runtime.knowledge.documents.get('files', of)).text]),
      )
      const wanted = [...expected].map(([of, word]) => [of, `${word} of ${of}`]).sort()
      assert.deepEqual(found, wanted)
      for (const [, word] of expected) {
        const { passages } = await runtime.knowledge.search('files', { query: word, limit: 20 })
        const keys = passages.map(({ document }) => document).sort()
        assert.deepEqual(
          keys,
          [...expected]
            .filter(([, one]) => one === word)
            .map(([of]) => of)
            .sort(),
        )
      }
    } finally {
      heal()
      await runtime.close()
    }
  })
  await holds(context, property, 60)
})
