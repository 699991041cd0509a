/** What a configuration says about other servers. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseConfig } from './config-schema.ts'
import { domainsOfConfig, federationOf, noFederation } from './federation-config.ts'
import { checkHost, checkOrigin } from './host.ts'

describe('our names', () => {
  test('[M01] [E70] are kept in canonical form, the first domain before the others', () => {
    const { server, federation } = parseConfig({
      server: {
        publicUrl: 'https://Bots.example.com/',
        domain: 'Bücher.Example',
        domains: { 'ACME.example': 'acme', 'more.example': 'default' },
      },
      federation: { defaultAgent: 'docs', resolve: { 'b.test': 'http://127.0.0.1:4802' } },
    })
    assert.equal(server.publicUrl, 'https://bots.example.com')
    const domains = { 'xn--bcher-kva.example': 'default', 'acme.example': 'acme', 'more.example': 'default' }
    assert.deepEqual(domainsOfConfig(server), domains)
    const of = federationOf({ server, federation }, () => server.publicUrl ?? '')
    assert.deepEqual([of.domain, of.domains, of.publicUrl()], [server.domain, Object.keys(domains), server.publicUrl])
    assert.deepEqual([of.maxHops, of.maxOpenTasks, of.defaultAgent], [4, 64, 'docs'])
    assert.deepEqual([noFederation.domain, noFederation.domains], [null, []])
  })

  test('[E70] so are the domains that share a budget', () => {
    const { federation } = parseConfig({ federation: { budgets: ['B.test', 'bücher.example'] } })
    assert.deepEqual(federation.budgets, ['b.test', 'xn--bcher-kva.example'])
    assert.deepEqual(parseConfig({}).federation.budgets, [])
  })

  test('[E69] an issuer that makes evidence anew is a function of a configuration in code, and is handed on as it is', () => {
    const reissue = async () => null
    const { federation } = parseConfig({ federation: { issuers: [{ issuer: 'https://IDs.test/', reissue }] } })
    assert.deepEqual(federation.issuers, [{ issuer: 'https://ids.test', reissue }])
  })

  test('that are none are refused with their place', () => {
    for (const [config, path] of [
      [{ server: { publicUrl: 'bots.example.com' } }, 'server.publicUrl'],
      [{ server: { publicUrl: 'https://bots.example.com/path' } }, 'server.publicUrl'],
      [{ server: { publicUrl: 'https://me:secret@bots.example.com' } }, 'server.publicUrl'],
      [{ server: { publicUrl: 'ftp://bots.example.com' } }, 'server.publicUrl'],
      [{ server: { domain: 'localhost' } }, 'server.domain'],
      [{ server: { domain: '127.0.0.1' } }, 'server.domain'],
      [{ server: { domain: 'bots.example.com:443' } }, 'server.domain'],
      [{ server: { domains: { 'acme.example': 'acme' } } }, 'server.domains.acme.example'],
      [{ server: { domain: 'a.example', domains: { 'A.example': 'acme' } } }, 'server.domains.A.example'],
      [{ server: { domain: 'a.example', domains: { 'b.example': 'No' } } }, 'server.domains.b.example'],
      [{ federation: { maxHops: 0 } }, 'federation.maxHops'],
      [{ federation: { maxHops: 65 } }, 'federation.maxHops'],
      [{ federation: { maxOpenTasks: 10_001 } }, 'federation.maxOpenTasks'],
      [{ federation: { defaultAgent: '@docs@a.example' } }, 'federation.defaultAgent'],
      [{ federation: { defaultAgent: 'v1' } }, 'federation.defaultAgent'],
      [{ federation: { resolve: { 'b.test': 'b' } } }, 'federation.resolve.b.test'],
      [{ federation: { resolve: { 'http://b.test': 'http://127.0.0.1' } } }, 'federation.resolve.http://b.test'],
      [{ federation: { issuers: [{ issuer: 'https://ids.test', reissue: 'x' }] } }, 'federation.issuers.0.reissue'],
      [
        { federation: { issuers: [{ issuer: 'http://ids.test', reissue: () => null }] } },
        'federation.issuers.0.issuer',
      ],
      [{ federation: { budgets: 'b.test' } }, 'federation.budgets'],
      [{ federation: { budgets: ['b.test', 'b'] } }, 'federation.budgets.1'],
      [{ federation: { budgets: ['https://b.test'] } }, 'federation.budgets.0'],
      [{ federation: { budgets: ['127.0.0.1'] } }, 'federation.budgets.0'],
      [{ federation: { bearerEnv: 'TOKEN' } }, 'federation.bearerEnv'],
      [{ federation: { bearerEnv: ['TOKEN'] } }, 'federation.bearerEnv'],
      [{ federation: { bearerEnv: { TOKEN: 'https://b.test' } } }, 'federation.bearerEnv'],
      [{ federation: { bearerEnv: { TOKEN: ['https://b.test/path'] } } }, 'federation.bearerEnv'],
      [{ federation: { bearerEnv: { TOKEN: ['https://me:secret@b.test'] } } }, 'federation.bearerEnv'],
      [{ federation: { bearerEnv: { 'NO NAME': ['https://b.test'] } } }, 'federation.bearerEnv'],
    ] as const)
      assert.throws(
        () => parseConfig(config),
        (error: Error & { code?: string; path?: string }) => {
          assert.deepEqual([error.code, error.path], ['CONFIG_INVALID', path])
          assert.ok(!error.message.includes('secret'))
          return true
        },
        JSON.stringify(config),
      )
  })

  test('[Mb10] trusted issuers and their subjects are kept in canonical form', () => {
    const trust = [
      { issuer: 'https://IDs.Example/', methods: ['*'], subjects: ['@*@Bücher.Example', '@Anna@B.test'] },
      { issuer: 'https://ids.example:8443/realm/', methods: ['urn:x'], subjects: ['mailto:U@example.com'] },
      { issuer: 'did:web:IDs.example%3a8443:users', methods: ['urn:x'], subjects: ['did:key:z6Mk'] },
    ]
    const { federation } = parseConfig({ federation: { trust } })
    assert.deepEqual(federation.trust, [
      { issuer: 'https://ids.example', methods: ['*'], subjects: ['@*@xn--bcher-kva.example', '@anna@b.test'] },
      { issuer: 'https://ids.example:8443/realm', methods: ['urn:x'], subjects: ['mailto:U@example.com'] },
      { issuer: 'did:web:ids.example%3A8443:users', methods: ['urn:x'], subjects: ['did:key:z6Mk'] },
    ])
    assert.deepEqual(parseConfig({}).federation.trust, [])
  })

  test('[Mb10] a trusted issuer or subject that is none is refused with its place', () => {
    const entry = { issuer: 'https://b.test', methods: ['*'], subjects: ['@*@b.test'] }
    const issuers = [
      'b.test',
      'http://b.test',
      'https://me:secret@b.test',
      'https://b.test/?x',
      'did:key:z6Mk',
      'did:web:',
    ]
    const subjects = [
      '*',
      '@*',
      '@*@',
      '@*@localhost',
      '@a@b@c.test',
      'anna',
      'anna@b.test',
      '',
      'Mailto:a@b.test',
      'x: y',
    ]
    const rows: readonly (readonly [object, string])[] = [
      ...issuers.map((issuer) => [{ ...entry, issuer }, 'issuer'] as const),
      ...subjects.map((subject) => [{ ...entry, subjects: ['@a@b.test', subject] }, 'subjects.1'] as const),
      [{ ...entry, methods: [] }, 'methods'],
      [{ ...entry, methods: [''] }, 'methods.0'],
      [{ ...entry, subjects: [] }, 'subjects'],
      [{ issuer: 'https://b.test', methods: ['*'] }, 'subjects'],
    ]
    for (const [wrong, path] of rows)
      assert.throws(
        () => parseConfig({ federation: { trust: [entry, wrong] } }),
        (error: Error & { code?: string; path?: string }) => {
          assert.deepEqual([error.code, error.path], ['CONFIG_INVALID', `federation.trust.1.${path}`])
          assert.ok(!error.message.includes('secret'))
          return true
        },
        JSON.stringify(wrong),
      )
    const unknown = { federation: { trust: [{ ...entry, subject: '@a@b.test' }] } }
    assert.throws(() => parseConfig(unknown), { code: 'UNKNOWN_KEY', path: 'federation.trust.0.subject' })
  })

  test('[D18] a domain is an allowed Host, but its pages are not ours', () => {
    const policy = { port: () => 4747, allowed: ['bots.example.com'], domains: ['example.com'] }
    for (const host of ['example.com', 'EXAMPLE.com:443', 'bots.example.com', '127.0.0.1:4747'])
      assert.doesNotThrow(() => checkHost(host, policy), host)
    for (const host of ['x.example.com', 'example.com.', 'evil.test'])
      assert.throws(() => checkHost(host, policy), { code: 'HOST_NOT_ALLOWED' }, host)
    const from = (origin: string) => new Request('http://127.0.0.1:4747/api/v1/agents', { headers: { origin } })
    assert.equal(checkOrigin(from('https://bots.example.com'), policy), 'own')
    assert.throws(() => checkOrigin(from('https://example.com'), policy), { code: 'HOST_NOT_ALLOWED' })
  })
})
