/** Which issuers are believed, and about whom. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hostOfIssuer, isTrusted, isTrustedDomain, type TrustedIssuer, urlOfDid } from './trust.ts'

const trust: readonly TrustedIssuer[] = [
  { issuer: 'https://connector.test', methods: ['urn:x:oauth'], subjects: ['mailto:u@example.com', '@*@people.test'] },
  { issuer: 'https://connector.test', methods: ['urn:x:wallet'], subjects: ['did:key:z6Mk'] },
  { issuer: 'did:web:ids.test%3A8443', methods: ['*'], subjects: ['@anna@people.test'] },
]

describe('trust', () => {
  test('[Mb10] is exact in issuer, method and subject', () => {
    const rows: readonly (readonly [issuer: string, method: string, subject: string, believed: boolean])[] = [
      ['https://connector.test', 'urn:x:oauth', 'mailto:u@example.com', true],
      ['https://connector.test', 'urn:x:oauth', '@anna@people.test', true],
      ['https://connector.test', 'urn:x:oauth', '@Anna@People.Test', true],
      ['https://connector.test', 'urn:x:wallet', 'did:key:z6Mk', true],
      ['did:web:ids.test%3A8443', 'anything', '@anna@people.test', true],
      // Methods and subjects of two entries do not mix.
      ['https://connector.test', 'urn:x:wallet', 'mailto:u@example.com', false],
      ['https://connector.test', 'urn:x:oauth', 'did:key:z6Mk', false],
      ['https://connector.test', '*', 'mailto:u@example.com', false],
      ['https://connector.test', 'urn:x:oauth', 'mailto:U@example.com', false],
      ['https://connector.test', 'urn:x:oauth', '@*@people.test', false],
      ['https://connector.test', 'urn:x:oauth', '@anna@sub.people.test', false],
      ['https://connector.test', 'urn:x:oauth', '@anna@evil.test@people.test', false],
      ['https://connector.test', 'urn:x:oauth', 'anna@people.test', false],
      // An issuer with entries has lost the trust that every server has.
      ['https://connector.test', 'urn:x:oauth', '@a@connector.test', false],
      ['https://connector.test/', 'urn:x:oauth', 'mailto:u@example.com', false],
      ['http://connector.test', 'urn:x:oauth', 'mailto:u@example.com', false],
      ['https://CONNECTOR.test', 'urn:x:oauth', 'mailto:u@example.com', false],
      ['did:web:ids.test%3A8443', 'anything', '@bert@people.test', false],
    ]
    for (const [issuer, method, subject, believed] of rows)
      assert.equal(isTrusted(trust, { issuer, method, subject }), believed, `${issuer} ${method} ${subject}`)
  })

  test('[Mb10] an issuer without an entry is believed about its own addresses alone', () => {
    const rows: readonly (readonly [issuer: string, subject: string, believed: boolean])[] = [
      ['https://b.test', '@anna@b.test', true],
      ['https://b.test', '@anna@a.test', false],
      ['https://b.test', '@anna@sub.b.test', false],
      ['https://sub.b.test', '@anna@b.test', false],
      ['https://b.test', 'mailto:anna@b.test', false],
      ['https://b.test', 'b.test', false],
      ['https://b.test', '@', false],
      ['https://b.test', '', false],
      ['https://', '@', false],
      ['https://b.test:8443', '@anna@b.test', false],
      ['https://b.test/', '@anna@b.test', false],
      ['https://b.test/x', '@anna@b.test', false],
      ['http://b.test', '@anna@b.test', false],
      ['did:web:b.test', '@anna@b.test', false],
    ]
    for (const [issuer, subject, believed] of rows)
      for (const list of [trust, []])
        assert.equal(isTrusted(list, { issuer, method: 'any', subject }), believed, `${issuer} ${subject}`)
  })

  test('a domain is trusted if an issuer of the list is its server', () => {
    for (const domain of ['connector.test', 'ids.test']) assert.ok(isTrustedDomain(trust, domain), domain)
    for (const domain of ['people.test', 'b.test', 'sub.connector.test', '']) assert.ok(!isTrustedDomain(trust, domain))
  })

  test('a did:web stands for a URL', () => {
    for (const [did, url] of [
      ['did:web:b.test', 'https://b.test'],
      ['did:web:b.test%3A8443', 'https://b.test:8443'],
      ['did:web:b.test:users:anna', 'https://b.test/users/anna'],
      ['did:web:', null],
      ['did:web:b.test%2Fx', null],
      ['did:web:b.test:..%2F', null],
      ['did:web:user@b.test', null],
      ['did:key:z6Mk', null],
    ] as const)
      assert.equal(urlOfDid(did), url, did)
    assert.equal(hostOfIssuer('did:web:b.test%3A8443'), 'b.test')
    assert.equal(hostOfIssuer('https://b.test:8443/x'), 'b.test')
    assert.equal(hostOfIssuer('b.test'), null)
  })
})
