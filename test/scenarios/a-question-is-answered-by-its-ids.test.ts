/** Questions: an agent of any level asks with ids, the run waits, and its answers are held against what was asked. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call } from '@witan/core/testing'
import type { Interruption } from '@witan/protocol'
import { assertAlternates, assertSound } from '../support/claims.ts'
import { fakeClock } from '../support/clock.ts'
import { createStage, settle, until } from '../support/stage.ts'

const colours = [
  { id: 'r', label: 'Red' },
  { id: 'g', label: 'Green' },
]
const two = {
  questions: [
    { id: 'colour', text: 'Which colour?', options: colours },
    { id: 'why', text: 'Why?', required: false },
  ],
}

function asking(questions: unknown = two, more: { clock?: ReturnType<typeof fakeClock>; expires?: number } = {}) {
  return createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', questions: true, interruptionExpiresInSeconds: more.expires ?? null },
    ],
    plays: {
      root: ({ messages }) =>
        messages.some(({ role }) => role === 'tool') ? 'chosen' : call('leaf', { message: 'choose' }),
      leaf: [call('ask_question', questions as Record<string, unknown>), 'thanks'],
    },
    options: more.clock === undefined ? {} : { clock: more.clock },
  })
}

const idOf = (interruptions: readonly Interruption[]): string => interruptions[0]?.id ?? ''

test('[F29] [F31] a question waits at the root, and its answers reach the agent that asked as JSON', async () => {
  const stage = asking()
  const waiting = await stage.ask('root', 'go', { id: 'chats/1' })
  const [asked] = waiting.interruptions
  assert.ok(asked?.kind === 'question')
  assert.deepEqual([asked.path, asked.agent, asked.addressee], ['leaf/ask_question', 'leaf', null])
  const whole = { options: [], multiple: false, freeText: true, required: false }
  assert.deepEqual(asked.questions, [
    { id: 'colour', text: 'Which colour?', options: colours, multiple: false, freeText: false, required: true },
    { id: 'why', text: 'Why?', ...whole },
  ])
  const answer = { colour: { options: ['g'] }, why: { text: 'calm' } }
  const told = await stage.runtime.answerInterruption(asked.id, { answer })
  assert.equal(told.state, 'answered')
  const done = await stage.runtime.liveRun('chats/1')
  assert.equal((await done?.result)?.status ?? 'completed', 'completed')
  await until(async () => (await stage.runtime.getConversation('chats/1')).status === 'idle')
  assert.deepEqual(JSON.parse(stage.seenBy('leaf')[1]?.messages.at(-1)?.content ?? ''), answer)
  const events = await stage.events('chats/1')
  assertSound(events)
  for (const request of stage.requests) assertAlternates(request)
  const terse = await stage.events('chats/1', { verbose: false })
  assert.deepEqual(
    terse.filter(({ type }) => type.endsWith('_required') || type === 'resolved').map(({ type }) => type),
    ['question_required', 'resolved'],
  )
  assert.deepEqual(terse.find(({ type }) => type === 'resolved')?.content.answer, answer)
})

test('[F30] [E58] an answer off its ids is refused with the allowed ones and can be sent again; only the first counts', async () => {
  const stage = asking()
  const { interruptions } = await stage.ask('root', 'go', { id: 'chats/1' })
  const id = idOf(interruptions)
  for (const [answer, words] of [
    [{ colour: { options: ['b'] } }, /`b` is not one of r, g/],
    [{ why: { text: 'x' } }, /`colour` must be answered/],
    [{ colour: { options: ['r', 'g'] } }, /one option only/],
    [{ colour: { options: ['r'] }, size: { text: 'x' } }, /no question `size`/],
  ] as const)
    await assert.rejects(stage.runtime.answerInterruption(id, { answer }), { code: 'ANSWER_INVALID', message: words })
  await assert.rejects(stage.runtime.answerInterruption(id, { error: 'no' }), { code: 'ANSWER_INVALID' })
  const answer = { colour: { options: ['r'] } }
  await stage.runtime.answerInterruption(id, { answer })
  assert.equal((await stage.runtime.answerInterruption(id, { answer })).state, 'answered')
  for (const other of [{ colour: { options: ['g'] } }, { colour: { options: ['b'] } }])
    await assert.rejects(stage.runtime.answerInterruption(id, { answer: other }), { code: 'ALREADY_ANSWERED' })
})

test('[F30] a model that asks badly reads why, and nobody is asked', async () => {
  const bad = [
    { questions: [] },
    {
      questions: [
        { id: 'a', text: 'x' },
        { id: 'a', text: 'y' },
      ],
    },
    {
      questions: [
        {
          id: 'a',
          text: 'x',
          options: [
            { id: 'o', label: '1' },
            { id: 'o', label: '2' },
          ],
        },
      ],
    },
    { questions: [{ id: 'a', text: 'x', freeText: false }] },
    { questions: [{ id: 'a b', text: 'x' }] },
    { questions: [{ id: 'a', text: '' }] },
    { questions: Array.from({ length: 21 }, (_, index) => ({ id: `q${index}`, text: 'x' })) },
    { questions: [{ id: 'a', text: 'x', choices: [] }] },
    { question: 'a?' },
  ]
  for (const questions of bad) {
    const stage = asking(questions)
    const result = await stage.ask('root', 'go', { id: 'chats/1' })
    assert.equal(result.status, 'completed', JSON.stringify(questions))
    assert.match(stage.seenBy('leaf')[1]?.messages.at(-1)?.content ?? '', /"error"/)
    assert.deepEqual((await stage.runtime.listInterruptions()).items, [])
  }
})

test('[Fb07] a question that nobody answers in time expires by itself, and the run goes on', async () => {
  const clock = fakeClock()
  const stage = asking(two, { clock, expires: 30 })
  const { interruptions } = await stage.ask('root', 'go', { id: 'chats/1' })
  const [asked] = interruptions
  assert.equal(asked?.expiresAt, '2026-01-01T00:00:30.000Z')
  clock.advance(29_000)
  await settle()
  assert.equal((await stage.runtime.listInterruptions({ state: 'open' })).items.length, 1)
  clock.advance(1000)
  await until(async () => (await stage.runtime.getConversation('chats/1')).status === 'idle')
  assert.match(stage.seenBy('leaf')[1]?.messages.at(-1)?.content ?? '', /"error":"nobody answered in time"/)
  const { items } = await stage.runtime.listInterruptions({ state: 'expired' })
  assert.deepEqual(
    items.map(({ id, state }) => [id, state]),
    [[asked?.id, 'expired']],
  )
  const answer = { colour: { options: ['r'] } }
  await assert.rejects(stage.runtime.answerInterruption(asked?.id ?? '', { answer }), { code: 'QUESTION_EXPIRED' })
  assertSound(await stage.events('chats/1'))
})

test('[E58] an answer after its time is too late, also where nobody has looked yet', async () => {
  const clock = fakeClock()
  const stage = asking(two, { clock: { ...clock, after: () => () => {} }, expires: 30 })
  const { interruptions } = await stage.ask('root', 'go', { id: 'chats/1' })
  clock.advance(30_000)
  const answer = { colour: { options: ['r'] } }
  await assert.rejects(stage.runtime.answerInterruption(idOf(interruptions), { answer }), { code: 'QUESTION_EXPIRED' })
  await assert.rejects(stage.run('chats/1', { answers: [{ id: idOf(interruptions), answer }] }), {
    code: 'QUESTION_EXPIRED',
  })
  await until(async () => (await stage.runtime.getConversation('chats/1')).status === 'idle')
  assert.equal(stage.seenBy('leaf').length, 2)
})

test('[Fb07] a prompt over an open question is stored, read at the next step, and answers nothing', async () => {
  const stage = asking()
  const { interruptions, runId } = await stage.ask('root', 'go', { id: 'chats/1' })
  const over = await stage.run('chats/1', { prompt: 'red, please' })
  assert.deepEqual([over.runId, over.status, idOf(over.interruptions)], [runId, 'waiting', idOf(interruptions)])
  const answers = [{ id: idOf(interruptions), answer: { colour: { options: ['r'] } } }]
  const done = await stage.run('chats/1', { answers })
  assert.equal(done.status, 'completed')
  assert.match(JSON.stringify(stage.seenBy('root')[1]?.messages), /red, please/)
})
