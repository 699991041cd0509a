/** Every command with hostile text in every field: a terminal and a pipe get what it is, and never obey it. */
import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { defineAgent, defineTool } from '@witan/core'
import { call, lastUserMessage, scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { parse } from 'yaml'
import { z } from 'zod'
import { commands } from './cli.ts'
import { toYaml } from './commands/export.ts'
import { hostile, type HostileServer, startHostileServer } from './testing/hostile-server.ts'
import { sitting } from './testing/person.ts'
import { askConfig, deskConfig, type Ended, witan } from './testing/witan.ts'

/** The codes that the command line writes itself: colours, the redrawing of a tree, and the cursor of an open line. */
const ours =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal gets.
  /\u001b\[(?:\d+(?:;\d+)*m|\?25[hl]|\?2026[hl]|K|0J|\d+A|\d+G|\d+;\d+H|1G|0K)|\r/g
const never = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|\p{M}{8}/u

/** Fails if a terminal would obey or hide a part of the text. Red is the one colour of the hostile text. */
function assertShown(text: string, what: string, isTerminal = false): void {
  const rest = isTerminal ? text.replaceAll(ours, '') : text
  const found = never.exec(rest)
  assert.equal(
    found,
    null,
    `${what}: ${JSON.stringify(rest.slice(Math.max(0, (found?.index ?? 0) - 60)).slice(0, 160))}`,
  )
  assert.ok(!text.includes('\u001b[31mred'), `${what}: red`)
}

function assertEnded({ out, err }: Ended, words: readonly string[], isTerminal: boolean): void {
  const what = `${words.join(' ')}${isTerminal ? ' at a terminal' : ''}`
  assertShown(out, `${what}, output`, isTerminal)
  assertShown(err, `${what}, errors`, isTerminal)
}

const save = defineTool({
  name: 'save',
  description: 'Saves.',
  parameters: z.object({}),
  execute: async (_, { artifacts }) => {
    await artifacts.save({ name: 'note.txt', mediaType: 'text/plain', text: hostile })
    return { said: hostile }
  },
})
const breaks = defineTool({
  name: 'breaks',
  description: 'Breaks.',
  parameters: z.object({}),
  execute: () => {
    throw new Error(hostile)
  },
})
const worker = scriptedModel((_, turn) => (turn === 0 ? call('save', {}) : { text: hostile, reasoning: hostile }), {
  id: 'scripted/worker',
})
const lead = scriptedModel(
  (request, turn) => {
    const said = lastUserMessage(request)
    if (said.includes('ask')) return turn === 0 ? call('ask_user', { message: hostile }) : hostile
    if (said.includes('fail')) return new Error(hostile)
    const order = [call('save', {}), call('breaks', {}), call('worker', { message: hostile })]
    return order[turn] ?? hostile
  },
  { id: 'scripted/lead' },
)
const passageIn = (text: string) => `[${/"id":"(k[a-z2-7]{8})"/.exec(text)?.[1]}]`
const about = `Does it. ${hostile}`
const agents = [
  defineAgent({
    id: 'lead',
    name: 'Lead',
    instructions: about,
    model: lead,
    tools: [save, breaks],
    artifacts: true,
    questions: true,
    users: [{ id: 'anna', name: 'Anna' }],
    parameters: [{ name: 'note', description: about, type: 'string' }],
    subAgents: [{ agent: 'worker', description: about, blocking: 'model' }],
    actions: [{ name: 'Stamp', description: about, parametersSchema: { type: 'object', properties: {} } }],
  } as never),
  defineAgent({
    id: 'reader',
    instructions: about,
    model: scriptedModel((request) => `Below ${passageIn(lastUserMessage(request))}. ${hostile}`, {
      id: 'scripted/reader',
    }),
    knowledgeBases: [{ id: 'house', retrieval: 'auto' }],
    memory: {},
  } as never),
  defineAgent({ id: 'worker', instructions: about, model: worker, tools: [save], artifacts: true } as never),
]

describe('hostile text', () => {
  let real: WitanServer
  let server: HostileServer
  let folder = ''
  const known: Record<string, string> = {}
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'witan-hostile-'))
    const config = await loadConfig({ file: askConfig, env: { WITAN_LOG_LEVEL: 'silent' } })
    real = await startServer({ ...config, agents, knowledge: [{ id: 'house', description: 'The house.' }] })
    server = await startHostileServer(real.url)
    const client = createClient({ url: real.url })
    const parameters = { note: hostile }
    await client.conversation('lead', { id: 'chats/one', parameters }).run(`go ${hostile}`)
    await client.conversation('lead', { id: 'chats/two', parameters }).run('fail')
    const uri = 'https://house.example/cellar'
    const cellar = { key: 'cellar.md', mediaType: 'text/markdown', text: '# Cellar\n\nThe wine is here.', uri }
    await client.knowledge.documents.ingest('house', [cellar])
    const about = { agent: 'reader', subject: 'user:local', key: 'note', text: hostile.toWellFormed() }
    known.block = (await client.memory.create(about)).id
    const told = await client.conversation('reader', { id: 'chats/four' }).run('Where is the wine?')
    assert.equal(told.sources?.length, 1)
    const asked = client.conversation('lead', {
      id: 'chats/three',
      parameters,
      users: [{ id: 'anna', name: 'Anna' }],
    } as never)
    asked.onUnhandledAction(() => {})
    await asked.run('ask')
    const { interruptions } = await client.conversations.get('chats/three')
    known.interruption = interruptions[0]?.id ?? ''
    for await (const { id } of client.artifacts.all('chats/one')) known.artifact = id
    for await (const { id } of client.conversations.modelCalls.all('chats/one')) known.modelCall = id
    client.close()
  })
  after(async () => {
    await server.close()
    await real.close()
    rmSync(folder, { recursive: true })
  })

  /** Commands that read or change what a server has; every text of its replies is hostile. */
  const served = (): readonly (readonly string[])[] => [
    ['agents', 'list'],
    ['agents', 'show', 'lead'],
    ['agents', 'export'],
    ['agents', 'export', '--format', 'yaml'],
    ['agents', 'export', 'lead', '--format', 'yaml'],
    ['check'],
    ['conversations', 'list'],
    ['conversations', 'list', '--json'],
    ['conversations', 'show', 'chats/one'],
    ['conversations', 'show', 'chats/two'],
    ['conversations', 'show', 'chats/four'],
    ['run', 'reader', 'Where is the wine?'],
    ['conversations', 'show', 'chats/three', '--json'],
    ['conversations', 'diagram', 'chats/one'],
    ['conversations', 'diagram', 'chats/one', '--format', 'mermaid'],
    ['conversations', 'prompts', 'chats/one'],
    ['conversations', 'prompts', 'chats/one', '--json'],
    ['conversations', 'prompts', 'chats/one', known.modelCall ?? ''],
    ['conversations', 'prompts', 'chats/one', known.modelCall ?? '', '--json'],
    ['conversations', 'people', 'chats/three'],
    ['conversations', 'export', 'chats/one'],
    ['conversations', 'export', 'chats/one', '--events'],
    ['protocols', 'list'],
    ['protocols', 'list', '--json'],
    ['tasks', 'list'],
    ['tasks', 'list', '--json'],
    ['tasks', 'show', 't_none'],
    ['interruptions', 'list'],
    ['interruptions', 'list', '--json'],
    ['interruptions', 'answer', known.interruption ?? '', `yes ${hostile}`],
    ['artifacts', 'list', 'chats/one'],
    ['artifacts', 'list', 'chats/one', '--json'],
    ['usage'],
    ['usage', '--by', 'conversation', '--json'],
    ['memory', 'list'],
    ['memory', 'list', '--json'],
    ['memory', 'show', known.block ?? ''],
    ['memory', 'show', known.block ?? '', '--revisions'],
    ['memory', 'show', known.block ?? '', '--revisions', '--json'],
    ['memory', 'set', known.block ?? '', hostile.toWellFormed()],
    ['memory', 'show', 'note'],
    ['keys', 'list'],
    ['audit'],
    ['audit', '--json'],
    ['run', 'lead', `go ${hostile}`, '--param', `note=${hostile}`, '--reasoning'],
    ['run', 'lead', `go ${hostile}`, '--param', `note=${hostile}`, '--json', '--reasoning'],
    ['run', 'lead', 'fail', '--param', 'note=x'],
    ['run', 'lead', 'ask', '--param', 'note=x'],
    ['run', 'lead', 'go', '--wait', '--param', 'note=x'],
    ['run', 'none', 'go'],
    ['chat', 'lead', '--param', 'note=x'],
    ['conversations', 'delete', 'chats/none'],
  ]

  for (const isTerminal of [false, true]) {
    test(`from a server is shown and not obeyed ${isTerminal ? 'at a terminal' : 'on a pipe'}`, async () => {
      const around = { input: 'go\n', folder, ...(isTerminal ? { columns: 100 } : {}) }
      for (const everything of [false, true]) {
        server.everything = everything
        for (const words of served()) {
          const ended = await witan([...words, '--url', server.url], around)
          assertEnded(ended, words, isTerminal)
          if (words.includes('--json') || words[1] === 'export') assertJson(ended.out, words)
        }
      }
      server.everything = false
    })
  }

  test('a person is asked at a terminal in words that are shown', async () => {
    const { screen } = await sitting(
      ['run', 'lead', 'ask', '--param', 'note=x', '--url', server.url],
      [`n ${hostile.slice(0, 0)}5`],
    )
    assert.ok(screen.includes('\\u202e'), screen)
    assertShown(screen, 'a question', true)
  })

  test('an artifact is text at a terminal, and its bytes on a pipe', async () => {
    const words = ['artifacts', 'get', known.artifact ?? '', '--url', real.url]
    const shown = await witan(words, { columns: 80 })
    assert.equal(shown.code, 0, shown.err)
    assertEnded(shown, words, true)
    const piped = await witan(words)
    assert.ok(piped.out.length > 0)
  })

  test('in any word of any command is shown in what is said of it', async () => {
    for (const command of commands) {
      if (['dev', 'serve', 'work'].includes(command.name)) continue
      const words = command.name.split(' ')
      const operands = (command.operands ?? []).map(() => hostile)
      const tries = [
        [...words, ...operands],
        [...words, ...operands, hostile, hostile, hostile],
        [...words, ...operands, `--${hostile}`],
        ...Object.entries(command.options ?? {})
          .filter(([, { value }]) => value !== undefined)
          .map(([name]) => [...words, ...(command.operands ?? []).map(() => 'x'), `--${name}`, hostile]),
      ]
      for (const one of tries)
        for (const columns of [undefined, 60]) {
          const more = one.includes('--config') || command.options?.config === undefined ? [] : ['--config', deskConfig]
          const ended = await witan([...one, ...more], { folder, ...(columns === undefined ? {} : { columns }) })
          assertEnded(ended, one, columns !== undefined)
        }
    }
    for (const name of [hostile, `agents ${hostile}`, `help ${hostile}`])
      assertEnded(await witan(name.split(' ')), [name], false)
  })

  test('in a file of agents or of a replay is shown in what is said of it', async () => {
    const file = join(folder, 'agents.yaml')
    const wrong = {
      agents: [{ id: `x${hostile}`, model: hostile, [hostile]: 1, instructions: hostile, tools: [hostile] }],
    }
    for (const text of [JSON.stringify(wrong), `${hostile}: [`, `"${hostile}`, toYaml(wrong)]) {
      writeFileSync(file, text)
      for (const words of [
        ['agents', 'apply', '-f', file, '--dry-run', '--config', deskConfig],
        ['conversations', 'replay', file],
        ['import', file, '--config', deskConfig],
      ])
        assertEnded(await witan(words, { folder, columns: 100 }), words, true)
    }
    const good = {
      agents: [{ id: 'clerk', model: 'x/y', instructions: `${hostile}\nmore\n${hostile}`, description: hostile }],
    }
    writeFileSync(file, JSON.stringify(good))
    const words = ['agents', 'apply', '-f', file, '--dry-run', '--url', server.url]
    assertEnded(await witan(words, { folder, columns: 100 }), words, true)
    const local = ['check', '--config', file]
    assertEnded(await witan(local, { folder }), local, false)
  })

  test('stays one line of an exported conversation, which can be replayed', async () => {
    const file = join(folder, 'one.jsonl')
    const exported = await witan(['conversations', 'export', 'chats/one', file, '--url', real.url], { folder })
    assert.equal(exported.code, 0, exported.err)
    const printed = await witan(['conversations', 'export', 'chats/one', '--url', real.url])
    const valuesOf = (text: string) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
    const isSame = (values: readonly Record<string, unknown>[]) => values.map(({ at: _at, ...one }) => one)
    assert.deepEqual(isSame(valuesOf(printed.out)), isSame(valuesOf(readFileSync(file, 'utf8'))))
    const words = ['conversations', 'replay', file]
    const replayed = await witan(words, { folder })
    assertEnded(replayed, words, false)
    assert.match(replayed.out, /the same log/, replayed.err)
  })

  test('comes back from YAML as it was', () => {
    for (const text of [
      hostile,
      `${hostile}\n\tline\n`,
      'می‌خواهم 👩‍👩‍👧 \u0600',
      `a\tb\n${'e'.repeat(200)}`,
      '\u0085',
      '# \u202e',
    ])
      assert.deepEqual(parse(toYaml({ [text]: [text] })), { [text]: [text] })
    assert.equal(toYaml({ a: 'one\n\ttwo\n' }), 'a: |\n  one\n  \ttwo\n')
  })
})

/** Each line, or the whole, is JSON. */
function assertJson(out: string, words: readonly string[]): void {
  if (words.includes('yaml') || out === '') return
  const isWhole = out.startsWith('{\n') || out.startsWith('[\n')
  for (const text of isWhole ? [out] : out.trimEnd().split('\n')) JSON.parse(text)
}

test('nothing but two files of the command line can write to a terminal', () => {
  const folder = fileURLToPath(new URL('.', import.meta.url))
  const files = globSync('**/*.ts', { cwd: folder }).filter((file) => !/\.test\.ts$|^testing/.test(file))
  const using = (pattern: RegExp) =>
    files.filter((file) => pattern.test(readFileSync(join(folder, file), 'utf8'))).sort()
  assert.deepEqual(using(/\basShown\(|\bas Shown\b/), ['shown.ts', 'terminal.ts', 'tree/screen.ts'])
  assert.deepEqual(using(/process\.(stdout|stderr)|WritableStream/), ['export-file.ts', 'main.ts', 'terminal.ts'])
  assert.deepEqual(using(/\bconsole\.|process\.emitWarning|\bwriteSync\(|writeFileSync\(1/), [])
})
