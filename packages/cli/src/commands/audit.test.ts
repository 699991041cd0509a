/** `witan audit`: who changed what, as a table and as JSON; names and principals are shown and not obeyed. */
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { AuditEntry } from '@witan/protocol/keys'
import { witan } from '../testing/witan.ts'

const plain: AuditEntry = {
  ...{ id: 'a1', at: '2026-11-27T09:30:00.000Z', by: 'user:anna', via: 'key' },
  ...{ kind: 'agent', name: 'clerk', action: 'change', before: 1, after: 2 },
}
const made: AuditEntry = { ...plain, id: 'a2', action: 'create', before: null, after: 1 }
const revoked: AuditEntry = { ...plain, id: 'a3', kind: 'key', name: 'k1', action: 'revoke', before: null, after: null }

/** What a terminal would obey, hide or turn round, and how it is shown. */
const hostile: Readonly<Record<string, readonly [text: string, shown: string]>> = {
  'a colour': ['\u001b[31mred', '\\u001b[31mred'],
  'a title': ['\u001b]0;title\u0007', '\\u001b]0;title\\u0007'],
  'a C1 control': ['\u009b2J', '\\u009b2J'],
  'a backspace': ['anna\b\b\b\beve', 'anna\\u0008\\u0008\\u0008\\u0008eve'],
  'a null': ['a\0b', 'a\\u0000b'],
  'a second line': ['anna\n2026-01-01 00:00:00Z  user:eve', 'anna 2026-01-01 00:00:00Z user:eve'],
  'a return': ['anna\rroot', 'anna root'],
  'a line separator': ['a\u2028b', 'a\\u2028b'],
  'a turn of the direction': ['\u202eexe.txt', '\\u202eexe.txt'],
  'an isolate': ['\u2066a\u2069', '\\u2066a\\u2069'],
  'a space of no width': ['an\u200bna', 'an\\u200bna'],
  'a tag': ['a\u{e0041}', 'a\\u{e0041}'],
}

describe('the audit on the command line', () => {
  let server: Server
  let items: readonly AuditEntry[]
  let asked: (string | undefined)[]
  before(async () => {
    server = createServer((request, response) => {
      asked.push(request.url)
      const { searchParams } = new URL(request.url ?? '', 'http://localhost')
      const from = Number(searchParams.get('cursor') ?? 0)
      const to = from + 2
      const body = { items: items.slice(from, to), nextCursor: to < items.length ? `${to}` : null }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  after(() => server.close())
  beforeEach(() => {
    items = [revoked, plain, made]
    asked = []
  })
  const shown = (words: readonly string[] = [], columns?: number) => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return witan(['audit', ...words, '--url', url], columns === undefined ? {} : { columns })
  }

  test('a table on a pipe, without colours, of all pages', async () => {
    const { code, out, err } = await shown()
    assert.deepEqual([code, err], [0, ''])
    assert.deepEqual(out.split('\n'), [
      'WHEN                  WHO        VIA  DID     KIND   NAME   REVISION',
      '2026-11-27 09:30:00Z  user:anna  key  revoke  key    k1',
      '2026-11-27 09:30:00Z  user:anna  key  change  agent  clerk  1 → 2',
      '2026-11-27 09:30:00Z  user:anna  key  create  agent  clerk  none → 1',
      '',
    ])
    assert.ok((await shown([], 100)).out.includes('\u001b['), 'colours at a terminal')
    const cut = await shown(['--limit', '2'])
    assert.deepEqual([cut.out.split('\n').length, /--limit 2 ends the list here/.test(cut.err)], [4, true])
  })

  test('the filters are sent, and another kind is refused in words', async () => {
    await shown(['--kind', 'key', '--name', 'k1', '--by', 'user:anna'])
    const { searchParams } = new URL(asked[0] ?? '', 'http://localhost')
    const { limit: _, ...sent } = Object.fromEntries(searchParams)
    assert.deepEqual(sent, { kind: 'key', name: 'k1', by: 'user:anna' })
    const wrong = await shown(['--kind', 'planet'])
    assert.deepEqual([wrong.code, wrong.out], [2, ''])
    assert.match(wrong.err, /"planet".*agent, protocol, knowledge, key, database/s)
  })

  test('without an entry a line on standard error says so', async () => {
    items = []
    const { code, out, err } = await shown()
    assert.deepEqual([code, out, /Nothing was changed/.test(err)], [0, '', true])
    assert.deepEqual(await shown(['--json']), { code: 0, out: '', err: '' })
  })

  test('with --json one entry a line, as the server has it', async () => {
    const { out } = await shown(['--json'])
    assert.deepEqual(
      out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
      items,
    )
  })

  for (const [what, [text, escaped]] of Object.entries(hostile))
    for (const field of ['by', 'name'] as const)
      test(`${what} in \`${field}\` is shown and not obeyed`, async () => {
        items = [{ ...plain, [field]: text }]
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal would obey.
        const obeyed = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2060-\u2069\u200b-\u200f]|\udb40/
        const table = await shown()
        assert.doesNotMatch(table.out, obeyed)
        assert.equal(table.out.split('\n').length, 3, 'a line of titles, and one for the entry')
        assert.ok(table.out.includes(escaped), table.out)
        const json = await shown(['--json'])
        assert.doesNotMatch(json.out, obeyed)
        assert.deepEqual(JSON.parse(json.out), items[0])
      })
})
