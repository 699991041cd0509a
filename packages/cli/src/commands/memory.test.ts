/** `witan memory …`: a block is written, shown, changed and erased, on a store and on a server. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { defineAgent } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { sitting } from '../testing/person.ts'
import { type Around, type Ended, witan } from '../testing/witan.ts'

let folder = ''
const config = {
  connections: { none: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' } },
  agents: ['desk', 'other', 'plain'].map((id) => ({
    ...{ id, model: 'none/none', instructions: 'Help.' },
    ...(id === 'plain' ? {} : { memory: { scopes: ['person', 'agent'] } }),
  })),
}

function begin(): void {
  folder = mkdtempSync(join(tmpdir(), 'witan-memory-'))
  const store = { url: `file:${join(folder, 'witan.db')}` }
  writeFileSync(join(folder, 'witan.config.json'), JSON.stringify({ store, ...config }))
}

const run = (words: string, around: Around = {}): Promise<Ended> =>
  witan(
    words.split(' ').map((word) => word.replaceAll('_', ' ')),
    { folder, ...around },
  )
const said = (out: string): Ended => ({ code: 0, out: `${out}\n`, err: '' })
const set = (words: string) => run(`memory set ${words}`)

for (const kind of ['a store', 'a server'] as const)
  describe(`memory on ${kind}`, () => {
    let server: WitanServer | null = null
    beforeEach(async () => {
      await server?.close()
      server = null
      begin()
      if (kind === 'a server') server = await startServer(await loadConfig({ cwd: folder, env: { WITAN_PORT: '0' } }))
    })
    after(async () => {
      await server?.close()
      rmSync(folder, { recursive: true })
    })

    test('[F39] a block is written, listed, shown with its revisions, and erased', async () => {
      assert.deepEqual(await set('drink Tea. --agent desk'), said('drink of desk has revision 1'))
      assert.deepEqual(await set('drink Tea,_no_sugar. --agent desk'), said('drink of desk has revision 2'))
      const { out } = await run('memory list')
      assert.match(out, /BLOCK +AGENT +ABOUT +KEY +KIND +REVISION +CHANGED +TEXT/)
      assert.match(out, /\nm_\S+ +desk +about user:local +drink +core +2 +now +Tea, no sugar\.\n$/)
      assert.deepEqual(
        await run('memory show drink'),
        said('drink  desk  about user:local  core  revision 2\nTea, no sugar.'),
      )
      const shown = await run('memory show drink --revisions')
      assert.match(shown.out, /^revision 2 {2}\S+Z {2}by user:local\nTea, no sugar\.\nrevision 1 .*\nTea\.\n$/)
      const listed = JSON.parse((await run('memory list --json')).out)
      assert.deepEqual([listed.key, listed.text, listed.revision], ['drink', 'Tea, no sugar.', 2])
      const byId = await witan(['memory', 'show', listed.id, '--revisions', '--json'], { folder })
      assert.deepEqual(
        byId.out
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line).revision),
        [2, 1],
      )
      assert.deepEqual(await run('memory erase drink'), said('erased drink of desk'))
      assert.equal((await run('memory list')).err.startsWith('Nothing is remembered.'), true)
    })

    test('all about somebody is erased with `--yes`, and what is about others or everybody stays', async () => {
      await set('drink Tea. --agent desk')
      await set('drink Coffee. --agent other')
      await set('drink Water. --agent desk --subject user:anna')
      await set('rule Shoes_off. --agent desk --scope agent')
      const refused = await run('memory erase')
      assert.deepEqual([refused.code, refused.out], [2, ''])
      assert.match(refused.err, /cannot be confirmed.*\n.*--yes/)
      assert.deepEqual(await run('memory erase --agent other --yes'), said('erased 1 block about user:local'))
      const { out } = await run('memory erase --yes --json')
      assert.deepEqual(JSON.parse(out), { erased: 1, conversations: [] })
      const left = (await run('memory list --json')).out.trim().split('\n')
      assert.deepEqual(left.map((line) => JSON.parse(line).key).sort(), ['drink', 'rule'])
      assert.match((await run('memory list --subject user:anna')).out, /Water\./)
      assert.match(
        (await run('memory show rule --scope agent')).out,
        /^rule {2}desk {2}for everybody .*\nShoes off\.\n$/,
      )
    })

    test('a key that several agents use, a late revision, and what does not fit', async () => {
      await set('drink Tea. --agent desk')
      await set('drink Coffee. --agent other')
      const table: readonly (readonly [words: string, code: number, message: RegExp])[] = [
        [
          'memory show drink',
          2,
          /Several blocks have the key "drink".*\n.*m_\S+ \(other, person\), m_\S+ \(desk, person\)/,
        ],
        ['memory show nothing', 2, /There is no block "nothing"/],
        ['memory erase nothing', 2, /There is no block "nothing"/],
        ['memory set drink x --agent desk --revision 7', 1, /has revision 1 now/],
        ['memory set new x --agent desk --revision 7', 2, /There is no block "new" with revision 7/],
        ['memory set new x', 2, /belongs to an agent/],
        ['memory set new x --agent plain', 2, /does not fit the scope/],
        ['memory set new x --agent none', 2, /no agent `none`/],
        ['memory set NEW x --agent desk', 2, /key/],
        ['memory list --scope house', 2, /is none of person, conversation, agent/],
        ['memory list --kind none', 2, /is none of core, archival/],
        ['memory erase drink --conversations', 2, /for all that is known/],
        ['memory erase --scope agent --yes', 2, /every scope is erased/],
      ]
      for (const [words, code, message] of table) {
        const ended = await run(words)
        assert.equal(ended.code, code, `${words}: ${ended.err}`)
        assert.match(ended.err, message)
      }
      assert.equal((await run('memory set drink x --agent desk --revision 1')).code, 0)
    })
  })

describe('at a terminal', () => {
  let server: WitanServer
  const model = scriptedModel((_, turn) => (turn === 0 ? call('remember', { key: 'drink', text: 'Tea.' }) : 'Noted.'))
  before(async () => {
    begin()
    const { store } = await loadConfig({ cwd: folder, env: {} })
    const agents = [defineAgent({ id: 'desk', instructions: 'Help.', model, memory: {} } as never)]
    const config = await loadConfig({ cwd: '/', env: { WITAN_PORT: '0', WITAN_LOG_LEVEL: 'silent' } })
    server = await startServer({ ...config, store, agents, auth: { mode: 'local' } } as never)
    const client = createClient({ url: server.url, token: server.token ?? '' })
    await client.conversation('desk', { id: 'chats/1' }).run('I drink tea.')
    client.close()
  })
  after(async () => {
    await server.close()
    rmSync(folder, { recursive: true })
  })

  test('it asks before it erases, and says which conversations quote what is gone', async () => {
    const config = ['--config', join(folder, 'witan.config.json')]
    for (const words of [
      ['memory', 'erase', 'drink'],
      ['memory', 'erase'],
    ]) {
      const kept = await sitting([...words, ...config], ['no'])
      assert.equal(kept.code, 1)
      assert.match(kept.screen, /Erase .*with all revisions\? yes or no › .*Nothing was changed\./s)
    }
    const { code, screen } = await sitting(['memory', 'erase', '--conversations', ...config], ['yes'])
    assert.equal(code, 0)
    assert.match(
      screen,
      /and delete the conversations that quote it\?.*erased 1 block about user:local\r?\ndeleted chats\/1/s,
    )
  })
})
