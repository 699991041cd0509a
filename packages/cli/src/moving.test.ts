/** `witan export`, `witan import` and `witan work` as words: what they move, and what they refuse. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startServer, loadConfig } from '@witan/server'
import { askConfig, deskConfig, witan } from './testing/witan.ts'

describe('a store as a file', () => {
  let folder: string
  const at = (name: string) => ({ WITAN_STORE_URL: `file:${join(folder, name)}` })
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'witan-moving-'))
    const words = [
      'run',
      'front-desk',
      'Who am I?',
      '--param',
      'userId=u/1',
      '--hide',
      'userId',
      '--config',
      deskConfig,
    ]
    assert.equal((await witan(words, { environment: at('a.db') })).code, 0)
    assert.equal((await witan([...words, '--id', 'chats/two'], { environment: at('a.db') })).code, 0)
  })
  after(() => rm(folder, { recursive: true }))

  async function exported(store: string, file: string): Promise<string> {
    const { code, err } = await witan(['export', file], { folder, environment: at(store) })
    assert.deepEqual([code, err], [0, 'exported 2 agents, 2 conversations\n'])
    return readFile(join(folder, file), 'utf8')
  }

  test('what was exported and imported is exported the same, byte for byte [P23]', async () => {
    const first = await exported('a.db', 'a.jsonl')
    assert.equal((await stat(join(folder, 'a.jsonl'))).mode & 0o777, 0o600)
    const { code, out, err } = await witan(['import', 'a.jsonl'], { folder, environment: at('b.db') })
    assert.deepEqual([code, out, err], [0, '', 'imported 2 agents, 2 conversations\n'])
    assert.equal(await exported('b.db', 'b.jsonl'), first)
    const again = await witan(['import', 'a.jsonl'], { folder, environment: at('b.db') })
    assert.deepEqual([again.code, again.err], [0, 'imported 0 agents, 0 conversations; 4 were there already\n'])
    const printed = await witan(['export'], { folder, environment: at('b.db') })
    assert.deepEqual([printed.code, printed.out], [0, first])
    const over = await witan(['export', 'a.jsonl'], { folder, environment: at('b.db') })
    assert.deepEqual([over.code, /"a.jsonl" already exists/.test(over.err)], [2, true])
  })

  test('each kind of what is moved is counted as what it is', async () => {
    const definitions = {
      store: { url: 'file:./kinds.db' },
      knowledge: [{ id: 'house' }, { id: 'garden' }],
      protocols: [{ name: 'talk', messages: [{ name: 'ask', from: 'initiator', schema: { type: 'object' } }] }],
    }
    await writeFile(join(folder, 'witan.config.json'), JSON.stringify(definitions))
    await writeFile(join(folder, 'roof.md'), 'The roof is red.')
    assert.equal((await witan(['knowledge', 'add', 'house', 'roof.md'], { folder })).code, 0)
    const all = '0 agents, 1 protocol, 2 knowledge bases, 0 conversations, 1 document'
    assert.equal((await witan(['export', 'kinds.jsonl'], { folder })).err, `exported ${all}\n`)
    const environment = { WITAN_STORE_URL: `file:${join(folder, 'copy.db')}` }
    const { err } = await witan(['import', 'kinds.jsonl', '--config', deskConfig], { folder, environment })
    assert.match(
      err,
      new RegExp(`^imported ${all}\\n +Documents wait to be read: they are found once a process that takes work runs`),
    )
  })

  test('a file that is not as export wrote it is refused, and nothing of it is stored [P23]', async () => {
    await exported('a.db', 'good.jsonl')
    const good = (await readFile(join(folder, 'good.jsonl'), 'utf8')).split('\n')
    const changed = (at: number, change: (line: Record<string, unknown>) => unknown) =>
      good.map((line, index) => (index === at ? JSON.stringify(change(JSON.parse(line))) : line)).join('\n')
    const wrong: [text: string, said: RegExp, code: number][] = [
      [changed(0, (line) => ({ ...line, version: 2 })), /SCHEMA_TOO_NEW.*version 2.*reads 1/s, 78],
      [changed(0, (line) => ({ ...line, colour: 1 })), /UNKNOWN_KEY.*line 1 has a field.*`colour`/s, 2],
      [changed(1, (line) => ({ ...line, colour: 1 })), /UNKNOWN_KEY.*line 2.*`colour`/s, 2],
      [
        changed(5, (line) => ({ ...line, entry: { ...(line['entry'] as object), mood: 1 } })),
        /line 6.*`entry.mood`/s,
        2,
      ],
      [good.slice(0, -2).join('\n'), /BODY_INVALID.*is not there: the file was cut off/s, 2],
      [good.slice(0, 5).join('\n'), /is not there: the file was cut off/, 2],
      [good.slice(1).join('\n'), /line 1 is not the first line/, 2],
      [good.filter((_, index) => index !== 6).join('\n'), /kind|cannot be stored/, 2],
      [`${good.join('\n')}{}\n`, /BODY_INVALID/, 2],
      ['not json\n', /JSON_INVALID.*line 1 is not JSON/s, 2],
      ['', /line 1 is not there/, 2],
    ]
    for (const [text, said, expected] of wrong) {
      await writeFile(join(folder, 'wrong.jsonl'), text)
      const { code, err } = await witan(['import', 'wrong.jsonl'], { folder, environment: at('c.db') })
      assert.match(err, said)
      assert.match(err, /^Nothing was imported\.\n/)
      assert.equal(code, expected, err)
    }
    const { out } = await witan(['export'], { folder, environment: at('c.db') })
    assert.equal(out.split('\n').length, 3, 'a first line, a last line, and nothing between')
  })

  test('something else under the same name stops an import before anything is stored', async () => {
    await exported('a.db', 'mine.jsonl')
    const words = ['run', 'front-desk', 'What?', '--param', 'userId=u/2', '--id', 'chats/two', '--config', deskConfig]
    assert.equal((await witan(words, { environment: at('d.db') })).code, 0)
    const { code, err } = await witan(['import', 'mine.jsonl'], { folder, environment: at('d.db') })
    assert.equal(code, 2)
    assert.match(
      err,
      /^Nothing was imported\.\nNAME_TAKEN {2}Conversation `chats\/two` of database `default` already exists/,
    )
  })

  test('an import takes only the databases that are allowed', async () => {
    await exported('a.db', 'named.jsonl')
    const load = (...names: string[]) =>
      witan(['import', 'named.jsonl', ...names.flatMap((name) => ['--database', name])], {
        folder,
        environment: at('n.db'),
      })
    const refused = await load('acme')
    assert.equal(refused.code, 2)
    assert.match(
      refused.err,
      /^Nothing was imported\.\nBODY_INVALID {2}The file holds the database `default`, which is not/,
    )
    assert.equal((await load('acme', 'default')).code, 0)
  })

  test('a database that is not there, a store in memory, a missing store and a held one are named', async () => {
    const none = await witan(['export', '--database', 'x'], { folder, environment: at('a.db') })
    assert.deepEqual([none.code, /NOT_FOUND.*`x`.*It holds: default/s.test(none.err)], [2, true])
    const memory = { WITAN_STORE_URL: 'memory:' }
    for (const words of [['export'], ['import', 'a.jsonl']]) {
      const { code, err } = await witan(words, { folder, environment: memory })
      assert.deepEqual([code, /USAGE {2}The store is in memory/.test(err)], [2, true])
    }
    const missing = await witan(['export'], { folder, environment: at('nobody.db') })
    assert.deepEqual([missing.code, /There is no store .*nobody\.db/.test(missing.err)], [78, true])
    assert.equal((await witan(['import', 'none.jsonl'], { folder, environment: at('a.db') })).code, 2)
    const config = await loadConfig({ cwd: folder, env: { ...at('a.db'), WITAN_PORT: '0', WITAN_LOG_LEVEL: 'error' } })
    const server = await startServer(config)
    try {
      const held = await witan(['export'], { folder, environment: at('a.db') })
      assert.equal(held.code, 78)
      assert.match(held.err, /STORE_LOCKED.*\n→ Stop that process .*, export, and start it again\./)
    } finally {
      await server.close()
    }
  })

  test('an approval that waits is given in the other store, once', async () => {
    const run = (store: string, ...words: string[]) =>
      witan([...words, '--config', askConfig], { folder, environment: at(store) })
    assert.equal((await run('q.db', 'run', 'asker', 'pay', '--id', 'chats/q')).code, 3)
    const sent = await run('q.db', 'export', 'q.jsonl')
    assert.match(
      sent.err,
      /! 1 run or task has not ended\. This store continues it, so the file may stay a backup\.\n {2}To move, import it elsewhere: a store/,
    )
    assert.equal((await run('r.db', 'import', 'q.jsonl')).code, 0)
    const listed = await run('r.db', 'interruptions', 'list', '--json')
    const { id } = JSON.parse(listed.out) as { id: string }
    const answered = await run('r.db', 'interruptions', 'answer', id, '--approve')
    assert.deepEqual([answered.code, /approved {2}approval pay/.test(answered.out)], [0, true], answered.err)
    const again = await run('r.db', 'interruptions', 'answer', id, '--deny')
    assert.deepEqual([again.code, /ALREADY_ANSWERED/.test(again.err)], [1, true])
  })

  test('a worker beside a store of one process is wrong usage, and says why', async () => {
    for (const url of ['memory:', 'file:./a.db']) {
      const { code, err } = await witan(['work'], { folder, environment: { WITAN_STORE_URL: url } })
      assert.equal(code, 2)
      assert.match(err, /^USAGE {2}The store is in .*\n→ witan serve works on its jobs itself/)
    }
    await mkdir(join(folder, 'away'))
    const away = { WITAN_STORE_URL: 'postgres://nobody@127.0.0.1:1/x' }
    const { code, err } = await witan(['work'], { folder: join(folder, 'away'), environment: away })
    assert.deepEqual([code, /^STORE_UNREACHABLE/.test(err)], [78, true], err)
  })
})

test('a file that is missing is asked for by the command that writes one', async () => {
  for (const [words, writer] of [
    [['conversations', 'replay', 'none.jsonl'], 'witan conversations export'],
    [['conversations', 'replay', 'none.jsonl', '--model', 'a/b', '--from', '2'], 'witan conversations export'],
    [['import', 'none.jsonl', '--config', deskConfig], 'witan export'],
  ] as const) {
    const { code, err } = await witan(
      words,
      words[0] === 'import' ? { environment: { WITAN_STORE_URL: 'file:/tmp/none.db' } } : {},
    )
    assert.deepEqual([code, err.includes(`Name the file that ${writer} wrote`)], [2, true], err)
  }
})
