/** The process dies at its n-th append, before or behind it, for every n: what guardrails decided stands once, and nothing that they refuse is read [D1]. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, memoryStore, type Runtime, type Store } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { fakeClock } from '../support/clock.ts'
import { type CrashMoment, crashingStore } from '../support/crashing-store.ts'
import { outliving } from '../support/reopen.ts'
import { agent, settle } from '../support/stage.ts'

const leaseMs = 15_000
const pattern = (name: string, of: string, action: 'refuse' | 'redact' | 'flag') =>
  ({ name, kind: 'pattern', pattern: of, action }) as const
const judge = (name: string, more: object = {}) => ({ name, kind: 'agent', agent: 'judge', ...more }) as const

const agents = [
  agent('root', {
    subAgents: [{ agent: 'clerk' }, { agent: 'closed' }],
    guardrails: {
      input: [pattern('cards', '\\d{4,}', 'redact'), judge('entry', { action: 'flag' })],
      output: [pattern('secrets', 'secret', 'refuse'), judge('leaving')],
    },
  }),
  agent('clerk', {
    guardrails: { input: [pattern('names', 'Anna', 'redact')], output: [pattern('towns', 'Rome', 'redact')] },
  }),
  agent('closed', { guardrails: { input: [judge('door')] } }),
  agent('judge'),
]

function open(store: Store, clock: ReturnType<typeof fakeClock>, read: string[]): Runtime {
  const model = scriptedModel(({ messages }) => {
    const [who = ''] = /You are \w+/.exec(messages[0]?.content ?? '') ?? []
    const last = messages.at(-1)
    const text = last?.content ?? ''
    if (who !== 'You are judge') read.push(...messages.slice(1).map(({ content }) => content))
    if (who === 'You are judge') return JSON.stringify({ allow: !/Paid\.|Pay|keep out/.test(text), reason: 'so' })
    if (who === 'You are clerk') return 'Rome knows.'
    if (who === 'You are closed') return 'Never.'
    if (last?.role === 'tool') return 'A secret.'
    if (text.includes('secrets refused')) return 'Paid.'
    if (text.includes('leaving refused')) return 'All is well.'
    const made = [
      { name: 'clerk', arguments: { message: 'Ask Anna.' } },
      { name: 'closed', arguments: { message: 'keep out' } },
    ]
    return { toolCalls: made.map((one) => ({ ...one, id: one.name })) }
  })
  return createRuntime({ ...{ store, clock, leaseMs, agents }, retry: { tries: 1 }, models: { 'play/model': model } })
}

interface Played {
  readonly text: string
  readonly appends: number
  readonly hits: readonly string[]
  readonly read: readonly string[]
}

async function play(at: number, moment: CrashMoment): Promise<Played> {
  const clock = fakeClock()
  const inner = outliving(memoryStore({ now: clock.now }))
  const read: string[] = []
  const crashing = crashingStore(inner, at, moment)
  const first = open(crashing.store, clock, read)
  const begun = first.start({ agent: 'root', id: 'chats/1', prompt: 'Pay 4111.' }).then(({ run }) => run?.result)
  const end = await Promise.race([begun, crashing.crashed.then(() => null)])
  if (end) return { text: end.text, appends: crashing.appends(), hits: await hitsIn(first), read }
  await settle(20)
  const reader = createRuntime({ store: inner, clock, takesWork: false })
  await reader.ready
  const before = await hitsIn(reader)
  const [line] = (await reader.listRuns('chats/1')).items
  clock.advance(leaseMs + 1)
  const second = open(inner, clock, read)
  await second.ready
  const { text } = await (await second.followRun(line?.runId ?? '')).result
  const hits = await hitsIn(second)
  for (const one of before) assert.ok(hits.includes(one), `${moment} ${at}: ${one} was lost`)
  return { text, appends: 0, hits, read }
}

/** What guardrails found, as the log has it. */
async function hitsIn(reader: Runtime): Promise<readonly string[]> {
  const { events } = await reader.readEvents('chats/1', { verbose: true })
  return events
    .flatMap(({ type, agentPath, content }) => {
      const { code, name, action } = content as { code?: string; name?: string; action?: string }
      return type === 'notice' && code === 'GUARDRAIL_HIT' ? [`${agentPath} ${name} ${action}`] : []
    })
    .sort()
}

test('[D1] whatever append a process dies at, guardrails come to the same, and nothing that they refuse is read', async () => {
  const calm = await play(0, 'before')
  assert.equal(calm.text, 'All is well.')
  assert.deepEqual(calm.hits, [
    'root cards redact',
    'root entry flag',
    'root leaving refuse',
    'root secrets refuse',
    'root/clerk names redact',
    'root/clerk towns redact',
    'root/closed door refuse',
  ])
  assert.ok(calm.appends > 5)
  for (const moment of ['before', 'after'] as const)
    for (let at = 2; at <= calm.appends; at += 1) {
      const { text, hits, read } = await play(at, moment)
      assert.equal(text, calm.text, `${moment} ${at}`)
      assert.deepEqual(hits, calm.hits, `${moment} ${at}`)
      const odd = read.find((one) => /4111|Ask Anna|keep out|Rome|A secret|^Paid/.test(one))
      assert.equal(odd, undefined, `${moment} ${at}`)
    }
})
