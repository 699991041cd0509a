/** `witan archive` as words: what it moves, what it leaves, and what it refuses. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { openArchive } from './archive-folder.ts'
import { askConfig, deskConfig, witan } from './testing/witan.ts'

const later = ['--before', '2999-01-01']

describe('an archive', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'witan-archive-'))
  })
  after(() => rm(folder, { recursive: true }))

  const at = (name: string) => ({ folder, environment: { WITAN_STORE_URL: `file:${join(folder, name)}` } })
  const run = (store: string, id: string) =>
    witan(['run', 'front-desk', 'Who?', '--param', 'userId=u/1', '--id', id, '--config', deskConfig], at(store))
  const ids = async (store: string) => {
    const { out } = await witan(['export'], at(store))
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string; row?: { id: string } })
    return lines.flatMap(({ kind, row }) => (kind === 'conversation' ? [row?.id] : []))
  }

  test('moves what ended, a file for each conversation, and import takes one back', async () => {
    for (const id of ['chats/1', 'chats/u.2']) assert.equal((await run('a.db', id)).code, 0)
    const early = await witan(['archive', '--before', '2000-01-01', '--to', 'early'], at('a.db'))
    assert.deepEqual([early.code, early.err], [0, 'archived 0 conversations\n'])
    const whole = await witan(['export'], at('a.db'))
    const moved = await witan(['archive', ...later, '--to', 'to'], at('a.db'))
    assert.deepEqual([moved.code, moved.out, moved.err], [0, '', 'archived 2 conversations\n'])
    const files = (await readdir(join(folder, 'to/default'))).sort()
    assert.deepEqual(files, ['@agents.jsonl', 'chats%2Fu%2E2.jsonl', 'chats%2F1.jsonl'].sort())
    assert.equal((await stat(join(folder, 'to/default/chats%2F1.jsonl'))).mode & 0o777, 0o600)
    assert.deepEqual(await ids('a.db'), [])
    for (const name of ['chats%2F1.jsonl', 'chats%2Fu%2E2.jsonl']) {
      const taken = await witan(['import', `to/default/${name}`], at('a.db'))
      assert.deepEqual([taken.code, taken.err], [0, 'imported 0 agents, 1 conversation\n'])
    }
    assert.equal((await witan(['export'], at('a.db'))).out, whole.out)
  })

  test('another store takes the agents first', async () => {
    const refused = await witan(['import', 'to/default/chats%2F1.jsonl'], at('b.db'))
    assert.match(refused.err, /names revision 1 of `front-desk`, which is not in the file/)
    assert.equal((await witan(['import', 'to/default/@agents.jsonl'], at('b.db'))).code, 0)
    assert.equal((await witan(['import', 'to/default/chats%2F1.jsonl'], at('b.db'))).code, 0)
    assert.deepEqual(await ids('b.db'), ['chats/1'])
  })

  test('an approval that waits keeps its conversation', async () => {
    const words = ['run', 'asker', 'pay', '--id', 'chats/q', '--config', askConfig]
    assert.equal((await witan(words, at('q.db'))).code, 3)
    const { code, err } = await witan(['archive', ...later, '--to', 'none'], at('q.db'))
    assert.deepEqual([code, err], [0, 'archived 0 conversations\n'])
    assert.deepEqual(await ids('q.db'), ['chats/q'])
  })

  test('an id that is used again gets another file, the same content does not', async () => {
    assert.equal((await run('c.db', 'chats/1')).code, 0)
    assert.equal((await witan(['archive', ...later, '--to', 'again'], at('c.db'))).code, 0)
    const name = join(folder, 'again/default/chats%2F1.jsonl')
    const first = await readFile(name, 'utf8')
    assert.equal((await witan(['import', 'again/default/chats%2F1.jsonl'], at('c.db'))).code, 0)
    assert.equal((await witan(['archive', ...later, '--to', 'again'], at('c.db'))).code, 0)
    assert.deepEqual((await readdir(join(folder, 'again/default'))).sort(), ['@agents.jsonl', 'chats%2F1.jsonl'])
    assert.equal((await run('c.db', 'chats/1')).code, 0)
    assert.equal((await witan(['archive', ...later, '--to', 'again'], at('c.db'))).code, 0)
    const files = (await readdir(join(folder, 'again/default'))).sort()
    assert.deepEqual(files, ['@agents.jsonl', 'chats%2F1.2.jsonl', 'chats%2F1.jsonl'])
    assert.equal(await readFile(name, 'utf8'), first)
  })

  test('what cannot be done is refused by name, before anything moves', async () => {
    assert.equal((await run('d.db', 'chats/1')).code, 0)
    await writeFile(join(folder, 'file'), '')
    await mkdir(join(folder, 'foreign'))
    await writeFile(join(folder, 'foreign/.lock'), 'something else that is no database '.repeat(100))
    const held = await openArchive(join(folder, 'held'))
    const refused: readonly (readonly [words: readonly string[], said: RegExp, code: number])[] = [
      [['--to', 'x'], /--before is missing/, 2],
      [['--before', 'yesterday', '--to', 'x'], /"yesterday" is no date.*\n.*2026-01-31/, 2],
      [['--before', '2026-02-30', '--to', 'x'], /is no date/, 2],
      [['--before', '2026-01-01T10:00+02:00', '--to', 'x'], /is no date/, 2],
      [later, /--to is missing/, 2],
      [[...later, '--to', 'file'], /"\S*file" cannot be made: E\w+/, 2],
      [[...later, '--to', 'foreign'], /has a file \.lock of something else/, 2],
      [[...later, '--to', 'held'], /STORE_LOCKED.*Another process archives/s, 78],
      [[...later, '--to', 'x', '--database', 'acme'], /NOT_FOUND.*`acme`.*It holds: default/s, 2],
    ]
    for (const [words, said, code] of refused) {
      const ended = await witan(['archive', ...words], at('d.db'))
      assert.match(ended.err, said)
      assert.equal(ended.code, code, ended.err)
    }
    held.close()
    assert.deepEqual(await ids('d.db'), ['chats/1'])
    const none = await witan(['archive', ...later, '--to', 'x'], at('nobody.db'))
    assert.match(none.err, /There is no store .*nobody\.db/)
    const memory = await witan(['archive', ...later, '--to', 'x'], {
      folder,
      environment: { WITAN_STORE_URL: 'memory:' },
    })
    assert.match(memory.err, /nothing to archive/)
  })
})
