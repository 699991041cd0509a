/** Where a value may come from: trusted values, mapped names, values that a model made, and what the check says before a run. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertEvents, assertNeverSaw, notices } from './support/claims.ts'
import { agent, createStage, type Stage, sub } from './support/stage.ts'
import { assertSystem, offered, offeredNames } from './support/transcript.ts'

const trusted = { name: 'userId', type: 'string', sendToModel: false, policy: 'forbidModelGeneration' }

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage?.close())

test('a delegate without its trusted value is left out of the tools, with a notice, and the run goes on [C16]', async () => {
  await stage.save(
    agent('quiet', { subAgents: [sub('quiet-profile'), sub('quiet-other')] }),
    agent('quiet-profile', { parameters: [trusted] }),
    agent('quiet-other'),
  )
  stage.model.script('quiet', { text: 'done' })
  const run = await stage.ask('quiet', 'hello')
  assert.equal(run.status, 'completed')
  assert.deepEqual(offeredNames(stage.model.of('quiet')[0]), ['quiet-other'])
  const events = await stage.events(run.conversationId)
  const [notice] = notices(events, 'DELEGATE_UNAVAILABLE')
  assert.ok(notice, 'a notice says why')
  assert.ok(JSON.stringify(notice.content).includes('quiet-profile'))
})

test('a call of a delegate without its trusted value fails the run [R42] [Rb24]', async () => {
  await stage.save(
    agent('loud', { subAgents: [sub('loud-profile')] }),
    agent('loud-profile', { parameters: [trusted] }),
  )
  stage.model.script('loud', { calls: [{ name: 'loud-profile', args: { message: 'hi', userId: 'employees/666' } }] })
  const run = await stage.ask('loud', 'hello')
  assert.equal(run.status, 'failed')
  assert.equal(run.error?.code, 'MISSING_AGENT_PARAMETER')
  assert.ok(run.error?.detail.includes('userId'), run.error?.detail)
  assert.ok(run.error?.hint)
  assert.equal(stage.model.of('loud-profile').length, 0)
  assertEvents(await stage.events(run.conversationId))
})

test('a parent that declares a trusted value without having it passes nothing on [E13]', async () => {
  await stage.save(
    agent('holder', { parameters: [trusted], subAgents: [sub('holder-profile')] }),
    agent('holder-profile', { parameters: [trusted] }),
  )
  stage.model.script('holder', { calls: [{ name: 'holder-profile', args: { message: 'hi' } }] })
  const run = await stage.ask('holder', 'hello')
  assert.equal(run.status, 'failed')
  assert.equal(run.error?.code, 'MISSING_AGENT_PARAMETER')
})

test('a value that a model made upstream is not trusted below [E15] [R41]', async () => {
  await stage.save(
    agent('wash', { subAgents: [sub('wash-mid')] }),
    agent('wash-mid', { parameters: [{ name: 'userId', type: 'string' }], subAgents: [sub('wash-leaf')] }),
    agent('wash-leaf', { parameters: [trusted] }),
  )
  stage.model.script(
    'wash',
    { calls: [{ name: 'wash-mid', args: { message: 'go', userId: 'employees/666' } }] },
    { text: 'done' },
  )
  stage.model.script('wash-mid', { text: 'no way down' })
  const run = await stage.ask('wash', 'hello')
  assert.equal(run.status, 'completed')
  assert.deepEqual(offered(stage.model.of('wash')[0]), [
    { name: 'wash-mid', properties: ['message', 'userId'], required: ['message', 'userId'] },
  ])
  assert.deepEqual(offeredNames(stage.model.of('wash-mid')[0]), [])
})

test('a bound value wins over the model’s, which is dropped and noticed [R30] [C19] [Rb08]', async () => {
  await stage.save(
    agent('bound', { subAgents: [sub('bound-leaf')] }),
    agent('bound-leaf', { parameters: [{ name: 'city', type: 'string' }] }),
  )
  stage.model.script(
    'bound',
    { calls: [{ name: 'bound-leaf', args: { message: 'go', city: 'Paris-of-the-model' } }] },
    { text: 'done' },
  )
  stage.model.script('bound-leaf', { text: 'ok' })
  const run = await stage.ask('bound', 'hello', { parameters: { city: 'Seattle' } })
  assert.equal(run.status, 'completed')
  assertSystem(stage.model.of('bound-leaf')[0], 'You are bound-leaf.', ['city = "Seattle"'])
  assertNeverSaw(stage.model.of('bound-leaf'), 'Paris-of-the-model')
  const [notice] = notices(await stage.events(run.conversationId), 'ARGUMENT_OVERRIDE_IGNORED')
  assert.ok(notice, 'a notice says that an argument was ignored')
  assert.ok(JSON.stringify(notice.content).includes('city'))
})

test('an argument that no schema lists is dropped without an error', async () => {
  await stage.save(agent('extra', { subAgents: [sub('extra-leaf')] }), agent('extra-leaf'))
  stage.model.script(
    'extra',
    { calls: [{ name: 'extra-leaf', args: { message: 'go', mood: 'sunny-and-unlisted' } }] },
    { text: 'done' },
  )
  stage.model.script('extra-leaf', { text: 'ok' })
  const run = await stage.ask('extra', 'hello')
  assert.equal(run.status, 'completed')
  assertNeverSaw(stage.model.of('extra-leaf'), 'sunny-and-unlisted')
})

test('an edge maps names, and a name mapped to null is asked of the model [E17]', async () => {
  await stage.save(
    agent('mapper', {
      parameters: [
        { name: 'customerId', type: 'string' },
        { name: 'session', type: 'number' },
      ],
      subAgents: [sub('mapper-leaf', { map: { id: 'customerId', session: null } })],
    }),
    agent('mapper-leaf', {
      parameters: [
        { name: 'id', type: 'string' },
        { name: 'session', type: 'number' },
      ],
    }),
  )
  stage.model.script(
    'mapper',
    { calls: [{ name: 'mapper-leaf', args: { message: 'go', session: 42 } }] },
    { text: 'done' },
  )
  stage.model.script('mapper-leaf', { text: 'ok' })
  const run = await stage.ask('mapper', 'hello', { parameters: { customerId: 'ALFKI', session: 7 } })
  assert.equal(run.status, 'completed')
  assert.deepEqual(offered(stage.model.of('mapper')[0]), [
    { name: 'mapper-leaf', properties: ['message', 'session'], required: ['message', 'session'] },
  ])
  assertSystem(stage.model.of('mapper-leaf')[0], 'You are mapper-leaf.', ['id = "ALFKI"', 'session = 42'])
})

test('values of every type stand as JSON in the system message [Rb15]', async () => {
  const types = {
    s: 'string',
    n: 'number',
    b: 'boolean',
    z: 'null',
    ss: 'string[]',
    ns: 'number[]',
    bs: 'boolean[]',
    a: 'any',
  }
  const values = { s: 'a "b"\nc', n: 1.5, b: false, z: null, ss: ['x', 'y'], ns: [], bs: [true], a: 'free' }
  await stage.save(agent('typed', { parameters: Object.entries(types).map(([name, type]) => ({ name, type })) }))
  stage.model.script('typed', { text: 'ok' })
  const run = await stage.ask('typed', 'hello', { parameters: values })
  assert.equal(run.status, 'completed')
  const lines = Object.entries(values).map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
  assertSystem(stage.model.of('typed')[0], 'You are typed.', lines)
})

interface Check {
  errors: { code: string }[]
  warnings: { code: string; agent: string }[]
  matrix: { path: string; agent: string; parameter: string; boundFrom: string; shown: boolean; mayGenerate: boolean }[]
  handlers: string[]
}

test('the check prints who may see and make which value, and the handler paths [R27] [R41]', async () => {
  const agents = [
    agent('chk', { subAgents: [sub('chk-mid')] }),
    agent('chk-mid', { parameters: [{ name: 'topic', type: 'string' }], subAgents: [sub('chk-leaf')] }),
    agent('chk-leaf', { parameters: [trusted], actions: [{ name: 'save-it', description: 'Saves.' }] }),
  ]
  const { status, body, text } = await stage.witan.call<Check>('POST', '/api/v1/check', { body: { agents } })
  assert.equal(status, 200, text)
  assert.deepEqual(body.errors, [])
  assert.ok(
    body.handlers.some((path) => path.endsWith('chk-leaf/save-it')),
    text,
  )
  const row = body.matrix.find((entry) => entry.agent === 'chk-leaf' && entry.parameter === 'userId')
  assert.ok(row, text)
  assert.equal(row.shown, false)
  assert.equal(row.mayGenerate, false)
  const topic = body.matrix.find((entry) => entry.agent === 'chk-mid' && entry.parameter === 'topic')
  assert.equal(topic?.shown, true)
  assert.equal(topic?.mayGenerate, true)
})

test('the check names every error without saving anything [R04]', async () => {
  const agents = [agent('chk-bad', { subAgents: [sub('chk-nobody'), sub('chk-bad')] })]
  const { status, body, text } = await stage.witan.call<Check>('POST', '/api/v1/check', { body: { agents } })
  assert.equal(status, 200, text)
  const codes = body.errors.map((error) => error.code)
  assert.ok(codes.includes('AGENT_REF_UNKNOWN'), text)
  assert.ok(codes.includes('AGENT_SELF_REFERENCE'), text)
  assert.equal((await stage.witan.call('GET', '/api/v1/agents/chk-bad')).status, 404)
})
