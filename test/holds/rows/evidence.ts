/** Evidence and credentials of issuers that are trusted, good and bad: as large, deep and many as a message may bring. */
import { loadConfig, startServer } from '@witan/server'
import { good, jwkOf, type Json, signedCredential, signedEvidence } from '../../support/evidence.ts'
import type { Play, Row } from '../support/row.ts'
import { saying } from '../support/said.ts'

const did = 'did:web:ids.test'
const jwk = jwkOf(good.publicKey, 'k1')
const document = {
  id: did,
  verificationMethod: [{ id: `${did}#k1`, type: 'JsonWebKey', controller: did, publicKeyJwk: jwk }],
  assertionMethod: [`${did}#k1`],
}

/** A server whose one agent is open to everybody, and that reads the keys of two issuers. */
async function serve(play: Play): Promise<string> {
  const keys = await play.outside.serve({
    '/.well-known/jwks.json': { type: 'application/json', head: JSON.stringify({ keys: [jwk] }) },
    '/.well-known/did.json': { type: 'application/json', head: JSON.stringify(document) },
  })
  const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
  const root = { id: 'root', model: 'play/root', instructions: 'You do it.', address: 'root' }
  const server = await startServer({
    ...config,
    auth: { mode: 'none' },
    agents: [{ ...root, access: { call: ['anonymous'] } }],
    models: { 'play/root': saying('play/root', () => ({ text: 'Done.' })) },
    server: { ...config.server, port: 0, domain: 'bots.example' },
    federation: {
      ...config.federation,
      resolve: { 'a.test': keys, 'ids.test': keys },
      trust: [{ issuer: did, methods: ['*'], subjects: ['@a@a.test'] }],
    },
  })
  play.after(() => server.close())
  return server.url
}

const audience = '@root@bots.example'
const iso = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
const evidence = (more: Json) =>
  signedEvidence({
    ...{ subject: '@a@a.test', issuer: 'https://a.test', method: 'urn:x', assurance: 'agent', audience },
    ...{ issued_at: iso(0), expires_at: iso(300), ...more },
  })
const contexts = ['https://www.w3.org/ns/credentials/v2', 'https://mentionable.dev/ns/identity/v0.2/context.jsonld']
const credential = (more: Json) =>
  signedCredential(
    {
      ...{ '@context': contexts, type: ['VerifiableCredential', 'PlatformIdentityCredential'], issuer: did },
      ...{ validFrom: iso(0), validUntil: iso(300), credentialSubject: { id: '@a@a.test', method: 'urn:x', ...more } },
    },
    {
      ...{ type: 'DataIntegrityProof', cryptosuite: 'eddsa-jcs-2022', proofPurpose: 'assertionMethod' },
      ...{ verificationMethod: `${did}#k1`, domain: audience, challenge: 'm' },
    },
  )

const names = (many: number) => Object.fromEntries(Array.from({ length: many }, (_, at) => [`k${many - at}`, 0]))
/** Nested as deep as the JSON of a request may be, within what stands around it. */
const deep = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)

interface Sent {
  readonly status: number
  readonly times?: number
  readonly mentionable: () => Json
}

const four = (make: () => Json) => [0, 1, 2, 3].map(make)
const sent: Readonly<Record<string, Sent>> = {
  'four good pieces of 16 kB of text': {
    ...{ status: 200, mentionable: () => ({ identity_evidence: four(() => evidence({ extra: 'é'.repeat(7_900) })) }) },
  },
  'four good pieces of 1,300 names in the wrong order': {
    ...{ status: 200, mentionable: () => ({ identity_evidence: four(() => evidence({ extra: names(1_300) })) }) },
  },
  'four good pieces of 7,500 numbers': {
    ...{
      status: 200,
      mentionable: () => ({ identity_evidence: four(() => evidence({ extra: Array(7_500).fill(0) })) }),
    },
  },
  'four good credentials of 1,300 names': {
    ...{ status: 200, mentionable: () => ({ verifiable_credentials: four(() => credential(names(1_300))) }) },
  },
  'a good piece that nests as deep as a request may': {
    ...{ status: 200, mentionable: () => ({ identity_evidence: [evidence({ extra: deep(40) })] }) },
  },
  'a piece with a name that every object has': {
    ...{ status: 401, mentionable: () => ({ identity_evidence: [{ ...evidence({}), constructor: {}, toString: 1 }] }) },
  },
  'a good piece for 9,000 principals': {
    ...{
      status: 401,
      mentionable: () => ({ identity_evidence: [evidence({ on_behalf_of: Array(9_000).fill('a:b') })] }),
    },
  },
  'a signature of 60 kB': {
    status: 401,
    mentionable: () => ({
      identity_evidence: [
        { ...evidence({}), proof: { type: 'signed-attestation', alg: 'EdDSA', kid: 'k1', value: 'A'.repeat(60_000) } },
      ],
    }),
  },
  'a proof of a credential of 60 kB': {
    status: 401,
    mentionable: () => {
      const { proof, ...rest } = credential({})
      return {
        verifiable_credentials: [{ ...rest, proof: { ...(proof as Json), proofValue: `z${'1'.repeat(60_000)}` } }],
      }
    },
  },
  'four good pieces of 16 kB, from sixty callers at once': {
    ...{ status: 200, times: 60 },
    mentionable: () => ({ identity_evidence: four(() => evidence({ extra: names(1_300) })) }),
  },
}

/** The events of the one conversation that there is, as text. */
async function noticesOf(url: string): Promise<string> {
  const { items } = (await (await fetch(`${url}/api/v1/conversations`)).json()) as { items: { id: string }[] }
  const path = `/api/v1/conversations/${encodeURIComponent(items[0]?.id ?? '')}/events?verbose=true`
  return (await fetch(url + path, { headers: { accept: 'application/json' } })).text()
}

function posting(name: string, { status, times = 1, mentionable }: Sent): Row {
  return {
    name: `an agent of another server sends ${name}`,
    setUp: async (play) => {
      const url = await serve(play)
      const message = {
        messageId: 'm',
        role: 'ROLE_USER',
        parts: [{ text: 'x' }],
        metadata: { mentionable: mentionable() },
      }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } })
      const request = { url: `${url}/a2a/root?A2A-Version=1.0`, status, method: 'POST', body }
      // The keys are read once; and evidence that is dropped would cost nothing.
      await play.outside.send(request)
      if (status === 200 && (await noticesOf(url)).includes('EVIDENCE_DROPPED')) throw new Error('it was dropped')
      return () => play.outside.send({ ...request, times })
    },
  }
}

export const evidences: readonly Row[] = Object.entries(sent).map(([name, one]) => posting(name, one))
