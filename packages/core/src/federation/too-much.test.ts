/** Other servers that send or ask more than is taken; and faults of our own, which are none of theirs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WitanError } from '@witan/protocol'
import { bare, failureOf, inTurn, methodsOf, play, streamOf, task } from '../../../../test/support/remote-call.ts'
import { readNote } from './remote-note.ts'

const asking = (parts: readonly object[], { messageId = 'm', ...ids }: Readonly<Record<string, string>> = {}) => {
  const message = { messageId, role: 'ROLE_AGENT', parts }
  return { task: { id: 't', contextId: 'c', ...ids, status: { state: 'TASK_STATE_INPUT_REQUIRED', message } } }
}
const demand = (state: string, policy: object = { kind: 'consent_required' }) => ({
  data: { type: 'policy', policy: { message: '', ...policy }, state },
})
const action = (id: string, more: object = {}) => ({ data: { type: 'action', id, name: 'sign', arguments: more } })
const question = (id: string, text: string) => ({
  data: {
    type: 'question',
    id,
    questions: [{ id: 'q', text, options: [], multiple: false, freeText: true, required: true }],
  },
})
const long = 'x'.repeat(20_000)
const many = (one: (id: string) => object) => Array.from({ length: 50 }, (_, at) => one(`${at}${'x'.repeat(400)}`))

const tooMuch: Readonly<Record<string, readonly [object, RegExp]>> = {
  'the state of a condition': [asking([demand(long)]), /ids are too long/],
  'the states of fifty conditions': [asking(many((id) => demand(id))), /ids are too long/],
  'the id of an action': [asking([action(long)]), /ids are too long/],
  'the id of a question': [asking([question(long, 'Which?')]), /ids are too long/],
  'ids that are longer as JSON': [asking([demand('"'.repeat(9_000))]), /ids are too long/],
  'the name of a message': [asking([{ text: 'Which?' }], { messageId: long }), /ids are too long/],
  'the id of a task': [asking([{ text: 'Which?' }], { id: long }), /ids are too long/],
  'the id of a context': [asking([{ text: 'Which?' }], { contextId: long }), /ids are too long/],
  'the arguments of an action': [asking([action('a', { all: long.repeat(6) })]), /100000 characters/],
  'the fields of a condition': [asking([demand('s', { all: long.repeat(6) })]), /100000 characters/],
  'conditions that are long together': [
    asking(many(() => demand('s', { all: 'x'.repeat(3_000) }))),
    /100000 characters/,
  ],
}

for (const [what, [frame, why]] of Object.entries(tooMuch)) {
  test(`[D1] [D20] the call fails, and its task is cancelled, for too long a text: ${what}`, async () => {
    const played = await play(
      inTurn(
        () => streamOf([frame]),
        () => bare('TASK_STATE_CANCELED'),
      ),
    )
    assert.match(failureOf(played), /^REMOTE_FAILED: @docs@b\.test failed: it/)
    assert.match(failureOf(played), why)
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(methodsOf(played), ['SendStreamingMessage', 'CancelTask'])
  })
}

test('[M21] fifty conditions with ordinary states are asked together', async () => {
  const parts = Array.from({ length: 50 }, (_, at) => demand(`${at}${'s'.repeat(100)}`))
  const { outcome, note } = await play(inTurn(() => streamOf([asking(parts)])))
  assert.equal(outcome.kind === 'pending' && 'interruptions' in outcome ? outcome.interruptions.length : 0, 50)
  assert.equal(new Set(readNote(note)?.asked.map(({ id }) => id)).size, 50)
})

test('what breaks here is no failure of the other server', async () => {
  const saveNote = () => Promise.reject(new Error('the store is away'))
  const calls = [
    play(
      inTurn(() => bare('TASK_STATE_COMPLETED')),
      { saveNote },
    ),
  ]
  // What was stored before the request left is here; what its reply brings cannot be stored.
  let times = 0
  const later = () => (++times > 1 ? saveNote() : Promise.resolve())
  calls.push(
    play(
      inTurn(() => streamOf([task('TASK_STATE_WORKING')])),
      { saveNote: later },
    ),
  )
  for (const call of calls) await assert.rejects(call, /the store is away/)
})

const file = (name: string) => ({ raw: Buffer.from(name).toString('base64'), filename: name, mediaType: 'text/plain' })
const filled = (count: number) =>
  task('TASK_STATE_COMPLETED', {}, [
    { artifactId: 'a', parts: Array.from({ length: count }, (_, at) => file(`${at}.txt`)) },
  ])

test('[D20] a hundred files of a task are stored, and that there were more is named', async () => {
  let saved = 0
  const save = async () => {
    saved += 1
  }
  const { outcome } = await play(
    inTurn(() => streamOf([filled(3_000)])),
    { save },
  )
  assert.equal(saved, 100)
  assert.match((outcome.kind === 'result' && outcome.notices?.[0]?.detail) || '', /part\.raw/)
})

test('a file that our store cannot take breaks the call, and one that is unfit is left out', async () => {
  const fetch = () => inTurn(() => streamOf([filled(1)]))
  const away = async () => assert.fail('the store is away')
  await assert.rejects(play(fetch(), { save: away }), /the store is away/)
  const unfit = async () => Promise.reject(new WitanError('BODY_INVALID', 'no name'))
  const { outcome } = await play(fetch(), { save: unfit })
  assert.match((outcome.kind === 'result' && outcome.notices?.[0]?.detail) || '', /part\.raw/)
})
