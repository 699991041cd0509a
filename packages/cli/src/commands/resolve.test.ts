/** `witan resolve` against a real server, and `witan signing` on its store. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { loadConfig, startServer } from '@witan/server'
import { witan } from '../testing/witan.ts'

describe('an agent on another server', () => {
  let folder = ''
  let url = ''
  let close = async (): Promise<unknown> => undefined
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'witan-resolve-'))
    const agents = [
      { id: 'first', workflow: { kind: 'sequence', agents: ['second'] }, address: 'docs', name: 'Docs' },
      { id: 'second', workflow: { kind: 'sequence', agents: ['third'] } },
      { id: 'third', workflow: { kind: 'sequence', agents: ['second'] } },
    ]
    const remote = join(folder, 'remote.json')
    const server = { port: 0, publicUrl: 'https://bots.b.test', domain: 'b.test' }
    const store = { url: `file:${join(folder, 'remote.db')}` }
    writeFileSync(remote, JSON.stringify({ server, store, auth: { mode: 'none' }, agents }))
    const started = await startServer({ ...(await loadConfig({ file: remote, env: {} })), logLevel: 'silent' })
    url = started.url
    close = () => started.close()
    const resolve = { 'b.test': url, 'bots.b.test': url }
    writeFileSync(join(folder, 'witan.config.json'), JSON.stringify({ federation: { resolve } }))
  })
  after(async () => {
    await close()
    rmSync(folder, { recursive: true })
  })

  test('[Mb14] --trust keeps the key that signs the card now, in the store', async () => {
    const { federation } = JSON.parse(readFileSync(join(folder, 'witan.config.json'), 'utf8'))
    const file = join(folder, 'own.json')
    writeFileSync(file, JSON.stringify({ federation, store: { url: `file:${join(folder, 'own.db')}` } }))
    const { code, out, err } = await witan(['resolve', 'docs@b.test', '--trust', '--config', file], { folder })
    assert.deepEqual([code, err], [0, ''])
    assert.match(out, /✓ kept key +[\w-]{43}\n$/)
    const told = JSON.parse(
      (await witan(['resolve', 'docs@b.test', '--trust', '--json', '--config', file], { folder })).out,
    )
    assert.equal(told.trusted, told.signedBy[0])
    const audit = await witan(['audit', '--kind', 'remote-key', '--json', '--config', file], { folder })
    assert.deepEqual(
      audit.out
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
        .map(({ id: _, at: __, ...rest }) => rest),
      ['change', 'create'].map((action) => ({
        ...{ by: 'user:local', via: 'local', kind: 'remote-key', name: '@docs@b.test', action },
        ...{ before: null, after: null },
      })),
    )
    const refused = await witan(['resolve', 'docs@b.test', '--trust', '--db', 'No Name', '--config', file], { folder })
    assert.deepEqual([refused.code, refused.out], [2, ''])
    const memory = await witan(['resolve', 'docs@b.test', '--trust'], {
      folder,
      environment: { WITAN_STORE_URL: 'memory:' },
    })
    assert.match(memory.err, /The store is in memory/)
  })

  test('[Mb02] [Mb14] is found by its address, and each step is printed', async () => {
    const { code, out, err } = await witan(['resolve', '@Docs@b.test'], { folder })
    const lines = out
      .replace(/signed by [\w-]{43}/, 'signed by KEY')
      .trimEnd()
      .split('\n')
    assert.deepEqual([code, err], [0, ''])
    assert.deepEqual(lines, [
      '✓ WebFinger         https://b.test/.well-known/webfinger?resource=acct:docs@b.test',
      '                    → https://bots.b.test/.well-known/agent-card/docs',
      '✓ Mentionable card  https://bots.b.test/.well-known/agent-card/docs',
      '                    → https://bots.b.test/a2a/docs',
      '✓ A2A card          https://bots.b.test/a2a/docs/.well-known/agent-card.json',
      '                    → Docs',
      '✓ interface         https://bots.b.test/a2a/docs',
      '                    → JSONRPC of protocol version 1.0',
      '✓ signature         https://b.test/.well-known/jwks.json',
      '                    → signed by KEY',
    ])
    const told = JSON.parse((await witan(['resolve', 'docs@b.test', '--json'], { folder })).out)
    assert.deepEqual(
      [told.ok, told.address, told.endpoint.binding, told.signedBy.length, told.steps.length],
      [true, '@docs@b.test', 'JSONRPC', 1, 5],
    )
  })

  test('[Mb14] is found by the URL of its card, whose key is kept under that URL', async () => {
    const card = 'https://bots.b.test/a2a/docs/.well-known/agent-card.json'
    const { federation } = JSON.parse(readFileSync(join(folder, 'witan.config.json'), 'utf8'))
    const file = join(folder, 'by-card.json')
    writeFileSync(file, JSON.stringify({ federation, store: { url: `file:${join(folder, 'by-card.db')}` } }))
    const { code, out } = await witan(['resolve', card, '--trust', '--config', file], { folder })
    assert.equal(code, 0, out)
    assert.match(out, /^✓ A2A card +https:.*\n +→ Docs\n✓ interface .*\n.*\n✓ signature .*\n.*\n✓ kept key/)
    const told = JSON.parse((await witan(['resolve', card, '--json'], { folder })).out)
    assert.deepEqual([told.ok, told.address, told.name, told.steps.length], [true, card, 'Docs', 3])
    const gone = await witan(['resolve', 'https://bots.b.test/nothing.json'], { folder })
    assert.match(gone.out, /^✗ A2A card +REMOTE_CARD_INVALID: /)
  })

  test('[Mb02] that is not there ends with 1, after the steps that were done', async () => {
    for (const [address, code, step] of [
      ['@nobody@b.test', 'REMOTE_CARD_INVALID', 'webfinger'],
      ['@docs@localhost.localdomain', 'REMOTE_UNREACHABLE|URL_NOT_PUBLIC', 'webfinger'],
    ] as const) {
      const ended = await witan(['resolve', address], { folder })
      assert.equal(ended.code, 1)
      assert.match(ended.out, new RegExp(`✗ WebFinger +(${code}): `))
      const told = JSON.parse((await witan(['resolve', address, '--json'], { folder })).out)
      assert.deepEqual([told.ok, told.failed, told.steps], [false, step, []])
    }
    const wrong = await witan(['resolve', '@docs@localhost'], { folder })
    assert.deepEqual([wrong.code, /two labels/.test(wrong.err)], [2, true])
    const long = await witan(['resolve', `https://b.test/${'ä'.repeat(1_000)}`], { folder })
    assert.deepEqual([long.code, /at most 2000 bytes/.test(long.err)], [2, true], long.err)
  })

  test('the keys of a server are listed and rotated once it has stopped, and their private parts never shown', async () => {
    const config = ['--config', join(folder, 'remote.json')]
    const locked = await witan(['signing', 'rotate', ...config])
    assert.deepEqual([locked.code, /STORE_LOCKED/.test(locked.err)], [78, true])
    await close()
    const listed = await witan(['signing', 'list', ...config])
    assert.equal(listed.code, 0)
    assert.match(listed.out, /^KEY +MADE +SIGNS +PUBLISHED\n[\w-]{43} .* yes +yes\n$/)
    const rotated = await witan(['signing', 'rotate', '--json', ...config])
    const keys = rotated.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual([keys.length, keys[0].publishedUntil, typeof keys[1].publishedUntil], [2, null, 'string'])
    assert.ok(listed.out.includes(keys[1].kid))
    assert.deepEqual(Object.keys(keys[0].publicJwk), ['kty', 'crv', 'x', 'kid', 'alg', 'use'])
    for (const { out, err } of [listed, rotated]) assert.ok(!/MC4C|PRIVATE|"d"/.test(out + err))
    const none = join(folder, 'none.json')
    writeFileSync(none, JSON.stringify({ store: { url: `file:${join(folder, 'none.db')}` } }))
    assert.equal((await witan(['signing', 'list', '--config', none])).code, 78)
  })
})
