/** The command line from outside: words in, text and exit code out. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { deskConfig, witan } from './testing/witan.ts'

const config = ['--config', deskConfig]
const me = ['--param', 'userId=u/1']
const escapeCode = '\u001b'

describe('words', () => {
  test('the version, and help for the program, a group and a command', async () => {
    assert.match((await witan(['--version'])).out, /^\d+\.\d+\.\d+\n$/)
    assert.match((await witan([])).out, /Usage: witan COMMAND/)
    assert.match((await witan(['help', 'run'])).out, /--param NAME=VALUE/)
    assert.match((await witan(['agents', '--help'])).out, /^ {2}agents apply /m)
    const { code, out } = await witan(['run', '--help'])
    assert.deepEqual([code, out.includes('--json')], [0, true])
  })

  test('wrong usage ends with 2 and says what is right', async () => {
    const wrong: [string[], RegExp][] = [
      [['frob'], /There is no command "frob"\..*One of: dev, serve/s],
      [['agents'], /needs one more word.*list, show, tools/s],
      [['agents', 'frob'], /There is no witan agents frob/],
      [['chek'], /Did you mean "check"\?/],
      [['agents', 'lst'], /Did you mean "list"\?/],
      [['agents', 'list', '--jason'], /"--jason"\.\n→ Did you mean "--json"\? witan agents list --help/],
      [['run', 'front-desk'], /needs MESSAGE/],
      [['run', 'front-desk', 'x', '--frob'], /"--frob"/],
      [['run', 'front-desk', 'x', '--hide', 'userId', ...config], /names no --param/],
      [['run', 'front-desk', 'x', '--token', 't'], /Add --url/],
      [['dev', '--run', 'front-desk'], /belong together/],
      [['agents', 'apply', '-f', 'agents.yaml'], /There is no file "agents.yaml"/],
      [['agents', 'apply', '-f', 'none.json'], /There is no file "none.json"/],
      [['keys'], /One of: create, list, revoke/],
    ]
    for (const [words, said] of wrong) {
      const { code, out, err } = await witan(words)
      assert.deepEqual([code, out], [2, ''], words.join(' '))
      assert.match(err, said)
    }
  })

  test('a configuration that is missing or wrong ends with 78', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'witan-cli-'))
    await writeFile(join(folder, 'witan.config.json'), '{ "sore": {} }')
    const missing = await witan(['agents', 'list', '--config', 'none.json'], { folder })
    assert.equal(missing.code, 78)
    assert.match(missing.err, /CONFIG_INVALID.*none\.json/)
    const wrong = await witan(['agents', 'list'], { folder })
    assert.equal(wrong.code, 78)
    assert.match(wrong.err, /UNKNOWN_KEY.*sore/)
    await writeFile(join(folder, 'witan.config.json'), '{ "store": { "url": "memory:" } }')
    const found = await witan(['agents', 'list'], { folder: join(folder) })
    assert.deepEqual([found.code, found.out], [0, ''])
    await writeFile(join(folder, 'witan.config.ts'), "import './part.ts'\nexport default {}\n")
    await writeFile(join(folder, 'part.ts'), '\n\nexport const part: number = (\n')
    const broken = await witan(['agents', 'list'], { folder })
    assert.equal(broken.code, 78)
    assert.match(broken.err, /CONFIG_INVALID {2}.* \(part\.ts:\d\)/)
    await rm(folder, { recursive: true })
  })

  test('a stack is shown only where debugging is asked for', async () => {
    const words = ['run', 'nobody', 'x', ...config]
    const { err } = await witan(words)
    assert.match(err, /^NOT_FOUND {2}.*nobody.*\n→ /)
    assert.doesNotMatch(err, /\n {4}at /)
    assert.match((await witan(words, { environment: { WITAN_LOG_LEVEL: 'debug' } })).err, /\n {4}at /)
  })
})

describe('where there is nothing yet', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'witan-empty-'))
    await writeFile(join(folder, 'witan.config.json'), '{ "store": { "url": "memory:" } }')
  })
  after(() => rm(folder, { recursive: true }))

  test('a command says what would change that', async () => {
    const { err, code } = await witan(['run', 'desk', 'hello'], { folder })
    assert.equal(code, 2)
    assert.match(err, /^NOT_FOUND .*\n→ There are no agents at all: .*--config FILE.*witan agents apply -f FILE/)
    const check = await witan(['check'], { folder })
    assert.deepEqual([check.code, check.out], [0, '✓ 0 errors, 0 warnings\n'])
    assert.match(check.err, /^There are no agents to check: .*--config FILE.*witan agents apply -f FILE/)
    for (const words of [
      ['agents', 'list'],
      ['conversations', 'list'],
      ['tasks', 'list'],
    ])
      assert.match((await witan(words, { folder })).err, /^There are no \w+ yet\. \S/, words.join(' '))
  })
})

test('a parameter that is missing is named in what to do next', async () => {
  const { err } = await witan(['run', 'front-desk', 'x', ...config])
  assert.match(err, /→ Give it with `--param userId=VALUE`/)
})

describe('on a terminal of 60 columns', () => {
  const narrow = { columns: 60, environment: { NO_COLOR: '1' } }

  test('an error and what to do next break at words; on a pipe each is one line', async () => {
    const { err } = await witan(['frob'], narrow)
    const lines = err.trimEnd().split('\n')
    assert.ok(lines.length > 2 && lines.every((line) => line.length <= 60), err)
    assert.equal((await witan(['frob'])).err.trimEnd().split('\n').length, 2)
    assert.equal(err.replace(/\s+/g, ' '), (await witan(['frob'])).err.replace(/\s+/g, ' '))
  })

  test('what the doctor finds goes on below itself', async () => {
    const { out } = await witan(['doctor', ...config], narrow)
    assert.match(out, /\n! store {10}\S.*\n {16,}\S/)
  })
})

describe('witan run in a pipe', () => {
  test('a message of blanks is wrong usage, and leaves no conversation behind', async () => {
    const { code, err } = await witan(['run', 'front-desk', '  '], { folder: '/nowhere' })
    assert.equal(code, 2)
    assert.match(err, /^USAGE {2}MESSAGE is empty\./)
  })

  test('draws finished lines without colours, the answer and the usage sum, and ends with 0', async () => {
    const { code, out, err } = await witan(['run', 'front-desk', 'Who am I?', ...me, ...config])
    assert.deepEqual([code, err], [0, ''])
    assert.doesNotMatch(out, new RegExp(escapeCode))
    const shape = out
      .replace(/\d+ ms|[\d.]+ s/g, 'T')
      .replace(/[\d,]+ tok(en)?s?/g, 'N tok')
      .replace(/\d+ in, \d+ out/, 'I in, O out')
    assert.equal(
      shape,
      [
        '! The agents answer by rules of a script: no language model is called.',
        '› Who am I?',
        '',
        'front-desk  Who am I?',
        '│ clerk  Who am I?',
        '│ │ ✓ who-is-it  $userId  → user u/1  T',
        '│ ✓ clerk  It is user u/1.  T  N tok',
        '✓ front-desk  T  N tok',
        '',
        'It is user u/1.',
        '',
        '4 model calls · 1 tool call · N tok  I in, O out · T',
        '  front-desk   2 model calls   0 tool calls   N tok',
        '    clerk      2 model calls    1 tool call   N tok',
        '',
      ].join('\n'),
    )
  })

  test('FORCE_COLOR colours it all the same', async () => {
    const { out } = await witan(['run', 'front-desk', 'Who am I?', ...me, ...config], {
      environment: { FORCE_COLOR: '1' },
    })
    assert.ok(out.includes(`${escapeCode}[32m✓`))
    assert.doesNotMatch(out, new RegExp(`${escapeCode}\\[\\d*[AJK]`))
  })

  test('a run that fails ends with 1', async () => {
    const { code, out, err } = await witan(['run', 'front-desk', 'break', ...config])
    assert.equal(code, 1)
    assert.match(out, /✗ front-desk {2}MODEL_CALL_FAILED/)
    assert.match(err, /MODEL_CALL_FAILED/)
  })

  test('a run that waits says where, for what and how to answer, and ends with 3', async () => {
    const { code, out } = await witan(['run', 'front-desk', 'stamp it', ...me, ...config])
    assert.equal(code, 3)
    assert.match(out, /◆ clerk\/Stamp waits for an answer\n {4}as {6}paid\n {4}userId {2}u\/1\n/)
  })

  test('--json prints events and then the result, each a line', async () => {
    const { code, out } = await witan([
      'run',
      'front-desk',
      'Who am I?',
      '--json',
      ...me,
      '--hide',
      'userId',
      ...config,
    ])
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const result = lines.pop()
    assert.equal(code, 0)
    assert.deepEqual(
      lines.map((event) => event.seq),
      lines.map((_, index) => index + 1),
    )
    assert.deepEqual([result.type, result.status, result.text], ['result', 'completed', 'It is user u/1.'])
    assert.equal(result.usage.modelCalls, 4)
  })

  test('chat answers one line after the other in one conversation', async () => {
    const { code, out } = await witan(['chat', 'front-desk', ...me, ...config], { input: 'Who am I?\n\nAgain?\n' })
    assert.equal(code, 0)
    assert.equal(out.match(/✓ front-desk/g)?.length, 2)
  })
})

describe('a server', () => {
  let server: WitanServer
  let folder: string
  let at: string[]
  before(async () => {
    server = await startServer({ ...(await loadConfig({ file: deskConfig, env: { WITAN_LOG_LEVEL: 'error' } })) })
    folder = await mkdtemp(join(tmpdir(), 'witan-cli-'))
    at = ['--url', server.url]
  })
  after(async () => {
    await server.close()
    await rm(folder, { recursive: true })
  })

  test('agents go out and come back the same', async () => {
    const first = await witan(['agents', 'export', ...at])
    const { agents } = JSON.parse(first.out)
    assert.deepEqual(
      agents.map((agent: { id: string }) => agent.id),
      ['clerk', 'front-desk'],
    )
    const copies = agents.map((agent: { id: string }) => ({ ...agent, id: `${agent.id}-copy`, description: 'A copy.' }))
    await writeFile(join(folder, 'copies.json'), JSON.stringify({ agents: copies }))
    const applied = await witan(['agents', 'apply', '-f', 'copies.json', '--yes', ...at], { folder })
    assert.equal(applied.code, 0, applied.err)
    assert.match(applied.out, /saved clerk-copy \(revision 1\)\nsaved front-desk-copy \(revision 1\)/)
    const one = await witan(['agents', 'export', 'clerk-copy', ...at])
    assert.deepEqual(JSON.parse(one.out), { agents: [copies[0]] })
    const piped = await witan(['agents', 'apply', '-f', '-', ...at], { input: one.out })
    assert.match(piped.out, /= clerk-copy {2}unchanged/)
    assert.match((await witan(['agents', 'list', ...at])).out, /clerk-copy +scripted\/clerk +\d+ +data +A copy\./)
    for (const id of ['front-desk-copy', 'clerk-copy'])
      assert.equal((await witan(['agents', 'delete', id, ...at])).code, 0)
    assert.deepEqual(JSON.parse((await witan(['agents', 'export', ...at])).out), { agents })
  })

  test('an agent that others list is deleted only by force; an unknown one is wrong usage', async () => {
    const refused = await witan(['agents', 'delete', 'clerk', ...at])
    assert.equal(refused.code, 1)
    assert.match(refused.err, /AGENT_REFERENCED.*\n→ .*delete with `--force`/)
    assert.equal((await witan(['agents', 'show', 'nobody', ...at])).code, 2)
    const near: string[][] = [
      ['agents', 'show', 'clrk'],
      ['agents', 'delete', 'clrk'],
      ['agents', 'export', 'clrk'],
      ['run', 'clrk', 'hello'],
      ['run', 'clrk', 'hello', '--param', 'userId=1'],
      ['chat', 'clrk'],
    ]
    for (const words of near) {
      const { code, err } = await witan([...words, ...at], { input: 'hello\n' })
      assert.equal(code, 2, words.join(' '))
      assert.match(err, /NOT_FOUND {2}There is no agent `clrk`.*\n→ Did you mean `clerk`\?/, words.join(' '))
    }
    assert.match((await witan(['agents', 'show', 'nobody', ...at])).err, /→ `witan agents list` lists the agents/)
  })

  test('conversations are listed, shown, exported and deleted', async () => {
    await witan(['run', 'front-desk', 'Who am I?', '--id', 'chats/seven', ...me, ...at])
    const listed = await witan(['conversations', 'list', ...at])
    assert.match(listed.out, /^CONVERSATION +AGENT +STATUS +AGE +BEGINS\n/)
    assert.match(listed.out, /chats\/seven +front-desk +idle +now +Who am I\?\n/)
    const [line] = (await witan(['conversations', 'list', '--json', ...at])).out.split('\n')
    assert.equal(JSON.parse(line ?? '').id, 'chats/seven')
    const { out } = await witan(['conversations', 'show', 'chats/seven', ...at])
    assert.match(out, /› Who am I\?.*✓ front-desk.*└─ ✓ clerk.*✓ who-is-it.*It is user u\/1\./s)
    const log = (await witan(['conversations', 'export', 'chats/seven', '--events', ...at])).out.trimEnd().split('\n')
    assert.deepEqual(
      log.map((line) => JSON.parse(line).seq),
      log.map((_, index) => index + 1),
    )
    assert.equal((await witan(['conversations', 'delete', 'chats/seven', ...at])).code, 0)
    assert.equal((await witan(['conversations', 'show', 'chats/seven', ...at])).code, 2)
  })

  test('check prints who sees which parameter, and the actions to handle', async () => {
    const { code, out } = await witan(['check', ...at])
    assert.equal(code, 0)
    assert.match(out, /front-desk\/clerk +userId +conversation +no +no/)
    assert.match(out, /clerk\/Stamp/)
    const report = JSON.parse((await witan(['check', '--json', ...at])).out)
    assert.deepEqual(report.handlers, ['clerk/Stamp'])
  })

  test('nobody there ends with 1 and a question', async () => {
    const { code, err } = await witan(['agents', 'list', '--url', 'http://127.0.0.1:1'])
    assert.equal(code, 1)
    assert.match(err, /SERVER_UNREACHABLE.*→ Is the server running there/s)
  })
})
