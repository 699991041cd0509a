/** Approvals, questions and messages over HTTP: asked at depth three by parallel siblings, answered once, also by the next process. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { assertEvents, assertNeverSaw, assertProblem } from './support/claims.ts'
import { agent, createStage, type Stage, sub, until } from './support/stage.ts'
import { toolContents } from './support/transcript.ts'
import type { Interruption, Page, RunResult } from './support/wire.ts'
import type { Answer } from './support/witan.ts'

const userId = 'cny_apr_zx98cv76bn54ml32kj10hg'
const trusted = { name: 'userId', type: 'string', sendToModel: false, policy: 'forbidModelGeneration' }
const schema = {
  type: 'object',
  properties: { amount: { type: 'integer', maximum: 100 } },
  required: ['amount'],
  additionalProperties: false,
}

let stage: Stage
beforeEach(async () => {
  stage = await createStage({ store: 'file', hosted: true })
})
afterEach(() => stage?.close())

const answer = (id: string | undefined, body: unknown) =>
  stage.witan.call<Interruption>('POST', `/api/v1/interruptions/${id}/answer`, { body })
const respond = (id: string | undefined, body: unknown) =>
  stage.witan.call<Interruption>('POST', `/api/v1/questions/${id}/respond`, { body })

/** Two branches each hold a delegation for its approval, a third asks nobody; the delegates are the third level. */
async function waitForApprovals(): Promise<RunResult> {
  const act = { name: 'pay', description: 'Pays.', parametersSchema: schema }
  await stage.save(
    agent('root', { subAgents: [sub('left'), sub('right'), sub('free')] }),
    agent('left', { subAgents: [sub('payer')], approvals: ['payer'] }),
    agent('right', { parameters: [trusted], actions: [act], approvals: ['pay'] }),
    agent('free', { subAgents: [sub('payer')] }),
    agent('payer'),
  )
  const calls = ['left', 'right', 'free'].map((name) => ({ name, args: { message: `${name}!` } }))
  stage.model.script('root', { calls }, { text: 'root done' })
  stage.model.script('left', { calls: [{ name: 'payer', args: { message: 'pay 1' } }] }, { text: 'left done' })
  stage.model.script('right', { calls: [{ name: 'pay', args: { amount: 2, userId: 'mine' } }] }, { text: 'right done' })
  stage.model.script('free', { calls: [{ name: 'payer', args: { message: 'pay 3' } }] }, { text: 'free done' })
  stage.model.script('payer', { text: 'paid' }, { text: 'paid' })
  const run = await stage.ask('root', 'pay', { id: 'chats/pay', parameters: { userId } })
  assert.equal(run.status, 'waiting')
  return run
}

const heldOf = ({ interruptions }: RunResult, path: string) => {
  const held = interruptions.find((one) => one.path === path)
  assert.equal(held?.kind, 'approval', JSON.stringify(interruptions))
  return held as Interruption
}
const done = () =>
  until(
    () => stage.conversation('chats/pay'),
    (now) => now.status === 'idle',
  )

test('approvals of parallel siblings wait while the others go on, and each shows exactly its call [Fb06] [D11]', async () => {
  const run = await waitForApprovals()
  const [left, right] = [heldOf(run, 'left/payer'), heldOf(run, 'right/pay')]
  assert.equal(run.interruptions.length, 2)
  assert.deepEqual([left.tool, left.arguments, left.agent], ['payer', { message: 'pay 1' }, 'left'])
  assert.deepEqual([right.tool, right.arguments], ['pay', { amount: 2 }])
  assert.match(right.digest ?? '', /^[0-9a-f]{64}$/)
  assert.notEqual(left.digest, right.digest)
  assert.equal(stage.model.of('payer').length, 1, 'only the sibling that needs no approval went on')
  const listed = await stage.witan.call<Page<Interruption>>('GET', '/api/v1/interruptions?state=open')
  assert.deepEqual(listed.body.items.map(({ id }) => id).sort(), [left.id, right.id].sort())
  const terse = await stage.events('chats/pay', 'verbose=false')
  assert.equal(terse.filter(({ type }) => type === 'approval_required').length, 2)
  assert.equal(JSON.stringify(await stage.events('chats/pay')).includes(userId), false)
})

test('they are answered by the next process after a restart, once, and the same run ends [D11] [F31]', async () => {
  const run = await waitForApprovals()
  await stage.witan.stop()
  await stage.witan.start()
  const left = heldOf(run, 'left/payer')
  const two = await Promise.all([
    answer(left.id, { answer: { decision: 'approved', reason: 'first' } }),
    answer(left.id, { answer: { decision: 'denied' } }),
  ])
  assert.deepEqual(two.map(({ status }) => status).sort(), [200, 409])
  const lost = two.find(({ status }) => status === 409) as Answer<unknown>
  assertProblem(lost, { status: 409, code: 'ALREADY_ANSWERED' })
  const won = two[0]?.status === 200
  const right = heldOf(run, 'right/pay')
  const approved = await answer(right.id, { answer: { decision: 'approved', arguments: { amount: 50 } } })
  assert.equal(approved.status, 200, approved.text)
  const { interruptions } = await until(
    () => stage.conversation('chats/pay'),
    (now) => now.status === 'waiting' && now.interruptions.length === 1,
  )
  const [action] = interruptions
  assert.deepEqual([action?.kind, action?.path, action?.arguments], ['action', 'right/pay', { amount: 50, userId }])
  const end = await stage.run('chats/pay', { actionResponses: [{ id: action?.id, response: 'paid 50' }] })
  assert.deepEqual([end.status, end.runId, end.text], ['completed', run.runId, 'root done'])
  assert.equal(stage.model.of('payer').length, won ? 2 : 1)
  assert.deepEqual(toolContents(stage.model.of('right')[1]), ['paid 50'])
  assert.deepEqual(toolContents(stage.model.of('root')[1]), ['left done', 'right done', 'free done'])
  assertNeverSaw(stage.model.seen, userId)
  assertEvents(await stage.events('chats/pay'))
})

test('denied, or approved in bulk: all or none, and an answer off its terms is refused with them [Fb06]', async () => {
  const run = await waitForApprovals()
  const [left, right] = [heldOf(run, 'left/payer'), heldOf(run, 'right/pay')]
  for (const args of [{ amount: 101 }, { amount: 1, userId: 'x' }, { amount: 1, more: 1 }, {}, 'all']) {
    const refused = await answer(right.id, { answer: { decision: 'approved', arguments: args } })
    assertProblem(refused, { status: 422, code: 'ANSWER_INVALID' })
  }
  const bad = {
    answers: [
      { id: left.id, answer: { decision: 'denied' } },
      { id: right.id, answer: {} },
    ],
  }
  assertProblem(await stage.runAnswer('chats/pay', bad), { status: 422, code: 'ANSWER_INVALID' })
  const none = { actionResponses: [{ id: left.id, response: { decision: 'approved' } }] }
  assertProblem(await stage.runAnswer('chats/pay', none), { status: 404, code: 'ACTION_NOT_FOUND' })
  assert.equal((await stage.conversation('chats/pay')).interruptions.length, 2)
  const end = await stage.run('chats/pay', {
    answers: [
      { id: left.id, answer: { decision: 'denied', reason: 'not this month' } },
      { id: right.id, answer: { decision: 'denied' } },
    ],
  })
  assert.equal(end.status, 'completed')
  assert.deepEqual(toolContents(stage.model.of('left')[1]), ['{"error":"denied: not this month"}'])
  assert.equal(stage.model.of('payer').length, 1)
  assertProblem(await answer(left.id, { answer: { decision: 'approved' } }), { status: 409, code: 'ALREADY_ANSWERED' })
  assertEvents(await stage.events('chats/pay'))
})

test('an approval that nobody gives in time expires, and a late one is 410 [Fb06]', async () => {
  await stage.save(
    agent('root', { subAgents: [sub('payer')], approvals: ['payer'], interruptionExpiresInSeconds: 1 }),
    agent('payer'),
  )
  stage.model.script('root', { calls: [{ name: 'payer', args: { message: 'pay' } }] }, { text: 'nobody was there' })
  const run = await stage.ask('root', 'go', { id: 'chats/pay' })
  const [held] = run.interruptions
  assert.equal(typeof held?.expiresAt, 'string')
  await done()
  assertProblem(await answer(held?.id, { answer: { decision: 'approved' } }), { status: 410, code: 'QUESTION_EXPIRED' })
  assert.match(toolContents(stage.model.of('root')[1])[0] ?? '', /nobody approved it in time/)
  assert.equal(stage.model.of('payer').length, 0)
  assertEvents(await stage.events('chats/pay'))
})

test('a question is answered by its ids, at its own door too, and the model reads the answers [F29] [F30]', async () => {
  await stage.save(agent('root', { subAgents: [sub('leaf')] }), agent('leaf', { questions: true }))
  const questions = [
    {
      id: 'size',
      text: 'Which size?',
      options: [
        { id: 's', label: 'Small' },
        { id: 'l', label: 'Large' },
      ],
    },
    { id: 'note', text: 'A note?', required: false },
  ]
  stage.model.script('root', { calls: [{ name: 'leaf', args: { message: 'ask' } }] }, { text: 'root done' })
  stage.model.script('leaf', { calls: [{ name: 'ask_question', args: { questions } }] }, { text: 'leaf done' })
  const run = await stage.ask('root', 'go', { id: 'chats/pay' })
  const [asked] = run.interruptions
  assert.deepEqual([asked?.kind, asked?.path], ['question', 'leaf/ask_question'])
  for (const [body, words] of [
    [{ size: { options: ['xl'] } }, /`xl` is not one of s, l/],
    [{ note: { text: 'x' } }, /`size` must be answered/],
    [{ size: { options: ['s'], text: 'or so' } }, /no free text/],
  ] as const) {
    const refused = await respond(asked?.id, { answer: body })
    assertProblem(refused, { status: 422, code: 'ANSWER_INVALID' })
    assert.match(refused.text, words)
  }
  assertProblem(await respond('i_none', { answer: {} }), { status: 404, code: 'NOT_FOUND' })
  const told = await respond(asked?.id, { answer: { size: { options: ['l'] }, note: { text: 'soon' } } })
  assert.deepEqual([told.status, told.body.state], [200, 'answered'], told.text)
  await done()
  assert.deepEqual(toolContents(stage.model.of('leaf')[1]), ['{"size":{"options":["l"]},"note":{"text":"soon"}}'])
})

test('a person is asked by name, an unknown one is told to the model, and only questions have their own door [T22] [T24] [Tb05]', async () => {
  const users = [{ id: 'anna', name: 'Anna' }, { id: 'bob' }]
  await stage.save(agent('root', { users }))
  stage.model.script(
    'root',
    { calls: [{ name: 'ask_user', args: { user: 'carl', message: 'hi' } }] },
    { calls: [{ name: 'ask_user', args: { user: 'anna', message: 'How many?' } }] },
    { text: 'thanks' },
  )
  const unknown = await stage.witan.call('POST', '/api/v1/conversations', { body: { agent: 'root', users: ['eve'] } })
  assertProblem(unknown, { status: 422, code: 'USER_UNKNOWN' })
  const run = await stage.ask('root', 'go', { id: 'chats/pay' })
  assert.match(toolContents(stage.model.of('root')[1])[0] ?? '', /carl.*anna, bob/)
  const [asked] = run.interruptions
  assert.deepEqual([asked?.kind, asked?.addressee, asked?.prompt], ['message', 'anna', 'How many?'])
  const mine = await stage.witan.call<Page<Interruption>>('GET', '/api/v1/interruptions?addressee=anna')
  assert.deepEqual(
    mine.body.items.map(({ id }) => id),
    [asked?.id],
  )
  const others = await stage.witan.call<Page<Interruption>>('GET', '/api/v1/interruptions?addressee=bob')
  assert.deepEqual(others.body.items, [])
  assertProblem(await respond(asked?.id, { answer: 'forty' }), { status: 404, code: 'NOT_FOUND' })
  assert.equal((await answer(asked?.id, { answer: 'forty' })).status, 200)
  await done()
  assert.equal(toolContents(stage.model.of('root')[2]).at(-1), 'Anna: forty')
})

test('with a condition only the calls that meet it are asked for, before a restart and after [Fb06] [D11]', async () => {
  const when = { type: 'object', properties: { message: { type: 'string', pattern: '[0-9]{3,} euros' } } }
  await stage.save(agent('root', { subAgents: [sub('payer')], approvals: [{ tool: 'payer', when }] }), agent('payer'))
  const pay = (message: string) => ({ calls: [{ name: 'payer', args: { message } }] })
  stage.model.script('root', pay('pay 99 euros'), pay('pay 100 euros'), pay('pay 98 euros'), { text: 'root done' })
  stage.model.script('payer', { text: 'paid' }, { text: 'paid' }, { text: 'paid' })
  const run = await stage.ask('root', 'pay', { id: 'chats/pay' })
  assert.equal(run.status, 'waiting')
  assert.equal(stage.model.of('payer').length, 1)
  const held = heldOf(run, 'payer')
  assert.deepEqual(held.kind === 'approval' && held.arguments, { message: 'pay 100 euros' })
  await stage.witan.stop()
  await stage.witan.start()
  assert.equal((await answer(held.id, { answer: { decision: 'approved' } })).status, 200)
  await done()
  assert.equal(stage.model.of('payer').length, 3)
  const { body } = await stage.witan.call('GET', '/api/v1/agents/root')
  assert.deepEqual((body as { approvals: unknown }).approvals, [{ tool: 'payer', when }])
})

test('a condition that nobody can read refuses the save and says where [Fb06]', async () => {
  const put = (approval: unknown) =>
    stage.witan.call('PUT', '/api/v1/agents/lone', {
      body: { ...agent('lone', { actions: [{ name: 'pay' }] }), approvals: [approval] },
    })
  const refused = { status: 422, code: 'AGENT_INVALID' }
  assertProblem(await put({ tool: 'pay', when: { type: 'objekt' } }), { ...refused, names: ['approvals.0.when'] })
  assertProblem(await put({ tool: 'pay', when: 'always' }), { ...refused, names: ['a JSON Schema of its arguments'] })
  assertProblem(await put({ tool: 'pai', when: {} }), { status: 422, code: 'TOOL_UNKNOWN', names: ['pai'] })
  const unknown = { status: 422, code: 'UNKNOWN_KEY', names: ['approvals.0.if'] }
  assertProblem(await put({ tool: 'pay', when: {}, if: {} }), unknown)
})
