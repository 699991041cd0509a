/** `witan artifacts list | get`: on a store, on a server, and on a server that lies. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { defineAgent, defineTool } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { z } from 'zod'
import { runCommandLine } from '../cli.ts'
import { askConfig, type Around, witan } from '../testing/witan.ts'

/** Moves the cursor, clears the screen, renames the window, and turns the writing. */
const hostile = 'a\u001b[2J\u001b]0;owned\u0007\u009b31m\r\u202eb\n'
const noText = Uint8Array.from([0, 27, 91, 50, 74, 255, 10])

const save = defineTool({
  name: 'save',
  description: 'Saves files.',
  parameters: z.object({}),
  async execute(_, { artifacts }) {
    const first = await artifacts.save({ name: 'log.txt', mediaType: 'text/plain', text: hostile })
    await artifacts.read(first.id)
    await artifacts.save({ name: '.bashrc', mediaType: 'image/png', bytes: noText })
    return 'saved'
  },
})
const maker = defineAgent({
  id: 'maker',
  instructions: 'Save.',
  tools: [save],
  model: scriptedModel((_, turn) => (turn === 0 ? call('save', {}) : 'Done.'), { id: 'scripted/maker' }),
})

let folder = ''
const makeFolder = () => {
  folder = mkdtempSync(join(tmpdir(), 'witan-artifacts-'))
}
const removeFolder = () => rmSync(folder, { recursive: true })

/** Runs a command and keeps the bytes that it wrote to standard output. */
async function bytesOf(words: readonly string[]): Promise<Buffer> {
  const parts: Uint8Array[] = []
  const code = await runCommandLine(words, {
    input: Readable.from(['']),
    output: { write: (content) => parts.push(Buffer.from(content as unknown as Uint8Array)) },
    errors: { write: () => {} },
    environment: {},
    folder,
  })
  assert.equal(code, 0)
  return Buffer.concat(parts)
}

describe('artifacts on the command line', () => {
  let server: WitanServer
  let ids: string[] = []
  let run = ''
  before(async () => {
    const config = await loadConfig({ file: askConfig, env: { WITAN_LOG_LEVEL: 'error' } })
    server = await startServer({ ...config, agents: [maker] })
    const client = createClient({ url: server.url })
    run = (await client.conversation('maker', { id: 'chats/1' }).run('go')).runId
    ids = (await client.artifacts.list('chats/1')).items.map(({ id }) => id)
    client.close()
  })
  after(() => server.close())
  beforeEach(makeFolder)
  afterEach(removeFolder)
  const artifacts = (words: readonly string[], around: Around = {}) =>
    witan(['artifacts', ...words, '--url', server.url], { folder, ...around })

  test('[T31] [Tb30] the list says what there is, by whom and from what; --run and --agent select', async () => {
    const { out } = await artifacts(['list', 'chats/1'])
    const [text, picture] = ids
    assert.match(out, /^ARTIFACT +NAME +TYPE +SIZE +BY +AGE +FROM\n/)
    assert.match(out, new RegExp(`${text} +log.txt +text/plain +26 bytes +maker +now\\n`))
    assert.match(out, new RegExp(`${picture} +.bashrc +image/png +7 bytes +maker +now +log.txt\\n`))
    const lines = (await artifacts(['list', 'chats/1', '--json', '--run', run, '--agent', 'maker'])).out
      .trim()
      .split('\n')
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).id),
      ids,
    )
    for (const other of [
      ['--run', 'c_none'],
      ['--agent', 'other'],
    ])
      assert.match((await artifacts(['list', 'chats/1', ...other])).err, /There are none/)
  })

  test('[T31] a pipe and a file get the bytes as they are', async () => {
    const [text = '', picture = ''] = ids
    assert.deepEqual(await bytesOf(['artifacts', 'get', picture, '--url', server.url]), Buffer.from(noText))
    assert.equal((await bytesOf(['artifacts', 'get', text, '--url', server.url])).toString(), hostile)
    const { code, err, out } = await artifacts(['get', picture, '--out', 'a.png'])
    assert.deepEqual([code, out, err], [0, '', `wrote ${join(folder, 'a.png')}, 7 bytes\n`])
    assert.deepEqual(readFileSync(join(folder, 'a.png')), Buffer.from(noText))
  })

  test('[T31] a terminal is not moved, coloured or renamed, and gets nothing that is not text', async () => {
    const [text = '', picture = ''] = ids
    const shown = await artifacts(['get', text], { columns: 80, environment: { NO_COLOR: '1' } })
    assert.deepEqual([shown.code, shown.out], [0, 'a\\u001b[2J\\u001b]0;owned\\u0007\\u009b31m\n\\u202eb\n'])
    const { code, out, err } = await artifacts(['get', picture], { columns: 80, environment: { NO_COLOR: '1' } })
    assert.deepEqual([code, out], [2, ''])
    assert.match(err, /is image\/png, 7 bytes(.|\n)*--out FILE/)
  })

  test('[T31] a file that is there is replaced with --force alone, and a link is never followed', async () => {
    const [text = ''] = ids
    writeFileSync(join(folder, 'a.txt'), 'mine')
    symlinkSync(join(folder, 'a.txt'), join(folder, 'link.txt'))
    for (const name of ['a.txt', 'link.txt']) {
      const { code, err } = await artifacts(['get', text, '--out', name])
      assert.equal(code, 2)
      assert.match(err, /already exists(.|\n)*--force/)
    }
    assert.equal(readFileSync(join(folder, 'a.txt'), 'utf8'), 'mine')
    assert.equal((await artifacts(['get', text, '--out', 'link.txt', '--force'])).code, 0)
    assert.equal(readFileSync(join(folder, 'a.txt'), 'utf8'), 'mine')
    assert.equal((await artifacts(['get', text, '--out', 'a.txt', '--force'])).code, 0)
    assert.equal(readFileSync(join(folder, 'a.txt'), 'utf8'), hostile)
    assert.deepEqual(readdirSync(folder).sort(), ['a.txt', 'link.txt'])
    assert.match((await artifacts(['get', text, '--out', 'none/a'])).err, /cannot be written: ENOENT/)
    assert.match((await artifacts(['get', text, '--out', 'x'.repeat(300)])).err, /ENAMETOOLONG(.|\n)*a shorter name/)
    assert.match((await artifacts(['get', text, '--force'])).err, /--force is for a file/)
  })

  test('[T31] into a folder it goes under its own name, which is never that of a hidden file', async () => {
    const [text = '', picture = ''] = ids
    mkdirSync(join(folder, 'to'))
    for (const id of [text, picture]) assert.equal((await artifacts(['get', id, '--out', 'to/'])).code, 0)
    assert.deepEqual(readdirSync(join(folder, 'to')).sort(), ['_bashrc', 'log.txt'])
  })

  test('what is not there is said with the command that lists it', async () => {
    const { code, err } = await artifacts(['get', 'art_00000000000000000000000000'])
    assert.equal(code, 2)
    assert.match(err, /`witan artifacts list CONVERSATION`/)
    assert.doesNotMatch(err, /\/api\/v1/)
  })
})

describe('a server that lies about artifacts', () => {
  let server: Server
  let url = ''
  let name = 'a.txt'
  let content = Buffer.from('true')
  const digest = `sha256:${createHash('sha256').update('true').digest('hex')}`
  before(async () => {
    server = createServer((request, reply) => {
      const artifact = { id: 'art_1', name, mediaType: 'text/plain', bytes: 4, digest, inputs: [] }
      const isContent = request.url?.endsWith('/content') ?? false
      reply.setHeader('content-type', isContent ? 'text/plain' : 'application/json')
      reply.end(isContent ? content : JSON.stringify(artifact))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => server.close())
  beforeEach(makeFolder)
  afterEach(removeFolder)
  const get = () => witan(['artifacts', 'get', 'art_1', '--out', './', '--url', url], { folder: join(folder, 'in') })

  test('[T31] writes nothing outside of the folder, whatever it gives as a name', async () => {
    mkdirSync(join(folder, 'in'))
    content = Buffer.from('true')
    for (const wrong of ['../out.txt', '..', '/etc/x', '..\\out.txt', 'a\u0000b', '\u001b[2Jx', '', 'x'.repeat(300)]) {
      name = wrong
      const { code, err } = await get()
      assert.equal(code, 2, JSON.stringify(wrong))
      assert.match(err, /cannot be the name of a file here/)
      assert.ok(!err.includes('\u001b') && !err.includes('\u0000'))
    }
    assert.deepEqual([readdirSync(folder), readdirSync(join(folder, 'in'))], [['in'], []])
  })

  test('[T31] bytes that are not those of the digest are not written', async () => {
    mkdirSync(join(folder, 'in'))
    name = 'a.txt'
    for (const wrong of ['lies', 'true but longer'.repeat(100_000), '', 'tru']) {
      content = Buffer.from(wrong)
      const { code, err } = await get()
      assert.equal(code, 1)
      assert.match(err, /other bytes than artifact art_1 has/)
      assert.ok(!existsSync(join(folder, 'in', 'a.txt')))
    }
    content = Buffer.from('true')
    assert.equal((await get()).code, 0)
  })
})
