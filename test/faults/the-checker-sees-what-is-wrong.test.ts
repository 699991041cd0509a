/** The checker is only believed if each of its invariants turns red on a history that was forged to break it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { check, type Invariant, invariants } from './rig/checker.ts'
import type { Evidence } from './rig/evidence.ts'
import { type Forgeable, goodEvidence } from './rig/forged.ts'

type Forged = Forgeable<Evidence>
type Entry = Forged['conversations'][number]['entries'][number]

/** The entries of the one conversation. */
function entriesOf(evidence: Forged): Entry[] {
  return (evidence.conversations[0] as Forged['conversations'][number]).entries as Entry[]
}

/** Removes an entry and gives the others their seq anew. */
function drop(evidence: Forged, which: (entry: Entry) => boolean): void {
  const entries = entriesOf(evidence)
  const at = entries.findLastIndex(which)
  assert.ok(at >= 0, 'the forger finds nothing to drop')
  entries.splice(at, 1)
  renumber(evidence)
}

function repeat(evidence: Forged, which: (entry: Entry) => boolean): void {
  const entries = entriesOf(evidence)
  const at = entries.findLastIndex(which)
  assert.ok(at >= 0, 'the forger finds nothing to repeat')
  entries.splice(at + 1, 0, structuredClone(entries[at]) as Entry)
  renumber(evidence)
}

/** The log is whole again, and readers saw what it says now: only what was forged is wrong. */
function renumber(evidence: Forged): void {
  entriesOf(evidence).forEach((entry, index) => {
    entry.seq = index + 1
  })
  for (const connection of evidence.history.connections) connection.frames.length = 0
}

const isPaid = (entry: Entry): boolean => entry.kind === 'tool' && entry.type === 'start' && entry.body.name === 'pay'
const last = (list: { [index: number]: unknown; length: number }) => list[list.length - 1]

interface Forgery {
  readonly name: string
  readonly breaks: Invariant
  forge(evidence: Forged): void
}

const isSaid = (entry: Entry): boolean => entry.type === 'message' && entry.body.author === 'user'
const tells = (entry: Entry): boolean => entry.type === 'message' && entry.body.tasks !== undefined

const later = { seq: 1, type: 'cancel', kind: null, body: { by: 'me', tasks: false } } as const

const forgeries: readonly Forgery[] = [
  { name: 'an acknowledged message is lost', breaks: 'I1', forge: (it) => drop(it, isSaid) },
  { name: 'an acknowledged message stands twice', breaks: 'I1', forge: (it) => repeat(it, isSaid) },
  { name: 'an acknowledged answer is lost', breaks: 'I1', forge: (it) => drop(it, ({ type }) => type === 'resolved') },
  {
    name: 'an acknowledged cancel is not there',
    breaks: 'I1',
    forge: (it) => it.history.acknowledged.push({ kind: 'cancel', conversation: 'chats/1', subject: 'c', value: 'c' }),
  },
  {
    name: 'the log has a hole',
    breaks: 'I2',
    forge: (it) => {
      entriesOf(it).splice(5, 1)
    },
  },
  {
    name: 'a reader missed an event',
    breaks: 'I2',
    forge: (it) => {
      it.history.connections[0]?.frames.splice(4, 1)
    },
  },
  {
    name: 'a reader got an event twice',
    breaks: 'I2',
    forge: (it) => {
      const frames = it.history.connections[0]?.frames ?? []
      frames.splice(4, 0, structuredClone(frames[3]) as (typeof frames)[number])
    },
  },
  {
    name: 'an id was told with two contents',
    breaks: 'I2',
    forge: (it) => {
      const again = structuredClone(it.history.connections[0]) as Forged['history']['connections'][number]
      Object.assign(again.frames[2]?.event.content ?? {}, { text: 'something else' })
      it.history.connections.push(again)
    },
  },
  {
    name: 'a reader saw what is not stored',
    breaks: 'I2',
    forge: (it) => {
      Object.assign(it.history.connections[0]?.frames[3]?.event ?? {}, { type: 'cancel' })
    },
  },
  {
    name: 'a run ends twice',
    breaks: 'I3',
    forge: (it) => repeat(it, (one) => one.kind === 'agent' && one.type === 'end'),
  },
  {
    name: 'something follows the end of a run',
    breaks: 'I3',
    forge: (it) => {
      const entries = entriesOf(it)
      entries.push({ ...structuredClone(last(entries) as Entry), ...later, seq: entries.length + 1 } as Entry)
    },
  },
  {
    name: 'a once effect happened twice',
    breaks: 'I4',
    forge: (it) => {
      for (const one of it.ledger.executions) if (one.effect === 'once') one.times = 2
    },
  },
  {
    name: 'a once effect that did not happen is told as done',
    breaks: 'I4',
    forge: (it) => {
      it.ledger.executions = it.ledger.executions.filter(({ effect }) => effect !== 'once')
    },
  },
  {
    name: 'an effect has no intent',
    breaks: 'I4',
    forge: (it) => {
      const call = entriesOf(it).find(isPaid)?.place.call
      drop(it, (entry) => isPaid(entry) && entry.place.call === call)
    },
  },
  {
    name: 'an unknown outcome has another name',
    breaks: 'I4',
    forge: (it) => {
      const call = entriesOf(it).find(isPaid)?.place.call
      const end = entriesOf(it).find((one) => one.place.call === call && one.kind === 'tool' && one.type === 'end')
      Object.assign(end ?? {}, { type: 'error', body: { code: 'TOOL_FAILED', detail: '' } })
    },
  },
  {
    name: 'a keyed effect was not applied',
    breaks: 'I5',
    forge: (it) => {
      it.ledger.applied.length = 0
    },
  },
  {
    name: 'a keyed effect was applied twice',
    breaks: 'I5',
    forge: (it) => {
      it.ledger.applied.push(...it.ledger.applied)
    },
  },
  {
    name: 'a tool call has no end',
    breaks: 'I6',
    forge: (it) => drop(it, (one) => one.kind === 'tool' && one.type === 'end'),
  },
  {
    name: 'a tool call ends twice',
    breaks: 'I6',
    forge: (it) => repeat(it, (one) => one.kind === 'tool' && one.type === 'end'),
  },
  {
    name: 'an end has no start',
    breaks: 'I6',
    forge: (it) => drop(it, (one) => one.kind === 'agent' && one.type === 'start'),
  },
  {
    name: 'a child ends after its parent',
    breaks: 'I6',
    forge: (it) => {
      const entries = entriesOf(it)
      const at = entries.findIndex((one) => one.kind === 'agent' && one.type === 'end' && one.place.author === 'leaf')
      entries.push(...entries.splice(at, 1))
      renumber(it)
    },
  },
  {
    name: 'an earlier owner wrote after a later one',
    breaks: 'I7',
    forge: (it) => {
      const entries = entriesOf(it)
      Object.assign(entries[4] ?? {}, { epoch: 7 })
    },
  },
  {
    name: 'an interruption is resolved twice',
    breaks: 'I8',
    forge: (it) => repeat(it, ({ type }) => type === 'resolved'),
  },
  {
    name: 'two answers were accepted',
    breaks: 'I8',
    forge: (it) => {
      const answer = it.history.acknowledged.find(({ kind }) => kind === 'answer')
      it.history.acknowledged.push({ ...(answer as NonNullable<typeof answer>), value: '{"ok":false}' })
    },
  },
  {
    name: 'the answer that lost was used',
    breaks: 'I8',
    forge: (it) => {
      const call = it.conversations[0]?.interruptions[0]?.view.callId
      const end = entriesOf(it).find((one) => one.place.call === call && one.kind === 'tool' && one.type === 'end')
      Object.assign(end?.body ?? {}, { result: { ok: false } })
    },
  },
  {
    name: 'a call ran that was denied',
    breaks: 'I8',
    forge: (it) => {
      const answer = { value: { decision: 'denied' } }
      for (const { type, body } of entriesOf(it))
        if (type === 'resolved' && JSON.stringify(body).includes('approved')) Object.assign(body, { answer })
    },
  },
  {
    name: 'a call ran although nobody released it in time',
    breaks: 'I4',
    forge: (it) => {
      const call = entriesOf(it).find(isPaid)?.place.call
      const end = entriesOf(it).find((one) => one.place.call === call && one.kind === 'tool' && one.type === 'end')
      Object.assign(end ?? {}, { type: 'error', body: { code: 'QUESTION_EXPIRED', detail: '' } })
    },
  },
  {
    name: 'a job waits for nobody',
    breaks: 'I9',
    forge: (it) => {
      Object.assign(it.conversations[0]?.jobs[0] ?? {}, { status: 'waiting', endedAt: null })
    },
  },
  { name: 'a run went on too late', breaks: 'I9', forge: (it) => it.recoveriesMs.push(5000) },
  { name: 'a run spent more than its cap', breaks: 'I10', forge: (it) => Object.assign(it.bounds, { modelCalls: 3 }) },
  {
    name: 'a model was called after the cancel',
    breaks: 'I10',
    forge: (it) => {
      const entries = entriesOf(it)
      entries.splice(3, 0, { ...structuredClone(entries[2] as Entry), ...later, at: 0 } as Entry)
      renumber(it)
    },
  },
  {
    name: 'a provider was asked once too often after the cancel',
    breaks: 'I10',
    forge: (it) => {
      const entries = entriesOf(it)
      const { at } = entries[2] as Entry
      entries.splice(3, 0, { ...structuredClone(entries[2] as Entry), ...later, at } as Entry)
      renumber(it)
      const deed = { tool: 'model', effect: 'none', conversation: 'chats/1', times: 1, at: at + 60 } as const
      it.ledger.executions.push({ ...deed, callId: 'one' }, { ...deed, callId: 'two' })
    },
  },
  {
    name: 'a provider was asked long after the cancel',
    breaks: 'I10',
    forge: (it) => {
      const entries = entriesOf(it)
      const { at } = entries[2] as Entry
      entries.splice(3, 0, { ...structuredClone(entries[2] as Entry), ...later, at } as Entry)
      renumber(it)
      const deed = { tool: 'model', effect: 'none', callId: 'one', conversation: 'chats/1', times: 1 } as const
      it.ledger.executions.push({ ...deed, at: at + it.bounds.graceMs + 1 })
    },
  },
  {
    name: 'a call has no parent',
    breaks: 'I11',
    forge: (it) => {
      for (const entry of entriesOf(it)) if (isPaid(entry)) entry.place.parentCall = 'c_nobody'
    },
  },
  { name: 'a call starts twice', breaks: 'I11', forge: (it) => repeat(it, isPaid) },
  {
    name: 'a call has another root',
    breaks: 'I11',
    forge: (it) => {
      for (const entry of entriesOf(it)) if (isPaid(entry)) entry.place.run = 'c_other'
    },
  },
  { name: 'a tree is too deep', breaks: 'I11', forge: (it) => Object.assign(it.bounds, { depth: 1 }) },
  {
    name: 'what came live is not what is stored',
    breaks: 'I12',
    forge: (it) => {
      Object.assign(it.history.connections[0]?.deltas[0]?.content ?? {}, { text: 'roof' })
    },
  },
  {
    name: 'a text was never settled',
    breaks: 'I12',
    forge: (it) => {
      for (const delta of it.history.connections[0]?.deltas ?? [])
        Object.assign(delta, { callId: 'c_lost', content: { text: 'x', attempt: 3 } })
    },
  },
  {
    name: 'a hidden value is shown',
    breaks: 'I13',
    forge: (it) => it.readings.push({ sink: 'a log', tenant: 'one', text: 'here is a hidden value' }),
  },
  {
    name: 'a tenant reads another',
    breaks: 'I14',
    forge: (it) => it.readings.push({ sink: 'a log', tenant: 'two', text: 'here is a value of one' }),
  },
  {
    name: 'what was held for readers is still held when they are gone',
    breaks: 'I15',
    forge: (it) => it.memory.push({ baselineBytes: 10_000, afterBytes: 1_500_000 }),
  },
  {
    name: 'faults changed what the script came to',
    breaks: 'I16',
    forge: (it) => it.endings.push({ name: 'other', faulty: ['a'], calm: ['a', 'b'] }),
  },
  { name: 'a fault did not fire', breaks: 'I17', forge: (it) => Object.assign(it.faults, { fired: 0 }) },
  { name: 'most was refused', breaks: 'I17', forge: (it) => Object.assign(it.history, { intended: 10 }) },
  {
    name: 'nothing was tried',
    breaks: 'I17',
    forge: (it) => {
      it.history.intended = 0
      it.faults.intended = 0
    },
  },
  { name: 'a task is told to nobody', breaks: 'I18', forge: (it) => drop(it, tells) },
  { name: 'a task is told twice', breaks: 'I18', forge: (it) => repeat(it, tells) },
  {
    name: 'a task is told to one who does not read it',
    breaks: 'I18',
    forge: (it) => {
      const entry = entriesOf(it).find(tells)
      Object.assign(entry?.place ?? {}, { parentCall: 'c_root' })
    },
  },
]

test('[I1] to [I18] a good history breaks none of them', async () => {
  assert.deepEqual(check(await goodEvidence()), [])
})

for (const { name, breaks, forge } of forgeries) {
  test(`[${breaks}] ${name}: seen`, async () => {
    const evidence = await goodEvidence()
    forge(evidence)
    const found = check(evidence as Evidence).map(({ invariant }) => invariant)
    assert.ok(found.includes(breaks), `${breaks} was not among ${found.join(', ') || 'nothing'}`)
  })
}

test('[I17] every invariant was forged', () => {
  const forged = new Set(forgeries.map(({ breaks }) => breaks))
  assert.deepEqual(
    Object.keys(invariants).filter((name) => !forged.has(name as Invariant)),
    [],
  )
})
