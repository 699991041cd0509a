/** Work in the background from the command line: drawn, waited for, told of later, listed, spoken to and stopped. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createConversationFold } from '@witan/client'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { runCommandLine } from './cli.ts'
import { momentOf, tell, type Told } from './testing/events.ts'
import { sitting } from './testing/person.ts'
import { witan } from './testing/witan.ts'
import { drawTree } from './tree/lines.ts'

const file = fileURLToPath(new URL('./testing/background-desk.config.ts', import.meta.url))
const config = ['--config', file]

describe('work in the background', () => {
  test('witan run ends with its run and says what still works; --wait stays and tells of it [F21] [F22]', async () => {
    const { code, out } = await witan(['run', 'desk', 'How many boxes?', ...config])
    assert.equal(code, 0)
    assert.match(out, /│ counter {2}count the boxes\n│ │ ⇢ works in the background\n/)
    assert.match(out, /1 task still works in the background:\n {2}⇢ counter {2}c_\S+\n {2}The store is in memory/)
    const waited = await witan(['run', 'desk', 'How many boxes?', '--wait', ...config])
    assert.doesNotMatch(waited.out, /still works/)
    assert.match(waited.out, /⇢ from the background\n\nThe count is in: 12 boxes\.\n/)
  })

  test('witan run --wait at a terminal draws a task until it has ended, and its end above the follow-up', async () => {
    const { code, screen } = await sitting(['run', 'desk', 'How many boxes?', '--wait', ...config], [])
    assert.equal(code, 0)
    const [tree = '', after = ''] = screen.split('I have it counted.')
    assert.match(tree, /counter {2}in the background {2}count the boxes/)
    assert.match(after, /✓ counter {2}in the background {2}count the boxes .*ms +8 tok(.|\n)*⇢ from the background/)
    assert.ok(screen.lastIndexOf('\u001b[?25h') > screen.lastIndexOf('\u001b[?25l'), 'the cursor is back')
    assert.equal(screen.split('✓ counter').length, 2, 'its end is printed once')
  })

  test('a terminal that reports no width is taken for one of 80 columns', async () => {
    const { screen } = await sitting(['run', 'desk', 'hello', ...config], [], { COLUMNS: '0' })
    assert.match(screen, /› hello\n/)
    assert.match(screen, /✓ desk {2}hello/)
  })

  test('witan chat tells of it when it comes: on a pipe at the end, on a terminal above the open line [F22]', async () => {
    const piped = await witan(['chat', 'desk', ...config], { input: 'How many boxes?\nhello\n' })
    assert.equal(piped.code, 0)
    assert.match(piped.out, /Good day\.[\s\S]*⇢ from the background\n\nThe count is in: 12 boxes\.\n/)
    assert.equal(piped.out.split('from the background').length, 2)

    const input = Object.assign(new PassThrough(), { isTTY: true })
    const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 40 })
    let screen = ''
    let said = 0
    output.on('data', (data: Buffer) => {
      screen += String(data)
      const prompts = screen.split('› ').length - 1
      const told = screen.includes('The count is in')
      const line = said === 0 && prompts > 0 ? 'How many boxes?' : said === 1 && told && prompts > 2 ? '/exit' : null
      if (line === null) return
      said += 1
      setImmediate(() => input.write(`${line}\r`))
    })
    const terminal = { input, output, errors: output, environment: { NO_COLOR: '1' }, folder: '/' }
    assert.equal(await runCommandLine(['chat', 'desk', ...config], terminal), 0)
    assert.ok(screen.includes('\r\u001b[K⇢ from the background\n\nThe count is in: 12 boxes.\n'), screen)
  })

  test('a task is drawn as such and lives on when its run has ended; a follow-up says that it is one', () => {
    const told: Told[] = [
      { type: 'start', kind: 'agent', callId: 'root', content: { message: 'How many?' } },
      {
        type: 'start',
        kind: 'agent',
        callId: 'c_2',
        parentCallId: 'root',
        agentPath: 'front-desk/counter',
        content: { message: 'count' },
      },
      { type: 'task', callId: 'c_2', parentCallId: 'root', content: { taskId: 'c_2', status: 'queued' } },
      { type: 'end', kind: 'agent', callId: 'root', content: { text: '', finishReason: 'cancelled' } },
      { type: 'start', kind: 'agent', callId: 'late', rootCallId: 'late', content: { message: 'told', hidden: true } },
    ]
    const events = tell(...told)
    const { view, take } = createConversationFold()
    for (const event of events) take(event)
    const lines = view.runs.flatMap((runId) => drawTree(view, runId, { columns: 70, now: momentOf(events) }))
    const text = lines.map((line) => line.map((span) => span.text).join(''))
    assert.match(text[0] ?? '', /^⊘ front-desk {2}How many\?/)
    assert.match(text[1] ?? '', /^└─ ⠋ counter {2}in the background {2}count/)
    assert.match(text[2] ?? '', /^⠋ front-desk {2}follow-up {2}told/)
  })
})

describe('witan tasks', () => {
  let server: WitanServer
  let to: string[]
  before(async () => {
    server = await startServer({ ...(await loadConfig({ file, env: { WITAN_LOG_LEVEL: 'error' } })) })
    to = ['--url', server.url]
  })
  after(() => server.close())

  test('lists, shows, speaks to, asks and cancels', async () => {
    assert.match((await witan(['tasks', 'list', ...to])).err, /There are no tasks yet/)
    await witan(['run', 'desk', 'How many boxes?', '--wait', ...to])
    const [line = ''] = (await witan(['tasks', 'list', '--json', ...to])).out.split('\n')
    const { taskId, status } = JSON.parse(line) as { taskId: string; status: string }
    assert.equal(status, 'completed')
    const list = (await witan(['tasks', 'list', ...to])).out
    assert.match(list, /^TASK +STATUS +AGENT +TIME +CONVERSATION\nc_\S+ +completed +counter +/)
    assert.match((await witan(['tasks', 'list', '--live', ...to])).err, /Nothing works in the background/)
    const shown = (await witan(['tasks', 'show', taskId, ...to])).out
    assert.match(shown, /^✓ counter {2}completed {2}[\s\S]*\n12 boxes\n\n1 model call/)
    for (const words of [
      ['message', taskId, 'hello'],
      ['progress', taskId],
      ['cancel', taskId],
    ]) {
      const { code, err } = await witan(['tasks', ...words, ...to])
      assert.equal(code, 1)
      assert.match(err, /^TASK_FINISHED {2}/)
    }
    assert.match((await witan(['tasks', 'show', 'c_none', ...to])).err, /^NOT_FOUND {2}.*c_none/)
  })
})
