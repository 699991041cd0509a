/** What waits, listed and answered by commands of their own, in processes of their own. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { askConfig, type Ended, witan } from '../testing/witan.ts'
import { sitting } from '../testing/person.ts'

const folder = mkdtempSync(join(tmpdir(), 'witan-interruptions-'))
let files = 0

/** A store of its own, and the commands on it. */
function desk() {
  files += 1
  const environment = { WITAN_STORE_URL: `file:${join(folder, `${files}.db`)}` }
  const run = (...words: string[]): Promise<Ended> => witan([...words, '--config', askConfig], { environment })
  return { run, environment }
}

/** The begun and ended tool calls of the one conversation. */
async function toolEvents(run: (...words: string[]) => Promise<Ended>): Promise<string[]> {
  const listed = await run('conversations', 'list', '--json')
  const log = await run('conversations', 'export', (JSON.parse(listed.out) as { id: string }).id)
  const events = log.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; kind: string | null })
  return events.filter(({ kind }) => kind === 'tool').map(({ type }) => type)
}

async function waiting(prompt: string) {
  const { run, environment } = desk()
  const { code, out } = await run('run', 'asker', prompt)
  assert.equal(code, 3, out)
  const listed = await run('interruptions', 'list', '--json')
  const { id } = JSON.parse(listed.out) as { id: string }
  return { run, id, out, environment }
}

describe('what waits, from the command line', () => {
  after(() => rmSync(folder, { recursive: true, force: true }))

  test('what waits is listed with what it asks, and says how it is answered', async () => {
    const { run, id, out } = await waiting('pay')
    assert.match(out, new RegExp(`witan interruptions answer ${id} --approve \\| --deny`))
    const table = await run('interruptions', 'list')
    assert.match(table.out, new RegExp(`${id} +approval +anybody +pay +pay \\{ amount: 5`))
    const none = await run('interruptions', 'list', '--addressee', 'anna')
    assert.deepEqual([none.code, none.out], [0, ''])
    assert.match(none.err, /Nothing waits/)
    const wrong = await run('interruptions', 'list', '--state', 'lost')
    assert.equal(wrong.code, 2)
  })

  test('a question that waits is printed in full, although nobody can be asked', async () => {
    const { out } = await waiting('choose')
    assert.match(out, /waits for an answer\n {4}Which colour\?\n {4}1 /)
  })

  test('the very same answer may be given again, another one may not', async () => {
    for (const [verdict, words, other] of [
      ['approved', ['--approve'], ['--deny']],
      ['denied', ['--deny', '--reason', 'no'], []],
    ] as const) {
      const { run, id } = await waiting('pay')
      assert.equal((await run('interruptions', 'answer', id, ...words)).code, 0)
      const again = await run('interruptions', 'answer', id, ...words)
      assert.deepEqual([again.code, again.out], [0, `${verdict}  approval pay\n`], again.err)
      const late = await run('interruptions', 'answer', id, ...other)
      assert.equal(late.code, 1)
      assert.match(late.err, /^ALREADY_ANSWERED/)
    }
  })

  test('an approval is given by a word, once; its run goes on in the next process', async () => {
    const { run, id } = await waiting('pay')
    for (const bad of [[], ['--approve', '--deny'], ['--reason', 'x']])
      assert.equal((await run('interruptions', 'answer', id, ...bad)).code, 2, bad.join())
    const off = await run('interruptions', 'answer', id, '--arguments', '{"amount":"much"}')
    assert.deepEqual([off.code, /ANSWER_INVALID|do not fit/.test(off.err)], [2, true])
    const told = await run('interruptions', 'answer', id, '--arguments', '{"amount":7}')
    assert.deepEqual([told.code, told.out], [0, 'approved  approval pay\n'])
    assert.match(told.err, /witan serve/)
    assert.deepEqual(await toolEvents(run), [], 'a process that ends must not begin with what was approved [D1]')
    const again = await run('interruptions', 'answer', id, '--deny')
    assert.notEqual(again.code, 0)
    assert.match(again.err, /was answered/)
  })

  test('questions are answered by their ids, a message by words, and what is wrong says what is right', async () => {
    const asked = await waiting('choose')
    const wrong = await asked.run('interruptions', 'answer', asked.id, '--choose', 'colour=b')
    assert.match(wrong.err, /`b` is not one of r, g/)
    const unnamed = await asked.run('interruptions', 'answer', asked.id, 'red')
    assert.deepEqual([unnamed.code, /several questions/.test(unnamed.err)], [2, true])
    const right = await asked.run(
      'interruptions',
      'answer',
      asked.id,
      '--choose',
      'colour=g',
      '--text',
      'why=calm',
      '--json',
    )
    assert.equal(right.code, 0)
    assert.equal((JSON.parse(right.out) as { state: string }).state, 'answered')

    const message = await waiting('write')
    const listed = await message.run('interruptions', 'list', '--addressee', 'anna')
    assert.match(listed.out, /message +anna +ask_user +How many\?/)
    assert.equal((await message.run('interruptions', 'answer', message.id, 'forty')).code, 0)
    const unknown = await message.run('interruptions', 'answer', 'i_none', 'x')
    assert.notEqual(unknown.code, 0)
    assert.match(unknown.err, /no interruption `i_none`/)
  })

  test('without an answer a terminal is asked, and an empty line leaves it open', async () => {
    const { run, id, environment } = await waiting('pay')
    const words = ['interruptions', 'answer', id, '--config', askConfig]
    const left = await sitting(words, [''], environment)
    assert.deepEqual([left.code, /wants to call pay/.test(left.screen)], [3, true])
    const denied = await sitting(words, ['!no'], environment)
    assert.equal(denied.code, 0)
    assert.match(denied.screen, /denied {2}approval pay/)
    assert.match((await run('interruptions', 'list', '--state', 'answered')).out, new RegExp(id))
  })
})
