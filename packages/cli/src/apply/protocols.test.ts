/** Protocols from files and on the command line: shown before they change, saved with agents, listed and deleted. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { sitting } from '../testing/person.ts'
import { deskConfig, witan } from '../testing/witan.ts'

const both = `protocols:
  - name: stock-request
    purpose: What is there.
    messages:
      - name: ask
        from: initiator
agents:
  - id: helper
    model: scripted/desk
    instructions: Help.
`

let server: WitanServer
let folder: string
let at: string[]
describe('protocols in files', () => {
  before(async () => {
    server = await startServer(await loadConfig({ file: deskConfig, env: { WITAN_LOG_LEVEL: 'error' } }))
    folder = await mkdtemp(join(tmpdir(), 'witan-protocols-'))
    at = ['--url', server.url]
  })
  after(async () => {
    await server.close()
    await rm(folder, { recursive: true })
  })
  const run = (words: readonly string[]) => witan([...words, ...at], { folder })
  const file = async (name: string, text: string) => {
    await writeFile(join(folder, name), text)
    return ['-f', name]
  }

  test('they are listed, applied beside agents, changed field by field, shown and deleted', async () => {
    assert.match((await run(['protocols', 'list'])).err, /There are no protocols yet\. witan protocols apply/)
    const first = await run(['agents', 'apply', ...(await file('both.yaml', both))])
    assert.equal(first.code, 0, first.err)
    assert.match(first.out, /\+ stock-request {2}protocol, new\n {4}purpose {2}"What is there\."/)
    assert.match(first.out, /! both\.yaml:2 {2}protocols\.stock-request {2}PROTOCOL_UNSPOKEN/)
    assert.match(
      first.out,
      /\+ helper {2}new[\s\S]*\n2 new, 0 changed, 0 unchanged\nsaved protocol stock-request\nsaved helper/,
    )
    assert.match((await run(['protocols', 'list'])).out, /stock-request {2}ask +1 +data/)
    const again = await run(['protocols', 'apply', ...(await file('both.yaml', both))])
    assert.match(again.out, /= stock-request {2}protocol, unchanged\n= helper {2}unchanged/)
    const changed = both.replace('What is there.', 'What is left.')
    const words = ['protocols', 'apply', '-f', join(folder, 'changed.yaml'), ...at]
    await file('changed.yaml', changed)
    const { screen } = await sitting(words, ['yes'])
    assert.match(screen, /~ stock-request {2}protocol, 1 change/)
    assert.match(screen, /Change these protocols\? yes or no/)
    assert.match((await run(['protocols', 'show', 'stock-request'])).out, /"revision": 2/)
    assert.equal((await run(['protocols', 'delete', 'stock-request'])).out, 'deleted stock-request\n')
    await run(['agents', 'delete', 'helper'])
  })

  test('a mistake is told with its line, and nothing changes', async () => {
    const wrong = both.replace('from: initiator', 'form: initiator').replace('model: scripted/desk', 'model: no/such')
    const { code, err } = await run(['agents', 'apply', ...(await file('wrong.yaml', wrong)), '--yes'])
    assert.equal(code, 2)
    assert.match(
      err,
      /wrong\.yaml:5 {2}stock-request messages\.0\.from {2}PROTOCOL_INVALID[\s\S]*→ A message has `name`/,
    )
    assert.match(err, /wrong\.yaml:6 {2}stock-request messages\.0\.form {2}UNKNOWN_KEY[\s\S]*Did you mean `from`\?/)
    assert.match(err, /wrong\.yaml:9 {2}helper model {2}MODEL_UNKNOWN/)
    const twice = `${both}---\nname: stock-request\nmessages: [{ name: ask, from: responder }]\n`
    assert.match(
      (await run(['protocols', 'apply', ...(await file('twice.yaml', twice)), '--yes'])).err,
      /twice\.yaml:12 {2}stock-request name {2}NAME_TAKEN[\s\S]*already at twice\.yaml:2/,
    )
    assert.match((await run(['protocols', 'list'])).err, /There are no protocols yet/)
    assert.match((await run(['protocols', 'delete', 'none'])).err, /There is no protocol `none`/)
  })

  test('[P23] an export of agents has the protocols that they speak, and changes nothing when it is applied', async () => {
    const speaking = (role: string, peers: string) =>
      `    speaks:\n      - protocol: stock-request\n        role: ${role}\n        peers: [${peers}]\n`
    const other = both.replace('helper', 'asker').replace(/^protocols:[\s\S]*agents:\n/, '')
    const text = `${both}${speaking('responder', 'asker')}${other}${speaking('initiator', 'helper')}`
    const applied = await run(['agents', 'apply', ...(await file('spoken.yaml', text))])
    assert.equal(applied.code, 0, applied.err)
    for (const words of [[], ['asker'], ['--format', 'yaml']]) {
      const { out } = await run(['agents', 'export', ...words])
      assert.match(out, /stock-request[\s\S]*asker/)
      const again = await witan(['agents', 'apply', '-f', '-', ...at], { folder, input: out })
      assert.match(again.out, /= stock-request {2}protocol, unchanged[\s\S]*\n0 new, 0 changed, /)
    }
    assert.doesNotMatch((await run(['agents', 'export', 'clerk'])).out, /protocols/)
    for (const id of ['asker', 'helper']) await run(['agents', 'delete', id, '--force'])
    await run(['protocols', 'delete', 'stock-request'])
  })
})
