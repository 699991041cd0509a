/** Answering an action at the terminal. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { toAnswer } from './answering.ts'
import { sitting } from './testing/person.ts'
import { deskConfig } from './testing/witan.ts'

const stamp = ['run', 'front-desk', 'stamp it', '--param', 'userId=u/1', '--config', deskConfig]

test('a line is text or JSON, a reason after "!", or nothing', () => {
  assert.deepEqual(toAnswer(' done '), { answer: 'done' })
  assert.deepEqual(toAnswer('{"ok":true}'), { answer: { ok: true } })
  assert.deepEqual(toAnswer('42'), { answer: 42 })
  assert.deepEqual(toAnswer('! not today'), { error: 'not today' })
  assert.deepEqual(toAnswer('!'), { error: 'Refused at the terminal.' })
  assert.equal(toAnswer('  '), null)
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
