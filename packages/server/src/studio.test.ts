/** What a browser gets from the folder of the Studio, and what nobody gets. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { studioResponse } from './studio.ts'

const types = { js: 'text/javascript; charset=utf-8' }

describe('the studio', () => {
  let root: string
  let folder: URL
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'witan-studio-'))
    await mkdir(join(root, 'app', 'assets'), { recursive: true })
    await writeFile(join(root, 'app', 'index.html'), '<!doctype html>page')
    await writeFile(join(root, 'app', 'favicon.svg'), '<svg/>')
    await writeFile(join(root, 'app', 'assets', 'index-Dk3_x9aB.js'), 'code')
    await writeFile(join(root, 'app', 'assets', 'index-Dk3_x9aB.js.br'), 'brotli')
    await writeFile(join(root, 'app', 'assets', 'index-Dk3_x9aB.js.gz'), 'gzip')
    await writeFile(join(root, 'secret.txt'), 'secret')
    folder = pathToFileURL(join(root, 'app/'))
  })
  after(() => rm(root, { recursive: true, force: true }))

  test('the page, for its own path and every path without a file, under a strict policy', async () => {
    for (const path of ['/', '/index.html', '/conversations/chats:1', '/conversations/chats%2F1.2', '/a/b/c']) {
      const response = await studioResponse(folder, path)
      assert.equal(await response?.text(), '<!doctype html>page', path)
      assert.equal(response?.headers.get('content-type'), 'text/html; charset=utf-8')
      assert.equal(response?.headers.get('cache-control'), 'no-cache')
      assert.equal(response?.headers.get('x-content-type-options'), 'nosniff')
      const policy = response?.headers.get('content-security-policy') ?? ''
      for (const rule of [
        "default-src 'self'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
      ])
        assert.ok(policy.includes(rule))
      assert.doesNotMatch(policy, /script-src 'self' |unsafe-eval|https?:/)
    }
  })

  test('a file; for ever where its name has a hash', async () => {
    const code = await studioResponse(folder, '/assets/index-Dk3_x9aB.js')
    assert.equal(await code?.text(), 'code')
    assert.equal(code?.headers.get('content-type'), 'text/javascript; charset=utf-8')
    assert.match(code?.headers.get('cache-control') ?? '', /immutable/)
    const icon = await studioResponse(folder, '/favicon.svg')
    assert.equal(icon?.headers.get('cache-control'), 'no-cache')
  })

  test('a file in the coding that is asked for, each under an ETag of its own', async () => {
    for (const [accept, body, coding, tag] of [
      ['gzip, deflate, br', 'brotli', 'br', '"Dk3_x9aB-br"'],
      ['gzip', 'gzip', 'gzip', '"Dk3_x9aB-gzip"'],
      ['br;q=0.1, gzip;q=0.2', 'gzip', 'gzip', '"Dk3_x9aB-gzip"'],
      ['identity', 'code', null, '"Dk3_x9aB"'],
      ['', 'code', null, '"Dk3_x9aB"'],
    ] as const) {
      const asked = { 'accept-encoding': accept }
      const code = await studioResponse(folder, '/assets/index-Dk3_x9aB.js', new Headers(asked))
      assert.equal(await code?.text(), body)
      const { headers } = code as Response
      assert.deepEqual([headers.get('content-encoding'), headers.get('etag')], [coding, tag])
      assert.deepEqual([headers.get('vary'), headers.get('content-type')], ['Accept-Encoding', types.js])
      const again = new Headers({ ...asked, 'if-none-match': `W/"other", ${tag}` })
      assert.equal((await studioResponse(folder, '/assets/index-Dk3_x9aB.js', again))?.status, 304)
    }
  })

  test('the page is sent again only where it has changed', async () => {
    const page = await studioResponse(folder, '/agents', new Headers({ 'accept-encoding': 'br' }))
    const tag = page?.headers.get('etag') ?? ''
    assert.match(tag, /^"[\w-]{16}"$/)
    const again = await studioResponse(folder, '/inbox', new Headers({ 'if-none-match': tag }))
    assert.deepEqual([again?.status, await again?.text()], [304, ''])
  })

  test('nothing for a file that is not there, and nothing outside the folder', async () => {
    for (const path of ['/assets/none.js', '/assets/none', '/robots.txt', '/%ff', '/assets/index-Dk3_x9aB.js.br'])
      assert.equal(await studioResponse(folder, path), null, path)
    const outside = [
      '/../secret.txt',
      '/%2e%2e/secret.txt',
      '/..%2fsecret.txt',
      '/assets/../../secret.txt',
      '//etc/passwd',
      '/%5c..%5csecret.txt',
      '/a%00.js',
      `/${root}/secret.txt`,
    ]
    for (const path of outside)
      assert.doesNotMatch((await (await studioResponse(folder, path))?.text()) ?? '', /secret|root:/, path)
  })

  test('without a build, a page that says how to make one', async () => {
    const response = await studioResponse(pathToFileURL(join(root, 'none/')), '/agents')
    assert.equal(response?.status, 200)
    assert.match((await response?.text()) ?? '', /npm run build -w @witan\/studio/)
  })
})
