/** Answering an action at the terminal. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { actionAnswer, approvalAnswer, policyAnswer, questionChoice } from './answer-words.ts'
import { sitting } from './testing/person.ts'
import { askConfig, deskConfig } from './testing/witan.ts'

const stamp = ['run', 'front-desk', 'stamp it', '--param', 'userId=u/1', '--config', deskConfig]

test('a line is text or JSON, a reason after "!", or nothing', () => {
  assert.deepEqual(actionAnswer(' done '), { answer: 'done' })
  assert.deepEqual(actionAnswer('{"ok":true}'), { answer: { ok: true } })
  assert.deepEqual(actionAnswer('42'), { answer: 42 })
  assert.deepEqual(actionAnswer('{"id":9007199254740993}'), { answer: { id: '9007199254740993' } })
  assert.deepEqual(actionAnswer('! not today'), { error: 'not today' })
  assert.deepEqual(actionAnswer('!'), { error: 'Refused at the terminal.' })
  assert.equal(actionAnswer('  '), null)
})

test('an approval is given, denied, or changed', () => {
  assert.deepEqual(approvalAnswer('y'), { answer: { decision: 'approved' } })
  assert.deepEqual(approvalAnswer(' NO '), { answer: { decision: 'denied' } })
  assert.deepEqual(approvalAnswer('! too much'), { answer: { decision: 'denied', reason: 'too much' } })
  assert.deepEqual(approvalAnswer('{"amount":4}'), { answer: { decision: 'approved', arguments: { amount: 4 } } })
  const long = { decision: 'approved', arguments: { amount: '1e400' } }
  assert.deepEqual(approvalAnswer('{"amount":1e400}'), { answer: long })
  assert.equal(approvalAnswer(''), null)
  assert.equal(approvalAnswer('perhaps'), undefined)
})

test('an option is chosen by number, id or label, and words are words where they are allowed', () => {
  const options = [
    { id: 'r', label: 'Red' },
    { id: '1', label: 'One' },
  ]
  const question = { id: 'q', text: 'Which?', options, multiple: false, freeText: false, required: true }
  assert.deepEqual(questionChoice(question, '2'), { options: ['1'] })
  assert.deepEqual(questionChoice(question, '1'), { options: ['1'] }, 'an id goes before a number')
  assert.deepEqual(questionChoice(question, 'red'), { options: ['r'] })
  assert.equal(questionChoice(question, 'r, 1'), undefined)
  assert.deepEqual(questionChoice({ ...question, multiple: true }, 'r, One'), { options: ['r', '1'] })
  assert.deepEqual(questionChoice({ ...question, freeText: true }, 'blue'), { text: 'blue' })
  assert.deepEqual(questionChoice(question, ' '), {})
})

test('a policy is resolved or declined', () => {
  assert.deepEqual(policyAnswer('y'), { answer: { resolution: {} } })
  assert.deepEqual(policyAnswer('{"paid":true}'), { answer: { resolution: { paid: true } } })
  assert.deepEqual(policyAnswer('n'), { answer: { decision: 'declined' } })
  assert.equal(policyAnswer('maybe'), undefined)
})

const asking = (prompt: string) => ['run', 'asker', prompt, '--config', askConfig]

describe('a person at a terminal is asked in every way', () => {
  test('an approval shows the whole call; what the server does not take is asked for again', async () => {
    const { code, screen } = await sitting(asking('pay'), ['perhaps', '{"amount":500}', '{"amount":4}'])
    assert.equal(code, 0)
    assert.match(screen, /asker wants to call pay/)
    assert.match(screen.replace(/\s+/g, ' '), /(a very long name of somebody who is paid ){2}/)
    assert.match(screen, /! The arguments do not fit `pay`/)
    assert.match(screen, /It came to: paid 4/)
  })

  test('in a narrow terminal nothing of the question is cut', async () => {
    const { screen } = await sitting(asking('pay'), [''], { COLUMNS: '50' })
    const asked = screen.slice(screen.indexOf('wants to call'), screen.indexOf('›', screen.indexOf('wants to call')))
    const lines = asked.split('\n')
    assert.ok(
      lines.every((line) => line.length <= 50),
      asked,
    )
    assert.match(asked.replace(/\s+/g, ' '), /to (a very long name of somebody who is paid ){3}.*empty: later\./)
  })

  test('a denial is read by the model', async () => {
    const { code, screen } = await sitting(asking('pay'), ['!not today'])
    assert.equal(code, 0)
    assert.match(screen, /It came to: \{"error":"denied: not today"\}/)
  })

  test('questions come one after the other', async () => {
    const { code, screen } = await sitting(asking('choose'), ['3', '2', 'calm'])
    assert.equal(code, 0)
    assert.match(screen, /Which colour\?.*1 Red {2}r.*2 Green {2}g/s)
    assert.match(screen, /It came to: \{"colour":\{"options":\["g"\]\},"why":\{"text":"calm"\}\}/)
  })

  test('a message gets a reply', async () => {
    const { code, screen } = await sitting(asking('write'), ['forty'])
    assert.equal(code, 0)
    assert.match(screen, /asker writes {2}ask_user {2}for anna\s+How many\?/)
    assert.match(screen, /It came to: Anna: forty/)
  })
})

describe('a run that waits at a terminal', () => {
  test('asks, goes on with the same run, and ends with the answer in the tree', async () => {
    const { code, screen } = await sitting(stamp, ['{"by":"anna"}'])
    assert.equal(code, 0)
    assert.match(screen, /clerk asks you to do Stamp {2}clerk\/Stamp/)
    const last = screen.slice(screen.lastIndexOf('front-desk  stamp it'))
    assert.match(last, /✓ clerk.*✓ Stamp {2}as: "paid", \$userId {2}→ \{ by: "anna" \}.*Stamped: \{"by":"anna"\}/s)
    assert.ok(screen.lastIndexOf('\u001b[?25h') > screen.lastIndexOf('\u001b[?25l'), 'the cursor is back')
  })

  test('a refusal goes to the model', async () => {
    const { code, screen } = await sitting(stamp, ['!no ink'])
    assert.equal(code, 0)
    assert.match(screen, /Stamped: \{"error":"no ink"\}/)
  })

  test('an empty line leaves it open', async () => {
    const { code, screen } = await sitting(stamp, [''])
    assert.equal(code, 3)
    assert.match(screen, /◆ clerk\/Stamp waits for an answer/)
  })
})

test('witan chat asks in between and goes on', async () => {
  const words = ['chat', 'front-desk', '--param', 'userId=u/1', '--config', deskConfig]
  const { code, screen } = await sitting(words, ['stamp it', 'done', 'Who am I?', '/exit'])
  assert.equal(code, 0)
  assert.match(screen, /Stamped: done.*It is user u\/1\./s)
})
