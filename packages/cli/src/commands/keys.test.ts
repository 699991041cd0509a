/** `witan keys`: on a store, and over a server. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer } from '@witan/server'
import { witan } from '../testing/witan.ts'

const form = /^wtn_[0-9A-Za-z]{43}\n$/

describe('keys on the command line', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'witan-keys-'))
  })
  after(() => rm(folder, { recursive: true }))
  const at = (store = 'a.db') => ({ folder, environment: { WITAN_STORE_URL: `file:${join(folder, store)}` } })

  test('on the store: a key is printed once, listed by its database, and revoked there', async () => {
    const words = ['--id', 'user:anna', '--role', 'admin', '--role', 'buyer', '--name', 'Phone', '--expires', '90d']
    const made = await witan(['keys', 'create', '--db', 'shop', ...words], at())
    assert.equal(made.code, 0, made.err)
    assert.match(made.out, form)
    assert.match(made.err, /^\w+ speaks for user:anna in the database shop, with admin, buyer, until 20\d\d-/)
    assert.equal(made.err.includes(made.out.trim()), false)
    const listed = await witan(['keys', 'list', '--db', 'shop'], at())
    assert.match(
      listed.out,
      /KEY +SPEAKS FOR +ROLES +CREATED +LAST USED +ENDS +NAME\n\w+ +user:anna +admin, buyer +now +never +in (89 days|90 days|\d+ \w+) +Phone/,
    )
    assert.equal(listed.out.includes(made.out.trim()), false)
    const { keyId } = JSON.parse((await witan(['keys', 'list', '--db', 'shop', '--json'], at())).out)
    assert.match((await witan(['keys', 'list'], at())).err, /The database default has no keys/)
    const elsewhere = await witan(['keys', 'revoke', keyId], at())
    assert.equal(elsewhere.code, 2)
    assert.match(elsewhere.err, /NOT_FOUND {2}The database default has no key/)
    assert.deepEqual(await witan(['keys', 'revoke', keyId, '--db', 'shop'], at()), {
      code: 0,
      out: `${keyId} is revoked\n`,
      err: '',
    })
    assert.equal((await witan(['keys', 'list', '--db', 'shop'], at())).out, '')
  })

  test('over a server: an admin works on the database of its token, and on no other', async () => {
    const environment = { WITAN_STORE_URL: `file:${join(folder, 'b.db')}`, WITAN_PORT: '0', WITAN_LOG_LEVEL: 'error' }
    const server = await startServer(await loadConfig({ cwd: folder, env: environment }))
    try {
      const to = ['--url', server.url, '--token', server.token ?? '']
      const made = await witan(['keys', 'create', '--role', 'run', ...to])
      assert.match(made.out, form)
      assert.match(made.err, /speaks for key:\w+ in the database default, with run\./)
      // Without `--url` the command finds the server that holds the store.
      assert.match((await witan(['keys', 'list'], at('b.db'))).out, /key:\w+ +run/)
      const wrong = await witan(['keys', 'create', '--db', 'shop', ...to])
      assert.deepEqual([wrong.code, wrong.out], [2, ''])
      assert.match(wrong.err, /lets this token into the database default, not into shop/)
      const stranger = await witan(['keys', 'list', '--url', server.url])
      assert.match(stranger.err, /UNAUTHENTICATED/)
    } finally {
      await server.close()
    }
  })

  test('a key with the role run lists agents, runs one with its parameters, and reads what it started', async () => {
    const agents = [
      {
        id: 'desk',
        model: 'play/x',
        instructions: 'x',
        description: 'Helps.',
        parameters: [{ name: 'age', type: 'number' }],
      },
    ] as const
    const environment = { WITAN_STORE_URL: `file:${join(folder, 'd.db')}`, WITAN_PORT: '0', WITAN_LOG_LEVEL: 'error' }
    const config = await loadConfig({ cwd: folder, env: { ...environment, WITAN_AUTH_MODE: 'keys' } })
    const made = await witan(['keys', 'create', '--id', 'user:ron', '--role', 'run'], { folder, environment })
    const server = await startServer({
      ...config,
      agents: [...agents],
      models: { 'play/x': scriptedModel(() => 'Hello.') },
    })
    const ron = { folder, environment: { ...environment, WITAN_TOKEN: made.out.trim() } }
    try {
      assert.match((await witan(['agents', 'list'], ron)).out, /desk +– +– +– +Helps\./)
      const ran = await witan(['run', 'desk', 'Good morning', '--param', 'age=5', '--json'], ron)
      assert.deepEqual([ran.code, ran.err], [0, ''])
      const drawn = await witan(['run', 'desk', 'Good morning', '--param', 'age=5'], ron)
      assert.match(drawn.out, /Hello\./)
      assert.match((await witan(['conversations', 'list'], ron)).out, /desk/)
      const unknown = await witan(['run', 'dusk', 'Good morning', '--param', 'age=5'], ron)
      assert.match(unknown.err, /Did you mean `desk`/)
      assert.match((await witan(['keys', 'list'], ron)).err, /NOT_FOUND/)
      assert.match((await witan(['agents', 'list'], { folder, environment })).err, /UNAUTHENTICATED.*API key/)
    } finally {
      await server.close()
    }
  })

  test('what makes no sense is refused, and nothing is opened', async () => {
    const wrong: readonly (readonly [string[], RegExp])[] = [
      [['create', '--id', 'anna'], /--id: must be `user:`/],
      [['create', '--role', 'a b'], /--role: must be a word/],
      [['create', '--expires', 'soon'], /--expires "soon" is not a time/],
      [['create', '--expires', '0'], /--expires: /],
      [['create', '--db', 'Shop!'], /cannot be the name of a database/],
      [['revoke'], /needs KEYID/],
    ]
    for (const [words, said] of wrong) {
      const { code, out, err } = await witan(['keys', ...words], at('c.db'))
      assert.deepEqual([code, out], [2, ''], words.join(' '))
      assert.match(err, said)
    }
    const missing = await witan(['keys', 'revoke', 'x'], at('c.db'))
    assert.deepEqual([missing.code, existsSync(join(folder, 'c.db'))], [78, false])
    const memory = await witan(['keys', 'create'], { folder, environment: { WITAN_STORE_URL: 'memory:' } })
    assert.match(memory.err, /nothing to keep a key in/)
  })
})
