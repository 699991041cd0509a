/** What a browser gets from the folder of the Studio, and what nobody gets. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { studioResponse } from './studio.ts'

describe('the studio', () => {
  let root: string
  let folder: URL
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'witan-studio-'))
    await mkdir(join(root, 'app', 'assets'), { recursive: true })
    await writeFile(join(root, 'app', 'index.html'), '<!doctype html>page')
    await writeFile(join(root, 'app', 'favicon.svg'), '<svg/>')
    await writeFile(join(root, 'app', 'assets', 'index-Dk3_x9aB.js'), 'code')
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
      for (const rule of ["default-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"])
        assert.ok(policy.includes(rule))
      assert.doesNotMatch(policy, /script-src|unsafe-eval|https?:/)
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

  test('nothing for a file that is not there, and nothing outside the folder', async () => {
    for (const path of ['/assets/none.js', '/assets/none', '/robots.txt', '/%ff'])
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
