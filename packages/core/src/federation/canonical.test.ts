/** Canonical JSON, base58 and Ed25519 together, by the published test vector of `eddsa-jcs-2022`. */
import assert from 'node:assert/strict'
import { createHash, createPublicKey, verify } from 'node:crypto'
import { test } from 'node:test'
import { base58 } from './base58.ts'
import { canonicalJson } from './canonical.ts'

const context = ['https://www.w3.org/ns/credentials/v2', 'https://www.w3.org/ns/credentials/examples/v2']
const multikey = 'z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2'
const document = {
  ...{ '@context': context, id: 'urn:uuid:58172aac-d8ba-11ed-83dd-0b3aef56cc33' },
  ...{ type: ['VerifiableCredential', 'AlumniCredential'], name: 'Alumni Credential' },
  description: 'A minimum viable example of an Alumni Credential.',
  ...{ issuer: 'https://vc.example/issuers/5678', validFrom: '2023-01-01T00:00:00Z' },
  credentialSubject: { id: 'did:example:abcdefgh', alumniOf: 'The School of Examples' },
}
const options = {
  ...{ type: 'DataIntegrityProof', cryptosuite: 'eddsa-jcs-2022', created: '2023-02-24T23:36:38Z' },
  ...{ verificationMethod: `https://vc.example/issuers/5678#${multikey}`, proofPurpose: 'assertionMethod' },
  '@context': context,
}
const proofValue = 'z63t83Y53KfzJ5ZosfKTnqfMcKB2dmTrfjSaQjeNNjAD5srBowQfmWqeRb8rRjmeEuCBEsddF9LsVogtuTsijJKh4'

test('[Mb10] the signature of the published vector holds, and no longer once a letter of it is another', () => {
  const bytes = base58(multikey.slice(1)) ?? assert.fail()
  assert.deepEqual([...bytes.slice(0, 2)], [0xed, 0x01])
  const x = Buffer.from(bytes.slice(2)).toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  const holds = (of: object) => {
    const digests = [options, of].map((one) => createHash('sha256').update(canonicalJson(one)).digest())
    return verify(null, Buffer.concat(digests), key, base58(proofValue.slice(1)) ?? assert.fail())
  }
  assert.equal(holds(document), true)
  assert.equal(holds({ ...document, name: 'alumni Credential' }), false)
})
