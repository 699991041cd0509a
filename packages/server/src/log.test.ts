/** The lines of the log: JSON, with levels, with the ids of run and call, and without content. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineAgent, defineTool, type Model } from '@witan/core'
import { call, lastUserMessage, scriptedModel } from '@witan/core/testing'
import { z } from 'zod'
import { loadConfig } from './config.ts'
import { createLog, type LogLevel } from './log.ts'
import { openRuntime } from './open-runtime.ts'

type Line = Readonly<Record<string, unknown>>

const model = scriptedModel(
  (request) => {
    const said = lastUserMessage(request)
    if (said === 'break') throw new Error('the model broke on a secret-word')
    return said === 'tool' ? call('look', {}) : { text: 'Done: secret-word.' }
  },
  { id: 'scripted/clerk' },
)
const calls = scriptedModel(() => call('mate', { message: 'Go.' }), { id: 'scripted/boss' })
const broken = defineTool({
  name: 'look',
  description: 'Looks.',
  parameters: z.object({}),
  execute: () => {
    throw new Error('secret-word')
  },
})

async function linesOf(level: LogLevel, prompts: readonly string[]): Promise<readonly Line[]> {
  const written: string[] = []
  const log = createLog(level, (line) => written.push(line))
  const agents = [
    defineAgent({ id: 'clerk', instructions: 'Work.', model, tools: [broken], limits: { maxIterations: 2 } }),
  ]
  const config = await loadConfig({ cwd: '/', env: { WITAN_STORE_URL: 'memory:' } })
  const runtime = await openRuntime({ ...config, agents }, log)
  for (const [index, prompt] of prompts.entries()) {
    const id = `chats/${index}`
    const chat = runtime.conversation('clerk', { id, parameters: {} })
    await chat.run(prompt)
  }
  await runtime.close()
  for (const line of written) assert.ok(line.endsWith('\n') && line.split('\n').length === 2, 'one line for each entry')
  assert.ok(!written.join('').includes('secret-word'), 'no line has content')
  return written.map((line) => JSON.parse(line) as Line)
}

test('each run has a line when it begins and when it ends, with its ids', async () => {
  const lines = await linesOf('debug', ['hello'])
  const runs = lines.filter(({ message }) => String(message).startsWith('run '))
  assert.deepEqual(
    runs.map(({ level, message, database, conversationId, agent }) => [
      level,
      message,
      database,
      conversationId,
      agent,
    ]),
    [
      ['debug', 'run taken', 'default', 'chats/0', 'clerk'],
      ['debug', 'run completed', 'default', 'chats/0', 'clerk'],
    ],
  )
  const [{ runId, callId, at } = {}] = runs
  assert.match(String(runId), /^c_/)
  assert.deepEqual([callId, Number.isNaN(Date.parse(String(at)))], [runId, false])
})

test('a run that failed is a warning with its code, and the others are not shown at that level', async () => {
  const lines = await linesOf('warn', ['hello', 'break', 'tool'])
  assert.deepEqual(
    lines.map(({ level, message, conversationId, code }) => [level, message, conversationId, code]),
    [['warn', 'run failed', 'chats/1', 'MODEL_CALL_FAILED']],
  )
  assert.deepEqual(await linesOf('error', ['break']), [])
})

test('an error inside names the run and the call in which it happened', async () => {
  const written: string[] = []
  const config = await loadConfig({ cwd: '/', env: { WITAN_STORE_URL: 'memory:' } })
  const bad: Model = {
    id: 'scripted/bad',
    async *stream() {
      yield { type: 'reply', reply: null as never }
    },
  }
  const agents = [
    defineAgent({
      id: 'boss',
      instructions: 'Lead.',
      model: calls,
      subAgents: [{ agent: 'mate', description: 'Helps.' }],
    }),
    defineAgent({ id: 'mate', instructions: 'Help.', model: bad }),
  ]
  const runtime = await openRuntime(
    { ...config, agents },
    createLog('error', (line) => written.push(line)),
  )
  const { runId } = await runtime.conversation('boss', { id: 'chats/1' }).run('hello')
  const { events } = await runtime.readEvents('chats/1', { verbose: true })
  await runtime.close()
  const mate = events.find(({ type, author }) => type === 'start' && author === 'mate')
  const [{ at: _, error, ...line } = {}] = written.map((text) => JSON.parse(text) as Line)
  const place = { database: 'default', conversationId: 'chats/1', runId, callId: mate?.callId }
  assert.deepEqual(line, { level: 'error', message: 'something broke inside', ...place })
  assert.match(String(error), /TypeError/)
})

test('a line holds no character that a terminal would obey or hide, and the same values', () => {
  const odd = 'x\u001b[2J\u007f\u0085\u009b31m\u202e\u200b\u2028\u{e0041}\ud800'
  const written: string[] = []
  const log = createLog('debug', (line) => written.push(line))
  log('warn', odd, { [odd]: odd, deep: [{ odd }], error: new Error(odd) })
  log('warn', 'text', { error: odd })
  for (const line of written) {
    assert.doesNotMatch(line.slice(0, -1), /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
    assert.ok(line.endsWith('\n'))
  }
  const [first, second] = written.map((line) => JSON.parse(line) as Line)
  assert.deepEqual([first?.message, first?.[odd], first?.deep, second?.error], [odd, odd, [{ odd }], odd])
})

test('an embedding model that cannot be reached is one line without a stack, and a search says so', async () => {
  const written: string[] = []
  const config = await loadConfig({ cwd: '/', env: { WITAN_STORE_URL: 'memory:' } })
  const runtime = await openRuntime(
    {
      ...config,
      connections: { away: { baseUrl: 'http://127.0.0.1:9/v1' } },
      knowledge: [{ id: 'placed', embedding: 'away/embed' }],
      retry: { tries: 1 },
    } as never,
    createLog('error', (line) => written.push(line)),
  )
  const { notices, passages } = await runtime.knowledge.search('placed', { query: 'anything' })
  await runtime.close()
  assert.deepEqual([notices.map(({ code, base }) => [code, base]), passages], [[['EMBEDDING_FAILED', 'placed']], []])
  const [{ at: _, ...line } = {}, ...others] = written.map((text) => JSON.parse(text) as Line)
  assert.deepEqual(others, [])
  assert.equal(line['level'], 'error')
  assert.match(String(line['message']), /could not be reached/)
  assert.ok(!written.join('').includes('.ts:'), 'no stack')
})
