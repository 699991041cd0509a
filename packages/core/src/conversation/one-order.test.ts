/** One order: what a process folded of its own jobs is what it stored, in that order, and a cold fold of the log equals the warm one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entry } from '@witan/protocol/entries'
import fc from 'fast-check'
import { fakeClock } from '../../../../test/support/clock.ts'
import { definedBy, givenTo, note, type RandomSystem } from '../../../../test/support/random-system.ts'
import { isOfRandomHook } from '../../../../test/support/random-hooks.ts'
import { playWithTasks, quiet, systemWithTasks } from '../../../../test/support/random-tasks.ts'
import { holds } from '../../../../test/support/seeds.ts'
import { cast, settle, written } from '../../../../test/support/stage.ts'
import { localPrincipal } from '../identity/principal.ts'
import { createWitan } from '../runtime/witan.ts'
import { wire } from '../runtime/wiring.ts'
import { memoryStore } from '../store/drivers/memory.ts'
import type { Store } from '../store/store.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import type { ConversationState } from './state.ts'

/** A store that takes some turns of the event loop for an append, as a database does; it keeps their order. */
function slow(inner: Store, delays: readonly number[]): Store {
  let last: Promise<unknown> = Promise.resolve()
  let count = 0
  return {
    ...inner,
    append(member) {
      const turns = delays[count++ % delays.length] ?? 0
      const done = last.then(() => (turns === 0 ? undefined : settle(turns))).then(() => inner.append(member))
      last = done.catch(() => {})
      return done
    },
  }
}

type Command = 'prompt' | 'interrupt' | 'cancel'
const commands = fc.array(
  fc.record({ kind: fc.constantFrom<Command>('prompt', 'interrupt', 'cancel'), after: fc.nat(8) }),
  { maxLength: 4 },
)

/** Plays a system and gives the entries of its jobs as they were folded and as they are stored, and both folds. */
async function played(
  system: RandomSystem,
  delays: readonly number[],
  sent: readonly { kind: Command; after: number }[],
) {
  const folded: Entry[] = []
  const reports: unknown[] = []
  const rule = playWithTasks(system.seed)
  const model = scriptedModel(cast(Object.fromEntries(system.agents.map(({ id }) => [id, rule]))))
  const store = memoryStore()
  const parts = wire(
    {
      store: slow(store, delays),
      clock: fakeClock(),
      models: { 'play/model': model },
      tools: [note],
      ...definedBy(system),
      retry: { tries: 1 },
      report: (error) => void (isOfRandomHook(error) || reports.push(error)),
    },
    (env) => ({
      ...env,
      follower: { recording() {}, recorded: (entry) => folded.push(entry) },
    }),
  )
  await parts.store.open()
  await parts.worker.open()
  const witan = createWitan(parts, localPrincipal, () => Promise.resolve())
  await parts.preparing.prepare('default')
  await witan.agents.saveAll(system.agents.map(written))
  await witan.start({ agent: 'a', id: 'chats/1', prompt: 'go', parameters: givenTo(system) })
  for (const { kind, after } of sent) {
    await settle(after)
    const { activeRunId } = await witan.getConversation('chats/1')
    const onActive = kind === 'prompt' ? 'enqueue' : 'interrupt'
    if (kind !== 'cancel') await witan.run('chats/1', { prompt: 'more', onActive }).catch(() => {})
    else if (activeRunId !== null) await witan.cancelRun(activeRunId).catch(() => {})
  }
  await quiet({ runtime: witan } as never)
  await settle(40)
  const warm = plain((await parts.warm.get('default', 'chats/1')).state)
  parts.warm.drop('default', 'chats/1')
  const cold = plain((await parts.warm.get('default', 'chats/1')).state)
  const whole = await store.readSnapshot('default', 'chats/1')
  const own = new Set(folded.map(nameOf))
  const stored = (whole?.entries ?? []).map(nameOf).filter((name) => own.has(name))
  await parts.worker.close()
  return { folded: folded.map(nameOf), stored, warm, cold, reports }
}

const nameOf = ({ job, appendNo }: Pick<Entry, 'job' | 'appendNo'>) => `${job} ${appendNo}`

/** Caches, functions, and what a cold fold cannot have: entries that it loaded have their seq already. */
const apart = new Set(['views', 'scrubbers', 'scrub', 'unseen', 'seq', 'people', 'naming', 'agent', 'tree'])

/** A state as plain data. A way back up is a mark. */
function plain(value: unknown, above: readonly object[] = []): unknown {
  if (typeof value === 'function') return 'function'
  if (typeof value !== 'object' || value === null) return value
  if (above.includes(value)) return `up ${above.length - above.indexOf(value)}`
  const within = [...above, value]
  const each = (list: Iterable<unknown>) => [...list].map((one) => plain(one, within))
  if (Array.isArray(value)) return each(value)
  if ('entries' in value && typeof value.entries === 'function') return each(value.entries())
  if ('values' in value && typeof value.values === 'function') return each(value.values())
  const fields = Object.entries(value).filter(([name, one]) => !apart.has(name) && one !== undefined)
  return Object.fromEntries(fields.map(([name, one]) => [name, plain(one, within)]))
}

test('[O1] [O2] [O5] what jobs record is stored in the order in which it was folded, and a cold fold equals the warm one', async (context) => {
  let [between, entries] = [0, 0]
  const delays = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 3, maxLength: 12 })
  const property = fc.asyncProperty(systemWithTasks, delays, commands, async (system, late, sent) => {
    const { folded, stored, warm, cold, reports } = await played(system, late, sent)
    assert.deepEqual(stored, folded)
    assert.deepEqual(cold as ConversationState, warm as ConversationState)
    assert.deepEqual(reports, [])
    entries += stored.length
    for (const [at, name] of stored.entries())
      if (at > 0 && name.split(' ')[0] !== stored[at - 1]?.split(' ')[0]) between += 1
  })
  const expected = await holds(context, property, 150)
  assert.ok(between > expected(500), `only ${between} times another job recorded next`)
  context.diagnostic(`${entries} entries, ${between} times another job recorded next`)
})
