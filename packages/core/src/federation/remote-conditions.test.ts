/** Who demands, where a server between passes a condition on; and where its link may lead. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bare, inTurn, play, streamOf, task } from '../../../../test/support/remote-call.ts'
import { conditionsIn } from './remote-conditions.ts'
import type { RemoteCall } from '../tool/remote.ts'
import { emptyTask, takeFrame } from './remote-task.ts'

const remote = '@docs@b.test'

function conditionOf(policy: object, passesIssuers: boolean) {
  const task = emptyTask('t')
  const message = { messageId: 'm', parts: [{ data: { type: 'policy', policy, state: 's' } }] }
  takeFrame(task, { task: { id: 't', status: { state: 'TASK_STATE_INPUT_REQUIRED', message } } })
  const [draft] = conditionsIn(task, { remote, passesIssuers }).drafts
  assert.ok(draft?.kind === 'policy')
  return { issuer: draft.issuer, policy: draft.policy as Record<string, unknown>, dropped: [...task.dropped] }
}

const policy = (data: unknown, url?: string) => ({
  ...{ kind: 'payment_required', message: 'One euro.', data },
  ...(url === undefined ? {} : { url }),
})
const by = (issuer: unknown) => ({ 'dev.witan.issuer': issuer, price: 1 })

const told: readonly (readonly [string, unknown, boolean, string])[] = [
  ['a domain that is trusted', '@pay@c.test', true, '@pay@c.test'],
  ['a domain that is trusted, in another form', 'acct:Pay@C.test', true, '@pay@c.test'],
  ['a domain that is trusted, of a card', 'https://c.test/card.json', true, 'https://c.test/card.json'],
  ['a domain that is not trusted', '@pay@c.test', false, remote],
  ['a domain that is trusted, as no address', 'c.test', true, remote],
  ['a domain that is trusted, as plain HTTP', 'http://c.test/card', true, remote],
  ['a domain that is trusted, as no text', { a: 1 }, true, remote],
  ['a domain that is trusted, as a name of thousands', `@${'x'.repeat(5_000)}@c.test`, true, remote],
]
for (const [what, issuer, trusted, expected] of told)
  test(`[M21] who has demanded first, said by ${what}`, () => {
    const condition = conditionOf(policy(by(issuer)), trusted)
    assert.equal(condition.issuer, expected)
    const isTaken = expected !== remote
    assert.deepEqual(condition.policy['data'], isTaken ? by(issuer) : { price: 1 })
    assert.deepEqual(condition.dropped, isTaken ? [] : ['policy.data.dev.witan.issuer'])
  })

const links: readonly (readonly [string, boolean, boolean])[] = [
  ['https://c.test/pay', true, true],
  ['https://pay.c.test/1', true, true],
  ['https://b.test/pay', true, false],
  ['https://c.test/pay', false, false],
  ['https://b.test/pay', false, true],
  ['http://b.test/pay', false, false],
  ['https://xb.test/pay', false, false],
  ['https://b.test.evil.test/pay', false, false],
  ['https://b.test@evil.test/', false, false],
  ['javascript:alert(1)//b.test', false, false],
  ['//b.test/x', false, false],
]
for (const [url, trusted, stays] of links)
  test(`[M21] a link to ${url} ${stays ? 'stays' : 'is left out'} where the issuer is ${trusted ? 'another one' : 'the called one'}`, () => {
    const condition = conditionOf(policy(by('@pay@c.test'), url), trusted)
    assert.equal(condition.policy['url'], stays ? url : undefined)
    assert.equal(condition.dropped.includes('policy.url'), !stays)
  })

test('[D20] data that is no object, and names that objects inherit, name no issuer', () => {
  for (const data of [null, 'x', [1], JSON.parse('{"__proto__":{"dev.witan.issuer":"@pay@c.test"}}')])
    assert.equal(conditionOf(policy(data), true).issuer, remote)
})

test('[E65] [M29] where a state is not taken any more, the task is asked with the state that it has now', async () => {
  const asking = (state: string) => {
    const parts = [{ data: { type: 'policy', policy: { kind: 'payment_required', message: 'One euro.' }, state } }]
    return { message: { messageId: 'm', role: 'ROLE_AGENT', parts } }
  }
  const refused = {
    message: {
      messageId: 'r',
      role: 'ROLE_AGENT',
      parts: [{ data: { type: 'policy', policy: { kind: 'forbidden', message: 'No.' } } }],
    },
  }
  const first = await play(inTurn(() => streamOf([task('TASK_STATE_INPUT_REQUIRED', asking('s1'))])))
  const [asked] = 'interruptions' in first.outcome ? first.outcome.interruptions : []
  const answers = [{ kind: 'interruption', asked, answer: { value: { resolution: { paid: 1 } } } }]
  const { outcome, requests } = await play(
    inTurn(
      () => streamOf([refused]),
      () => streamOf([task('TASK_STATE_INPUT_REQUIRED', asking('s2'))]),
      () => bare('TASK_STATE_INPUT_REQUIRED', asking('s2')),
      () => streamOf([task('TASK_STATE_COMPLETED', {}, [{ artifactId: 'a', parts: [{ text: 'Here.' }] }])]),
    ),
    { note: first.note, answers: answers as unknown as RemoteCall['context']['answers'] },
  )
  assert.equal(outcome.kind === 'result' ? outcome.answered?.text : null, 'Here.')
  const sent = requests.map(
    ({ params }) =>
      params['message'] as
        | { readonly metadata?: { readonly mentionable?: { readonly policy_resolution?: object } } }
        | undefined,
  )
  assert.deepEqual(
    sent.map((message) => message?.metadata?.mentionable?.policy_resolution ?? null),
    [{ paid: 1, in_reply_to_state: 's1' }, null, null, { paid: 1, in_reply_to_state: 's2' }],
  )
})
