/** `anonymous` in a list of access that must hold as a whole: a caller without a credential, whose evidence proves the rest of the list. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { scriptedModel } from '@witan/core/testing'
import { createOutsideWorld, domain, remote, vouching, ways, type Who } from '../leaks/support/outside-world.ts'
import { signedEvidence } from '../support/evidence.ts'
import { agent } from '../support/stage.ts'

/** In ms. While a caller waits, it is checked again and again whether it may still be here; this is longer than the time between two checks. */
const recheckedMs = 1_600
const mail = 'mailto:u@x.test'
const iso = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
const evidence = (subject: string) =>
  signedEvidence(
    {
      ...{ subject, issuer: `https://${subject.split('@')[2]}`, method: 'urn:x', assurance: 'delegated' },
      ...{
        audience: `@docs@${domain}`,
        issued_at: iso(0),
        expires_at: iso(60),
        on_behalf_of: [mail],
        claims: { nonce: randomUUID() },
      },
    },
    { key: vouching.key, proof: { kid: vouching.kid } },
  )

const nobody: Who = { name: 'nobody', bearer: () => null }
const callers = {
  'no credential': [nobody, null],
  'no credential, evidence of a': [nobody, '@a@a.test'],
  'no credential, evidence of b': [nobody, '@b@b.test'],
  'the credential of a': [remote('a', '@a@a.test'), null],
} as const
type CallerName = keyof typeof callers

const no = 'UNAUTHENTICATED'
/** What each list says to each caller, in their order: let in, sent for a credential, or not found. */
const rows: readonly (readonly [call: readonly (string | string[])[] | null, ...says: readonly string[]])[] = [
  [null, no, no, no, 'NOT_FOUND'],
  [['@*'], no, no, no, 'in'],
  [['anonymous'], 'in', 'in', 'in', 'NOT_FOUND'],
  [[['anonymous']], 'in', 'in', 'in', 'NOT_FOUND'],
  [[['anonymous', '@a@a.test']], 'NOT_FOUND', 'in', 'NOT_FOUND', 'NOT_FOUND'],
  [[['@*@a.test', 'anonymous', `for:${mail}`]], 'NOT_FOUND', 'in', 'NOT_FOUND', 'NOT_FOUND'],
  [[['anonymous', 'user:anna']], 'NOT_FOUND', 'NOT_FOUND', 'NOT_FOUND', 'NOT_FOUND'],
  [['@*', ['anonymous', '@b@b.test']], 'NOT_FOUND', 'in', 'in', 'in'],
]

describe('[M20] [C31] `anonymous` in a list of access', () => {
  for (const [call, ...says] of rows)
    for (const way of ways.slice(0, 3))
      test(`${JSON.stringify(call)}, by ${way}`, async () => {
        const model = scriptedModel(() => 'It is blue.', { id: 'play/model' })
        const access = { call: call === null ? null : call.map((entry) => (Array.isArray(entry) ? [...entry] : entry)) }
        const world = createOutsideWorld({
          ...{ models: { 'play/model': model }, agents: [agent('docs', { address: 'docs', access })] },
        })
        const told: string[] = []
        for (const name of Object.keys(callers) as CallerName[]) {
          const [who, subject] = callers[name]
          const mentionable = subject === null ? {} : { identity_evidence: [evidence(subject)] }
          const message = { parts: [{ text: 'go' }], metadata: { mentionable } }
          const answer = await world.post(who, ['SendMessage', { message }], { local: 'docs', way })
          told.push(answer.includes('It is blue.') ? 'in' : (/"code":"([A-Z_]+)"/.exec(answer)?.[1] ?? answer))
        }
        await world.close()
        assert.deepEqual(told, says)
      })
})

describe('[M20] [C31] what evidence proved holds as long as the reply is waited for', { concurrency: true }, () => {
  const lists: Readonly<Record<string, readonly [call: (string | string[])[], who: Who, subject: string]>> = {
    'an address that evidence is about': [['@b@b.test'], remote('a', '@a@a.test'), '@b@b.test'],
    'a caller without a credential': [[['anonymous', '@b@b.test']], nobody, '@b@b.test'],
    'whom it acts for': [[['@a@a.test', `for:${mail}`]], remote('a', '@a@a.test'), '@a@a.test'],
  }
  for (const [title, [call, who, subject]] of Object.entries(lists))
    test(title, async () => {
      const model = scriptedModel(() => sleep(recheckedMs).then(() => 'It is blue.'), { id: 'play/model' })
      const world = createOutsideWorld({
        ...{ models: { 'play/model': model }, agents: [agent('docs', { address: 'docs', access: { call } })] },
      })
      const message = () => ({
        ...{ parts: [{ text: 'go' }], metadata: { mentionable: { identity_evidence: [evidence(subject)] } } },
      })
      const answers = ['SendMessage', 'SendStreamingMessage'].map((method) =>
        world.post(who, [method, { message: message() }], { local: 'docs' }),
      )
      for (const answer of await Promise.all(answers)) assert.match(answer, /TASK_STATE_COMPLETED/)
      await world.close()
    })
})
