/** The way out to other servers: only to public addresses, with limits of size, time and redirects. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { notPublic } from './public-address.ts'
import { createSafeFetch } from './safe-fetch.ts'

describe('an address', () => {
  const kinds = {
    public: ['8.8.8.8', '1.1.1.1', '::ffff:8.8.8.8', '2606:4700::1111', '64:ff9b::8.8.8.8'],
    private: [
      '10.0.0.5',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '::ffff:10.0.0.5',
      '::10.0.0.5',
      '64:ff9b::10.0.0.5',
    ],
    loopback: ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '64:ff9b::127.0.0.1'],
    'link local': ['169.254.169.254', 'fe80::1', '::ffff:169.254.169.254'],
    'carrier grade nat': ['100.64.0.1', '100.127.255.255'],
    'unique local': ['fc00::1', 'fd12::1', 'fd00:ec2::254'],
    unspecified: ['0.0.0.0', '::', '0.1.2.3'],
    multicast: ['224.0.0.1', 'ff02::1'],
    broadcast: ['255.255.255.255'],
    reserved: ['192.0.2.1', '198.18.0.1', '192.88.99.1', '240.0.0.1', '2001:db8::1', '::7f00:1', '1::1'],
    '6to4': ['2002:0a00:0005::1', '2002:7f00:0001::1'],
    rfc6052: ['64:ff9b:1::1', '64:ff9b:1::10.0.0.5'],
    teredo: ['2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    'deprecated site local': ['fec0::1'],
    'local to a network': ['fe80::1%eth0', '2606:4700::1%1'],
    'no address': ['', 'localhost', '999.1.1.1', '1.2.3.4.5'],
  }
  for (const [kind, addresses] of Object.entries(kinds))
    test(`[D21] is ${kind}`, () => {
      for (const address of addresses) assert.equal(notPublic(address), kind === 'public' ? null : kind, address)
    })
})

describe('a request to another server', () => {
  let url = ''
  let answer: RequestListener = (_, reply) => reply.end('{}')
  const seen: { host: string | undefined; url: string | undefined }[] = []
  const server = createServer((request, reply) => {
    seen.push({ host: request.headers.host, url: request.url })
    answer(request, reply)
  })
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const safe = (more: Parameters<typeof createSafeFetch>[0] = {}) =>
    createSafeFetch({ resolve: { 'b.test': url }, ...more })
  const at = (address: string) => async () => [{ address, family: address.includes(':') ? 6 : 4 }]

  test('[D21] goes only to HTTPS and to public addresses, whatever form they are written in', async () => {
    for (const [wrong, said] of [
      ['http://example.com/', /is not HTTPS/],
      ['ftp://example.com/', /is not HTTPS/],
      ['file:///etc/passwd', /is not HTTPS/],
      ['nothing', /is no URL/],
      ['https://me:secret@example.com/', /user or a password/],
      ['https://127.0.0.1/', /leads to 127\.0\.0\.1 \(loopback\)/],
      ['https://127.1/', /loopback/],
      ['https://0x7f000001/', /loopback/],
      ['https://2130706433/', /loopback/],
      ['https://[::1]/', /loopback/],
      ['https://[::ffff:10.0.0.5]/', /private/],
      ['https://[64:ff9b::a00:5]/', /private/],
      ['https://10.0.0.5/', /leads to 10\.0\.0\.5 \(private\)/],
      ['https://169.254.169.254/latest', /link local/],
      ['https://100.64.0.1/', /carrier grade nat/],
      ['https://[fd00:ec2::254]/', /unique local/],
    ] as const)
      await assert.rejects(safe().json(wrong), (error: Error & { code?: string }) => {
        assert.equal(error.code, 'URL_NOT_PUBLIC', wrong)
        assert.match(error.message, said)
        assert.ok(!error.message.includes('secret'))
        return true
      })
    assert.equal(seen.length, 0)
  })

  test('[D21] is checked by the address that its name has, and one private address refuses all', async () => {
    for (const address of ['10.0.0.5', '127.0.0.1', '::1', '::ffff:192.168.0.1', '100.64.0.9', '169.254.169.254'])
      await assert.rejects(safe({ lookup: at(address) }).json('https://inner.example/'), {
        code: 'URL_NOT_PUBLIC',
        message: new RegExp(`resolves to ${address.replaceAll('.', '\\.')} \\(`),
      })
    const mixed = async () => [...(await at('8.8.8.8')()), ...(await at('10.0.0.5')())]
    await assert.rejects(safe({ lookup: mixed }).json('https://inner.example/'), { code: 'URL_NOT_PUBLIC' })
    await assert.rejects(safe().json('https://localhost/'), { code: 'URL_NOT_PUBLIC', message: /loopback/ })
  })

  test('[D21] goes to the address that was checked: a name that changes its answer is asked once', async () => {
    let asked = 0
    const rebinding = async () => {
      asked += 1
      // The first answer would be checked, and a second one would be connected to.
      return asked === 1 ? at('192.0.2.77')() : at('127.0.0.1')()
    }
    await assert.rejects(safe({ lookup: rebinding }).json('https://rebind.example/'), {
      code: 'URL_NOT_PUBLIC',
      message: /192\.0\.2\.77/,
    })
    let later = 0
    const turning = createSafeFetch({
      timeoutMs: 300,
      lookup: async () => {
        later += 1
        return later === 1 ? [{ address: '203.0.114.1', family: 4 }] : [{ address: '127.0.0.1', family: 4 }]
      },
    })
    // A connection that fails may be tried again: then the new answer is checked like the first one.
    await assert.rejects(turning.json(`https://rebind.example:${new URL(url).port}/`), (error: { code?: string }) =>
      later === 1 ? error.code === 'REMOTE_UNREACHABLE' : error.code === 'URL_NOT_PUBLIC',
    )
    assert.equal(seen.length, 0)
  })

  test('[D21] to a host of `federation.resolve` goes to that origin, with its Host, and may be plain and private', async () => {
    answer = (_, reply) => reply.end('{"a":1}')
    const port = new URL(url).port
    for (const [asked, host] of [
      ['https://b.test/x?y=1', 'b.test'],
      ['https://B.test/x?y=1', 'b.test'],
      ['http://b.test/x?y=1', 'b.test'],
      ['https://b.test:8443/x?y=1', 'b.test:8443'],
      [`${url}/x?y=1`, `127.0.0.1:${port}`],
    ] as const) {
      assert.deepEqual((await safe().json(asked)).value, { a: 1 })
      assert.deepEqual(seen.at(-1), { host, url: '/x?y=1' })
    }
    const byPort = createSafeFetch({ resolve: { 'b.test:8443': url }, lookup: at('10.0.0.5') })
    assert.deepEqual((await byPort.json('https://b.test:8443/')).value, { a: 1 })
    await assert.rejects(byPort.json('https://b.test/'), { code: 'URL_NOT_PUBLIC' })
    await assert.rejects(safe().json('http://127.0.0.1:1/'), { code: 'URL_NOT_PUBLIC' })
  })

  test('[Mb02] [D21] follows one redirect, which passes the same checks', async () => {
    const redirects: Record<string, string> = {
      '/one': '/end',
      '/two': '/one',
      '/private': 'https://10.0.0.5/',
      '/plain': 'http://example.com/',
      '/loop': '/loop',
      '/bad': 'https://[',
      '/file': 'file:///etc/passwd',
    }
    answer = ({ url: path = '' }, reply) => {
      const location = redirects[path]
      if (location === undefined) return reply.end('{"end":true}')
      return reply.writeHead(302, { location }).end()
    }
    assert.deepEqual(await safe().json('https://b.test/one'), { url: 'https://b.test/end', value: { end: true } })
    for (const [path, code] of [
      ['/two', 'REMOTE_CARD_INVALID'],
      ['/loop', 'REMOTE_CARD_INVALID'],
      ['/bad', 'REMOTE_CARD_INVALID'],
      ['/private', 'URL_NOT_PUBLIC'],
      ['/plain', 'URL_NOT_PUBLIC'],
      ['/file', 'URL_NOT_PUBLIC'],
    ] as const)
      await assert.rejects(safe().json(`https://b.test${path}`), { code }, path)
  })

  test('[D21] reads at most 64 KiB, plain and as JSON', async () => {
    const exact = JSON.stringify('x'.repeat(65_534))
    answer = (_, reply) => reply.end(exact)
    assert.equal(exact.length, 65_536)
    assert.equal(((await safe().json('https://b.test/')).value as string).length, 65_534)
    for (const listener of [
      (_, reply) => reply.end(`${exact} `),
      (_, reply) => {
        const more = (): void => {
          while (!reply.destroyed && reply.write(' '.repeat(10_000)));
          if (!reply.destroyed) reply.once('drain', more)
        }
        more()
      },
      (_, reply) => reply.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
      (_, reply) => reply.end('<html>'),
      (_, reply) => reply.end(`${'['.repeat(20_000)}${']'.repeat(20_000)}`),
      (_, reply) => reply.writeHead(404).end('{}'),
      (_, reply) => reply.writeHead(500).end('{}'),
      (_, reply) => reply.writeHead(204).end(),
    ] satisfies RequestListener[]) {
      answer = listener
      await assert.rejects(safe().json('https://b.test/'), { code: 'REMOTE_CARD_INVALID' })
    }
  })

  test('[D21] ends after its time, also where bytes drip in or nothing comes', async () => {
    for (const listener of [
      (_, reply) => {
        const drip = setInterval(() => reply.write(' '), 20)
        reply.on('close', () => clearInterval(drip))
      },
      () => undefined,
      (_, reply) => {
        reply.writeHead(200)
        reply.flushHeaders()
      },
    ] satisfies RequestListener[]) {
      answer = listener
      await assert.rejects(safe({ timeoutMs: 150 }).json('https://b.test/'), {
        code: 'REMOTE_UNREACHABLE',
        message: /no answer within 150 ms/,
      })
    }
    const stuck = createSafeFetch({ timeoutMs: 150, lookup: () => new Promise(() => {}) })
    await assert.rejects(stuck.json('https://b.test/'), { code: 'REMOTE_UNREACHABLE' })
  })

  test('is sent again if it cannot have arrived, three times in all', async () => {
    const clock = {
      now: () => 0,
      after(ms: number, run: () => void) {
        if (ms < 5_000) setImmediate(run)
        return () => undefined
      },
    }
    let count = 0
    answer = (_, reply) => {
      count += 1
      return count < 3 ? reply.writeHead(503).end() : reply.end('{"tries":3}')
    }
    assert.deepEqual((await safe({ clock }).json('https://b.test/')).value, { tries: 3 })
    count = -10
    await assert.rejects(safe({ clock }).json('https://b.test/'), { code: 'REMOTE_UNREACHABLE', message: /status 503/ })
    assert.equal(count, -7)
    const nobody = createSafeFetch({ resolve: { 'b.test': 'http://127.0.0.1:1' }, clock })
    await assert.rejects(nobody.json('https://b.test/'), { code: 'REMOTE_UNREACHABLE', message: /ECONNREFUSED/ })
  })

  test('[D21] uses no proxy of the environment', async () => {
    answer = (_, reply) => reply.end('{"direct":true}')
    const file = new URL('./safe-fetch.ts', import.meta.url).href
    const code = `import { createSafeFetch } from ${JSON.stringify(file)}
      console.log(JSON.stringify((await createSafeFetch({ resolve: { 'b.test': '${url}' } }).json('http://b.test/')).value))`
    const proxy = 'http://127.0.0.1:1'
    const env = { ...process.env, NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy, HTTPS_PROXY: proxy, http_proxy: proxy }
    const args = ['--conditions=witan-source', '--input-type=module', '--eval', code]
    const { stdout } = await promisify(execFile)(process.execPath, args, { env })
    assert.equal(stdout.trim(), '{"direct":true}')
  })
})
