/**
 * Family V: evidence, credentials and conditions. Whatever they say in whichever field, and whatever becomes of them, no model, no line of the
 * log, no span, no figure and no export of the conversation has a word of it; of a proof and of claims nothing is kept at all, or sent to the next
 * server.
 */
import { memoryStore } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import { storedEntries } from '../../support/claims.ts'
import { signedCredential, signedEvidence } from '../../support/evidence.ts'
import { agent, until } from '../../support/stage.ts'
import { canary, scannerOf } from '../support/canary.ts'
import { createFarServer, type FarServer, type FarStatus } from '../support/far-server.ts'
import type { Ledger } from '../support/ledger.ts'
import { createOutsideWorld, domain, remote, vouching, ways, type Who } from '../support/outside-world.ts'
import { createRecorder, type Recorder, recorded } from '../support/recorder.ts'
import { exportOf } from '../support/export-text.ts'
import { textOf } from '../support/texts.ts'

const caller = remote('an agent', '@a@a.test')
const audience = `@docs@${domain}`
const iso = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()

/** Ids of values that stand in fields of which nothing may be kept, and of those that say for whom somebody acts. */
const dropped = ['id', 'assurance', 'claim', 'source', 'profile', 'unknown'] as const
const kept = ['principal'] as const
const principal = `mailto:${canary('principal')}@x.test`

const evidence = (more: object = {}) =>
  signedEvidence(
    {
      ...{
        id: canary('id'),
        subject: '@a@a.test',
        issuer: 'https://a.test',
        method: 'urn:x',
        assurance: canary('assurance'),
      },
      ...{ audience, issued_at: iso(0), expires_at: iso(60), on_behalf_of: [principal] },
      ...{
        claims: { note: canary('claim') },
        source: { connector: canary('source') },
        [canary('unknown')]: 1,
        ...more,
      },
    },
    { key: vouching.key, proof: { kid: vouching.kid } },
  )

const credential = (challenge: string, more: object = {}) => {
  const contexts = ['https://www.w3.org/ns/credentials/v2', 'https://mentionable.dev/ns/identity/v0.2/context.jsonld']
  const profile = { display_name: canary('profile') }
  return signedCredential(
    {
      ...{ '@context': contexts, id: canary('id'), type: ['VerifiableCredential', 'PlatformIdentityCredential'] },
      ...{ issuer: vouching.did, validFrom: iso(0), validUntil: iso(60), [canary('unknown')]: 1 },
      credentialSubject: { id: 'x:u', method: 'urn:x', assurance: canary('assurance'), profile, ...more },
    },
    {
      ...{ type: 'DataIntegrityProof', cryptosuite: 'eddsa-jcs-2022', proofPurpose: 'assertionMethod' },
      ...{ verificationMethod: `${vouching.did}#k`, domain: audience, challenge },
    },
    vouching.key,
  )
}

/** What comes with a message, and how far it gets. */
const brought: Readonly<Record<string, (messageId: string) => readonly [object, 'accepted' | 'dropped' | string]>> = {
  'good evidence': () => [{ identity_evidence: [evidence()] }, 'accepted'],
  'evidence of nobody who is trusted': () => [
    { identity_evidence: [evidence({ issuer: `https://${canary('id').replaceAll('_', '-')}.test` })] },
    'dropped',
  ],
  'evidence for somebody else': () => [
    { identity_evidence: [evidence({ audience: `@${canary('claim')}@c.test` })] },
    'EVIDENCE_AUDIENCE',
  ],
  'evidence that is malformed': () => [
    { identity_evidence: [evidence({ issued_at: canary('claim') })] },
    'EVIDENCE_INVALID',
  ],
  'evidence that has expired': () => [
    { identity_evidence: [evidence({ issued_at: iso(-99), expires_at: iso(-61) })] },
    'EVIDENCE_EXPIRED',
  ],
  'a good credential': (id) => [{ verifiable_credentials: [credential(id)] }, 'accepted'],
  'a credential about nobody who is trusted': (id) => [
    { verifiable_credentials: [credential(id, { id: canary('profile') })] },
    'dropped',
  ],
  'a credential of another message': () => [{ verifiable_credentials: [credential('another')] }, 'EVIDENCE_INVALID'],
}

const condition = (state: string): FarStatus => ({
  state,
  parts: [
    {
      data: {
        ...{ type: 'policy', state: canary('condition') },
        policy: {
          kind: 'consent_required',
          message: canary('condition'),
          title: canary('condition'),
          data: { x: canary('condition') },
        },
      },
    },
  ],
})
const done: FarStatus = { state: 'COMPLETED', artifacts: [{ artifactId: 'a', parts: [{ text: 'It is there.' }] }] }

/** How the next server answers, and what a person does with its condition. */
const ends: Readonly<Record<string, readonly [turns: readonly FarStatus[], answer: object | null]>> = {
  'an answer': [[done], null],
  'a condition that is met': [[condition('INPUT_REQUIRED'), done], { resolution: { note: canary('resolution') } }],
  'a condition that is declined': [[condition('INPUT_REQUIRED')], { decision: 'declined' }],
  'a condition of a task that has ended': [[condition('REJECTED'), done], { resolution: {} }],
}

interface Case {
  readonly bringing: string
  readonly ending: string
  readonly far: FarServer
  readonly recorder: Recorder
}

/** A server whose one agent tells the next server, and whoever asks, all that it reads. */
function createWorld({ far, recorder }: Case) {
  const lines: string[] = []
  const reports: unknown[] = []
  const store = memoryStore()
  const model = scriptedModel(
    (request) => {
      const results = toolResults(request)
      return results.length > 0 ? textOf(results) : call('far', { message: textOf(request.messages) })
    },
    { id: 'play/model' },
  )
  const remotes = [{ name: 'far', address: '@docs@b.test', description: 'Knows.' }]
  const access = { call: ['@*@a.test'] }
  const world = createOutsideWorld(
    {
      ...{ store, models: { 'play/model': model }, report: (error) => reports.push(error) },
      agents: [agent('docs', { address: 'docs', access, remotes })],
      federation: { resolve: { 'b.test': far.url } },
      telemetry: {
        otlp: { url: recorder.otlp, content: 'full', protocol: 'http/json' },
        mlflow: { url: recorder.mlflow, content: 'full', artifacts: true, runs: 'conversation' },
        metrics: true,
      },
    },
    (line) => lines.push(line),
  )
  return { ...world, store, model, lines, reports }
}

/** Waits for the end of a conversation, and does with a condition what the case says. Gives its last result. */
async function ended(
  { runtime }: ReturnType<typeof createWorld>,
  { id, answer }: { readonly id: string; readonly answer: object | null },
  ledger: Ledger,
): Promise<unknown> {
  await until(async () => {
    const { status, interruptions } = await runtime.getConversation(id)
    const [asked] = interruptions
    if (asked !== undefined) {
      ledger.control('the inbox', scannerOf(['condition'])(textOf(asked)).size > 0)
      await runtime.answerInterruption(asked.id, { answer })
    }
    return status === 'idle'
  }, 20_000)
  const [run] = (await runtime.getConversation(id)).runs
  return (await runtime.getRun(run?.runId ?? '')).result
}

let number = 0

async function playOne(one: Case, ledger: Ledger): Promise<void> {
  const { bringing, ending, far, recorder } = one
  const messageId = `m${++number}`
  const way = ways[number % 2] ?? 'JSON-RPC'
  ledger.begin(`${bringing}, then ${ending}, by ${way}`)
  const [turns, answer] = ends[ending] ?? [[], null]
  far.play(...turns)
  const world = createWorld(one)
  const [mentionable, outcome] = brought[bringing]?.(messageId) ?? [{}, '']
  const message = { messageId, parts: [{ text: 'go' }], metadata: { mentionable } }
  const sent = { message, configuration: { returnImmediately: true } }
  const bearing: Who = { ...caller, bearer: (shown) => caller.bearer({ ...shown, jti: messageId }) }
  const reply = await world.post(bearing, ['SendMessage', sent], { local: 'docs', way })
  const { runtime, store, model, lines, reports } = world
  const places: [string, string][] = [['answer', reply]]
  const [conversation] = (await runtime.listConversations()).items
  const isIn = outcome === 'accepted' || outcome === 'dropped'
  ledger.claim(
    `it was not ${outcome}: ${reply.slice(0, 200)}`,
    isIn ? conversation !== undefined : reply.includes(outcome),
  )
  if (conversation !== undefined) {
    const { id } = conversation
    places.push(['result', textOf(await ended(world, { id, answer }, ledger))])
    places.push(['export', await exportOf(runtime, id, ledger)])
    const [entries, seen] = [textOf(await storedEntries(store, id)), far.seen()]
    for (const [place, text] of [['the store', entries] as const, ['the next server', seen] as const]) {
      ledger.deny('leak', place, scannerOf(dropped)(text))
      if (bringing === 'good evidence') ledger.control(place, scannerOf(kept)(text).size > 0)
    }
  }
  places.push(['model', textOf(model.requests)], ['metrics', await runtime.metrics()])
  await world.close()
  places.push(['log', lines.join('')], ['reports', textOf(reports)])
  for (const sink of recorded) places.push([sink, recorder.text(sink)])
  if (conversation !== undefined) ledger.control('spans', recorder.text('OTLP spans').includes('invoke_agent docs'))
  recorder.forget()
  const scan = scannerOf([...dropped, ...kept, 'condition', 'resolution'])
  for (const [sink, text] of places) ledger.deny('leak', sink, scan(text))
}

/** Plays the family. */
export async function playEvidence(ledger: Ledger): Promise<void> {
  const [far, recorder] = await Promise.all([createFarServer(), createRecorder()])
  try {
    for (const bringing of Object.keys(brought))
      for (const ending of Object.keys(ends)) await playOne({ bringing, ending, far, recorder }, ledger)
  } finally {
    await far.close()
    await recorder.close()
  }
}
