/** `witan conversations export` and `replay` as words: the same log again, what differs, and no hidden value on the way. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { askConfig, deskConfig, witan } from './testing/witan.ts'

describe('a conversation as a file', () => {
  let folder: string
  const at = (name: string) => ({ WITAN_STORE_URL: `file:${join(folder, name)}` })
  const secret = 'users/4711-secret'
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'witan-replay-'))
    const asked = ['run', 'front-desk', `Who is ${secret}?`, '--id', 'chats/1', '--config', deskConfig]
    const words = [...asked, '--param', `userId=${secret}`, '--hide', 'userId']
    assert.equal((await witan(words, { environment: at('a.db') })).code, 0)
    const exported = ['conversations', 'export', 'chats/1', 'chat.jsonl', '--config', deskConfig]
    const { code, err } = await witan(exported, { folder, environment: at('a.db') })
    assert.deepEqual([code, err], [0, 'exported chats/1\n'])
  })
  after(() => rm(folder, { recursive: true }))

  const lines = async (file = 'chat.jsonl') => (await readFile(join(folder, file), 'utf8')).trimEnd().split('\n')
  const replay = (...words: string[]) => witan(['conversations', 'replay', ...words], { folder })

  test('[Tb29] played again it comes to the same log and the same trace ids, without configuration', async () => {
    const { code, out, err } = await replay('chat.jsonl')
    assert.deepEqual([code, err], [0, ''])
    assert.match(
      out,
      /^chats\/1 {2}\d+ entries, 1 run: the same log and the same trace ids\n {2}c_\w+ {2}trace [0-9a-f]{32}\n$/,
    )
    const state = await witan(['conversations', 'show', 'chats/1', '--json', '--config', deskConfig], {
      environment: at('a.db'),
    })
    const [run] = (JSON.parse(state.out) as { runs: { runId: string }[] }).runs
    assert.ok(out.includes(run?.runId ?? '?'))
  })

  test('[Tb29] a hidden value is in no line of the file, and the conversation with it not in an import', async () => {
    const text = (await lines()).join('\n')
    assert.ok(!text.includes('4711'), 'a hidden value is in the export')
    assert.match(text, /HIDDEN_VALUE_IN_TEXT|pseudonym-1/)
    const { code, err } = await witan(['import', 'chat.jsonl'], { folder, environment: at('b.db') })
    assert.equal(code, 2)
    assert.match(err, /^Nothing was imported\.\nBODY_INVALID.*export of one conversation.*\n→ .*conversations replay/s)
  })

  test('[Tb29] what differs is shown with its place, and nothing is stored', async () => {
    const changed = (await lines()).map((line) =>
      line.replace(/"finishReason":"stop","usage"/, '"finishReason":"length","usage"'),
    )
    await writeFile(join(folder, 'changed.jsonl'), changed.join('\n'))
    const { code, out } = await replay('changed.jsonl', '--to', 'file:./changed.db')
    assert.equal(code, 1)
    assert.match(
      out,
      /the log differs at seq \d+\n {2}expected {2}end agent at body\.finishReason: "length"\n {2}came {6}end agent at body\.finishReason: "stop"\nNothing was stored\.\n$/,
    )
  })

  test('[Tb29] --to stores it where nothing is yet, and nowhere else', async () => {
    const first = await replay('chat.jsonl', '--to', 'file:./r.db')
    assert.deepEqual([first.code, /stored in file:\.\/r\.db\n$/.test(first.out)], [0, true], first.err)
    const shown = await witan(['conversations', 'show', 'chats/1', '--config', deskConfig], { environment: at('r.db') })
    assert.match(shown.out, /chats\/1 {2}front-desk {2}idle/)
    const again = await replay('chat.jsonl', '--to', 'file:./r.db')
    assert.deepEqual([again.code, /NAME_TAKEN.*not empty/s.test(again.err)], [2, true], again.err)
    const odd = await replay('chat.jsonl', '--to', 'mysql://x')
    assert.deepEqual([odd.code, /USAGE {2}--to names no store/.test(odd.err)], [2, true], odd.err)
  })

  test('[Tb29] what is no export, is cut off, or lacks a revision is refused before anything is played', async () => {
    const good = await lines()
    const wrong: [text: readonly string[], said: RegExp][] = [
      [good.slice(0, -1), /cut off/],
      [good.filter((line) => !line.startsWith('{"kind":"agent"')), /BODY_INVALID/],
      [['{}'], /BODY_INVALID/],
    ]
    for (const [text, said] of wrong) {
      await writeFile(join(folder, 'wrong.jsonl'), text.join('\n'))
      const { code, err } = await replay('wrong.jsonl')
      assert.deepEqual([code, said.test(err)], [2, true], err)
    }
    assert.equal((await replay('none.jsonl')).code, 2)
  })

  test('[Tb29] from a step on another model answers, and both trees are compared', async () => {
    const other = ['--model', 'scripted/desk', '--from', '2', '--config', deskConfig]
    const { code, out, err } = await replay('chat.jsonl', ...other)
    assert.deepEqual([code, err], [0, ''])
    assert.match(out, /^chats\/1 {2}from step 2 with scripted\/desk\n/)
    assert.match(out, /\n- {5}who-is-it\n/)
    assert.match(out, /\n\d the same, \d changed, \d added, \d removed · [\d,]+ → [\d,]+ tokens\n$/)
    assert.ok(!out.includes('\u001b['), 'colours on a pipe')
    const wrong: [words: string[], said: RegExp][] = [
      [['--from', '2'], /USAGE {2}--from is a step for another model/],
      [['--model', 'no/where', '--config', deskConfig], /USAGE {2}The configuration has no model "no\/where"/],
      [[...other, '--to', 'file:./x.db'], /USAGE {2}--to stores the same log/],
      [['--model', 'scripted/desk', '--from', '99', '--config', deskConfig], /fewer than 99 model replies/],
    ]
    for (const [words, said] of wrong) {
      const refused = await replay('chat.jsonl', ...words)
      assert.deepEqual([refused.code, said.test(refused.err)], [2, true], refused.err)
    }
  })

  test('[Tb29] an approval and its answer are played again; --events prints the log as events', async () => {
    const run = (...words: string[]) => witan([...words, '--config', askConfig], { folder, environment: at('q.db') })
    assert.equal((await run('run', 'asker', 'pay', '--id', 'chats/q')).code, 3)
    const [open] = JSON.parse(
      `[${(await run('interruptions', 'list', '--json')).out.trim().split('\n').join(',')}]`,
    ) as { id: string }[]
    assert.equal((await run('interruptions', 'answer', open?.id ?? '', '--approve')).code, 0)
    assert.equal((await run('conversations', 'export', 'chats/q', 'q.jsonl')).code, 0)
    assert.match((await replay('q.jsonl')).out, /the same log/)
    const events = await run('conversations', 'export', 'chats/q', '--events')
    assert.ok(events.out.split('\n').some((line) => line.includes('"approval_required"')))
  })
})
