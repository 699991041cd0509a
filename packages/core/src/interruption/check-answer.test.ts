/** Answers, kind by kind: what is taken, and what is refused with the allowed values. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Interruption, Question } from '@witan/protocol'
import { isWitanError } from '@witan/protocol'
import type { ApprovalTerms } from '../tool/approval.ts'
import { checkAnswer } from './check-answer.ts'

const base = {
  id: 'i_1',
  path: 'leaf/tool',
  agent: 'leaf',
  callId: 'c_1',
  addressee: null,
  state: 'open',
  expiresAt: null,
} as const

const question = (id: string, more: Partial<Question> = {}): Question => ({
  id,
  text: `${id}?`,
  options: [],
  multiple: false,
  freeText: false,
  required: true,
  ...more,
})
const options = [
  { id: 'a', label: 'A' },
  { id: 'b', label: 'B' },
  { id: 'c', label: 'C' },
]
const asking = (...questions: Question[]): Interruption => ({ ...base, kind: 'question', questions })

function answered(asked: Interruption, value: unknown, terms: unknown = null): unknown {
  const answer = checkAnswer(asked, terms, { value })
  return 'error' in answer ? answer.error : answer.value
}

function refusal(asked: Interruption, value: unknown, terms: unknown = null): { path: string | null; text: string } {
  try {
    answered(asked, value, terms)
  } catch (error) {
    assert.ok(isWitanError(error), String(error))
    const { code, path, message, hint } = error as Error & { code: string; path: string | null; hint: string | null }
    assert.equal(code, 'ANSWER_INVALID')
    return { path, text: `${message} ${hint}` }
  }
  throw new assert.AssertionError({ message: `taken: ${JSON.stringify(value)}` })
}

test('[F30] an answer names questions and options by their ids, in any order', () => {
  const asked = asking(
    question('one', { options }),
    question('many', { options, multiple: true }),
    question('free', { freeText: true }),
    question('either', { options, freeText: true, required: false }),
  )
  const value = { free: { text: ' words ' }, many: { options: ['c', 'a', 'c'] }, one: { options: ['b'] } }
  assert.deepEqual(answered(asked, value), {
    one: { options: ['b'] },
    many: { options: ['a', 'c'] },
    free: { text: 'words' },
  })
  const both = answered(asked, { ...value, either: { options: ['a'], text: 'and' } }) as Record<string, unknown>
  assert.deepEqual(both['either'], { options: ['a'], text: 'and' })
})

test('[F30] [E58] what does not fit is refused with what would', () => {
  const asked = asking(question('q1', { options }), question('q2', { freeText: true, required: false }))
  const good = { q1: { options: ['a'] } }
  for (const [value, path, words] of [
    [{ q1: { options: ['x'] } }, 'answer.q1.options', /`x` is not one of a, b, c/],
    [{ q1: { options: ['a', 'b'] } }, 'answer.q1.options', /one option only/],
    [{ q1: { options: 'a' } }, 'answer.q1.options', /list of ids.*a, b, c/],
    [{ q1: { options: [] } }, 'answer.q1', /must be answered.*a, b, c/],
    [{ q1: { options: ['a'], text: 'no' } }, 'answer.q1.text', /no free text.*a, b, c/],
    [{}, 'answer.q1', /must be answered/],
    [{ ...good, q3: { text: 'x' } }, 'answer.q3', /no question `q3`.*q1, q2/],
    [{ ...good, q2: { options: ['a'] } }, 'answer.q2.options', /no options/],
    [{ ...good, q2: { text: 1 } }, 'answer.q2.text', /must be text/],
    [{ ...good, q2: { words: 'x' } }, 'answer.q2.words', /options, text/],
    [{ ...good, q2: 'words' }, 'answer.q2', /must be/],
    ['a', 'answer', /question id/],
    [null, 'answer', /question id/],
    [[], 'answer', /question id/],
    [{ ...good, q2: { text: 'x'.repeat(100_001) } }, 'answer.q2.text', /100000 are allowed/],
  ] as const) {
    const told = refusal(asked, value)
    assert.equal(told.path, path, JSON.stringify(value).slice(0, 80))
    assert.match(told.text, words)
  }
})

const approval: Interruption = { ...base, kind: 'approval', tool: 'pay', arguments: { amount: 5 }, digest: 'd' }
const terms: ApprovalTerms = {
  schema: {
    type: 'object',
    properties: { amount: { type: 'integer', maximum: 100 }, note: { type: 'string' } },
    required: ['amount'],
    additionalProperties: false,
  },
  bound: ['userId'],
}

test('[Fb06] a call is approved as it is or with other arguments, or denied with a reason', () => {
  for (const value of [
    { decision: 'approved' },
    { decision: 'approved', reason: 'fine' },
    { decision: 'approved', arguments: { amount: 4, note: 'less' } },
    { decision: 'denied' },
    { decision: 'denied', reason: 'too much' },
  ])
    assert.deepEqual(answered(approval, value, terms), value)
})

test('[C19] [D11] changed arguments fit the schema that the model saw and never name what is bound', () => {
  for (const [value, words] of [
    [{ decision: 'yes' }, /approved.*denied/],
    [true, /decision/],
    [{ decision: 'denied', arguments: {} }, /has no arguments/],
    [{ decision: 'approved', reason: 1 }, /must be text/],
    [{ decision: 'approved', because: 'x' }, /decision, arguments, reason/],
    [{ decision: 'approved', arguments: { amount: 101 } }, /do not fit `pay`.*`amount`/],
    [{ decision: 'approved', arguments: { amount: 1.5 } }, /`amount`/],
    [{ decision: 'approved', arguments: {} }, /`amount`/],
    [{ decision: 'approved', arguments: { amount: 1, extra: 1 } }, /no argument `extra`.*amount, note/],
    [{ decision: 'approved', arguments: { amount: 1, userId: 'x' } }, /`userId` is bound/],
    [{ decision: 'approved', arguments: { amount: 1, 'USER\u200bID': 'x' } }, /`userId` is bound/],
    [{ decision: 'approved', arguments: [] }, /all arguments/],
  ] as const)
    assert.match(refusal(approval, value, terms).text, words, JSON.stringify(value))
  assert.match(refusal(approval, { decision: 'approved', arguments: { amount: 1 } }).text, /cannot be changed/)
})

test('[C19] [Fb06] of a tool that takes any name, changed arguments may have any but a bound one', () => {
  const open = { ...terms, schema: { ...terms.schema, additionalProperties: { type: 'string' } } }
  const changed = { decision: 'approved', arguments: { amount: 1, extra: 'x' } }
  assert.deepEqual(answered(approval, changed, open), changed)
  for (const [more, words] of [
    [{ extra: 1 }, /do not fit `pay`.*`extra`/],
    [{ userID: 'x' }, /`userId` is bound/],
  ] as const)
    assert.match(refusal(approval, { decision: 'approved', arguments: { amount: 1, ...more } }, open).text, words)
})

test('[F29] a message is answered with text, a policy with a resolution or not', () => {
  const message: Interruption = { ...base, kind: 'message', prompt: 'hello?' }
  assert.equal(answered(message, 'yes'), 'yes')
  for (const value of ['', '  ', 1, null, { text: 'yes' }]) refusal(message, value)
  const policy: Interruption = { ...base, kind: 'policy', issuer: '@a@b.example', policy: { kind: 'consent' } }
  assert.deepEqual(answered(policy, { resolution: { consent: true } }), { resolution: { consent: true } })
  assert.deepEqual(answered(policy, { decision: 'declined' }), { decision: 'declined' })
  for (const value of [{}, { decision: 'approved' }, { resolution: 'yes' }, { resolution: {}, decision: 'declined' }])
    refusal(policy, value)
})

test('[R25] only an action may fail; its answer is anything', () => {
  const action: Interruption = { ...base, kind: 'action', name: 'Do', arguments: {} }
  for (const value of [null, 0, 'text', { a: [1] }]) assert.deepEqual(answered(action, value), value)
  assert.deepEqual(checkAnswer(action, null, { error: 'broke' }), { error: 'broke' })
  for (const asked of [approval, asking(question('q1', { options }))])
    assert.throws(() => checkAnswer(asked, null, { error: 'no' }), { code: 'ANSWER_INVALID', path: 'error' })
})
