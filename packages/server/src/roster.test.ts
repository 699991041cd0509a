/** Sub-agents and tools one by one, and direct runs, over a real runtime in memory. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Answer, createStage, readFrames, type Stage } from './testing/stage.ts'

let stage: Stage
const draft = (id: string, more: object = {}) => ({
  id,
  model: 'play/model',
  instructions: 'x',
  description: `Does ${id}.`,
  ...more,
})
const at = (id: string) => `/api/v1/agents/${id}`
const roster = (parent: string, id = '') => `${at(parent)}/subagents${id === '' ? '' : `/${id}`}`
const sending = (headers: Readonly<Record<string, string>>) => (method: string, path: string, body?: unknown) =>
  stage.call(method, path, { ...(body === undefined ? {} : { body }), headers })
const call = sending({})
const over = (revision: number) => sending({ 'if-match': `"${revision}"` })
const save = async (...agents: object[]) => {
  const saved = await call('POST', '/api/v1/agents/batch', { agents })
  assert.equal(saved.status, 200, saved.text)
}
const revisionOf = async (id: string) => (await call('GET', at(id))).body.revision as number
const listed = async (parent: string) => {
  const { body } = await call('GET', roster(parent))
  return (body.items as { edge: { agent: string; description: string } }[]).map(({ edge }) => edge)
}
const refused = (answer: Answer, status: number, code: string) =>
  assert.deepEqual([answer.status, answer.body.code], [status, code], answer.text)

describe('the roster of an agent', () => {
  before(async () => {
    stage = await createStage()
    await save(draft('chief'), draft('one'), draft('two'))
  })
  after(() => stage.close())

  test('[F12] [F44] an agent is assigned with its edge, given another one, listed, and taken out', async () => {
    const first = await call('PUT', roster('chief', 'one'), { description: 'First.' })
    assert.equal(first.status, 201, first.text)
    const { agent, edge, parent } = first.body as Record<string, Record<string, unknown>>
    assert.deepEqual([agent?.['id'], edge?.['description'], parent?.['id']], ['one', 'First.', 'chief'])
    assert.equal(first.headers.get('etag'), `"${parent?.['revision']}"`)
    assert.equal((await call('PUT', roster('chief', 'two'))).status, 201, 'an edge may be all defaults')
    const changed = await call('PUT', roster('chief', 'one'), { agent: 'one', description: 'Changed.' })
    assert.equal(changed.status, 200, changed.text)
    assert.deepEqual(
      (await listed('chief')).map((one) => [one.agent, one.description]),
      [
        ['one', 'Changed.'],
        ['two', ''],
      ],
    )
    const page = await call('GET', `${roster('chief')}?limit=1`)
    assert.equal((page.body.items as unknown[]).length, 1)
    const rest = await call('GET', `${roster('chief')}?limit=1&cursor=${page.body.nextCursor}`)
    assert.deepEqual(
      [(rest.body.items as { agent: { id: string } }[])[0]?.agent.id, rest.body.nextCursor],
      ['two', null],
    )
    const gone = await call('DELETE', roster('chief', 'one'))
    assert.deepEqual([gone.status, gone.text], [204, ''])
    assert.equal(gone.headers.get('etag'), `"${await revisionOf('chief')}"`)
    assert.deepEqual(
      (await listed('chief')).map((one) => one.agent),
      ['two'],
    )
    assert.equal((await call('GET', at('one'))).status, 200, 'the agent itself stays')
    refused(await call('DELETE', roster('chief', 'one')), 404, 'NOT_FOUND')
    for (const [method, body] of [['GET'], ['PUT', {}], ['DELETE']] as const)
      refused(await call(method, roster('nobody', method === 'GET' ? '' : 'one'), body), 404, 'NOT_FOUND')
  })

  test('[F12] a sub-agent is created and assigned together, or neither', async () => {
    const made = await call('POST', roster('chief'), { agent: draft('fresh'), edge: { description: 'Fresh.' } })
    assert.equal(made.status, 201, made.text)
    assert.ok((await listed('chief')).some((edge) => edge.agent === 'fresh' && edge.description === 'Fresh.'))
    assert.equal((await call('POST', roster('chief'), { agent: draft('plain') })).status, 201)
    const before = await revisionOf('chief')
    const bodies: [object, number, string][] = [
      [{ agent: draft('fresh') }, 409, 'AGENT_EXISTS'],
      [{ agent: draft('chief') }, 409, 'AGENT_EXISTS'],
      [{ agent: draft('Bad Id') }, 422, 'ID_INVALID'],
      [{ agent: draft('bad', { model: 'no/where' }) }, 422, 'MODEL_UNKNOWN'],
      [{ agent: draft('bad', { parents: ['other'] }) }, 422, 'PARENT_NOT_ALLOWED'],
      [{ agent: draft('bad'), edge: { descripton: 'x' } }, 422, 'UNKNOWN_KEY'],
      [{ agent: draft('bad'), edge: { agent: 'other' } }, 422, 'ID_INVALID'],
      [{ edge: {} }, 422, 'BODY_INVALID'],
    ]
    for (const [body, status, code] of bodies) refused(await call('POST', roster('chief'), body), status, code)
    const typo = await call('POST', roster('chief'), bodies[5]?.[0])
    assert.deepEqual([typo.body.path, typo.body.hint], ['edge.descripton', 'Did you mean `description`?'])
    assert.equal(await revisionOf('chief'), before)
    refused(await call('GET', at('bad')), 404, 'NOT_FOUND')
  })

  test('each change is a save: checked, with a revision of its own, over the one of If-Match', async () => {
    const before = await revisionOf('chief')
    refused(await call('PUT', roster('chief', 'nobody'), {}), 422, 'AGENT_REF_UNKNOWN')
    refused(await call('PUT', roster('chief', 'chief'), {}), 422, 'AGENT_SELF_REFERENCE')
    refused(await call('PUT', roster('chief', 'one'), { styl: 'x' }), 422, 'UNKNOWN_KEY')
    refused(await call('PUT', roster('chief', 'one'), { agent: 'two' }), 422, 'ID_INVALID')
    assert.equal(await revisionOf('chief'), before)
    const late = over(before - 1)
    refused(await late('PUT', roster('chief', 'one'), {}), 412, 'REVISION_MISMATCH')
    refused(await late('POST', roster('chief'), { agent: draft('late') }), 412, 'REVISION_MISMATCH')
    refused(await late('DELETE', roster('chief', 'two')), 412, 'REVISION_MISMATCH')
    refused(await call('GET', at('late')), 404, 'NOT_FOUND')
    const assigned = await over(before)('PUT', roster('chief', 'one'), {})
    assert.deepEqual([assigned.status, assigned.headers.get('etag')], [201, `"${before + 1}"`])
    const same = await call('PUT', roster('chief', 'one'), {})
    assert.deepEqual([same.status, same.headers.get('etag')], [200, `"${before + 1}"`], 'no change, no revision')
    await call('PUT', roster('one', 'chief'), {})
    const { warnings } = (await call('GET', at('one'))).body as { warnings: { code: string }[] }
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ['AGENT_CYCLE'],
    )
  })

  test('assignments at the same moment all stand', async () => {
    const ids = Array.from({ length: 12 }, (_, index) => `clone-${index}`)
    await save(draft('crowd'), ...ids.slice(0, 6).map((id) => draft(id)))
    const answers = await Promise.all([
      ...ids.slice(0, 6).map((id) => call('PUT', roster('crowd', id), {})),
      ...ids.slice(6).map((id) => call('POST', roster('crowd'), { agent: draft(id) })),
    ])
    for (const answer of answers) assert.equal(answer.status, 201, answer.text)
    assert.deepEqual((await listed('crowd')).map(({ agent }) => agent).sort(), ids.sort())
    const twins = await Promise.all([1, 2].map(() => call('POST', roster('crowd'), { agent: draft('twin') })))
    assert.deepEqual(twins.map(({ status }) => status).sort(), [201, 409])
  })

  test('[E11] one agent is listed once: a second edge to it is refused', async () => {
    const twice = draft('twice', {
      subAgents: [
        { agent: 'two', description: 'a' },
        { agent: 'two', description: 'b' },
      ],
    })
    refused(await call('PUT', at('twice'), twice), 422, 'NAME_TAKEN')
    await save(draft('left', { subAgents: [{ agent: 'lost' }] }), draft('lost'))
    await call('DELETE', `${at('lost')}?force=true`)
    const { items } = (await call('GET', roster('left'))).body as { items: { agent: null; edge: { agent: string } }[] }
    assert.deepEqual([items[0]?.agent, items[0]?.edge.agent], [null, 'lost'])
    refused(await call('POST', roster('left'), { agent: draft('lost') }), 422, 'NAME_TAKEN')
    assert.equal((await call('DELETE', roster('left', 'lost'))).status, 204)
  })

  test('[E10] [F06] an agent with `parents: []` is in no roster, and runs as the root of a conversation', async () => {
    await save(draft('alone', { parents: [] }), draft('wide', { subAgents: [{ agent: 'open' }] }), draft('open'))
    refused(await call('PUT', roster('chief', 'alone'), {}), 422, 'PARENT_NOT_ALLOWED')
    refused(await call('POST', roster('chief'), { agent: draft('hermit', { parents: [] }) }), 422, 'PARENT_NOT_ALLOWED')
    const closing = await call('PUT', at('open'), draft('open', { parents: [] }))
    refused(closing, 422, 'PARENT_NOT_ALLOWED')
    assert.deepEqual([closing.body.path, /`wide`/.test(closing.body.detail ?? '')], ['parents', true])
    assert.equal((await call('DELETE', roster('wide', 'open'))).status, 204)
    assert.equal((await call('PUT', at('open'), draft('open', { parents: [] }))).status, 200)
    refused(await call('POST', `${roster('chief', 'alone')}/run`, { prompt: 'x' }), 404, 'NOT_FOUND')
    const root = await call('POST', '/api/v1/conversations', { agent: 'alone', prompt: 'hello' })
    assert.equal((root.body.run as { text: string }).text, 'echo: hello')
    const { items } = (await call('GET', '/api/v1/agents?limit=200')).body as { items: { id: string }[] }
    assert.ok(items.some(({ id }) => id === 'alone'))
  })

  test('[F13] a tool is assigned and taken by its name, over the revision of If-Match', async () => {
    await save(draft('worker'))
    const tool = (name: string) => `${at('worker')}/tools/${name}`
    const before = await revisionOf('worker')
    refused(await call('PUT', tool('find_entri')), 422, 'TOOL_UNKNOWN')
    refused(await over(99)('PUT', tool('find_entry')), 412, 'REVISION_MISMATCH')
    const given = await over(before)('PUT', tool('find_entry'))
    assert.deepEqual(
      [given.status, given.body.tools, given.headers.get('etag')],
      [201, ['find_entry'], `"${before + 1}"`],
    )
    const again = await call('PUT', tool('find_entry'))
    assert.deepEqual([again.status, again.body.revision], [200, before + 1])
    refused(await over(before)('DELETE', tool('find_entry')), 412, 'REVISION_MISMATCH')
    const taken = await call('DELETE', tool('find_entry'))
    assert.deepEqual([taken.status, taken.headers.get('etag')], [204, `"${before + 2}"`])
    refused(await call('DELETE', tool('find_entry')), 404, 'NOT_FOUND')
    refused(await call('PUT', `${at('nobody')}/tools/find_entry`), 404, 'NOT_FOUND')
  })
})

describe('a direct run', () => {
  before(async () => {
    stage = await createStage()
  })
  after(() => stage.close())

  const paths = ['agents', 'agent'].map((root) => `/api/v1/${root}/boss/subagents/clerk/run`)
  const [path = ''] = paths
  const parameters = { country: 'France' }

  test('[F40] [F41] [F42] the sub-agent is the root of its own conversation, on both paths', async () => {
    const first = await call('POST', path, { prompt: 'hello', parameters })
    assert.deepEqual([first.status, first.body.text], [200, 'echo: hello'], first.text)
    const { conversationId } = first.body
    const more = await call('POST', paths[1] ?? '', { prompt: 'more', conversationId })
    assert.deepEqual([more.status, more.body.conversationId], [200, conversationId], more.text)
    const conversation = (await call('GET', `/api/v1/conversations/${encodeURIComponent(String(conversationId))}`)).body
    assert.deepEqual([conversation.agent, (conversation.runs as unknown[]).length], ['clerk', 2])
    const document = await call('GET', `/api/v1/documents/${conversationId}`)
    assert.deepEqual(
      (document.body.messages as { role: string; text: string }[]).map(({ role, text }) => `${role}: ${text}`),
      ['user: hello', 'assistant: echo: hello', 'user: more', 'assistant: echo: more'],
    )
  })

  test('it is streamed, left alone, resumed and keyed as every run is', async () => {
    const body = { prompt: 'take your time', parameters }
    const accept = { accept: 'text/event-stream' }
    const frames = await readFrames(await stage.fetch('POST', path, { body, headers: accept }))
    const deltas = frames.filter((frame) => frame.event === 'delta')
    assert.equal(deltas.map((frame) => JSON.parse(frame.data).content.text).join(''), 'echo: take your time')
    assert.equal(JSON.parse(frames.find((frame) => frame.event === 'start')?.data ?? '').agentPath, 'clerk')
    assert.deepEqual([frames.at(-1)?.event, JSON.parse(frames.at(-1)?.data ?? '').status], ['result', 'completed'])
    const left = await call('POST', path, { prompt: 'two', parameters, wait: false })
    assert.equal(left.status, 202)
    assert.deepEqual(Object.keys(left.body), ['runId', 'conversationId'])
    const waiting = await call('POST', path, { prompt: 'rename', parameters })
    const { conversationId, interruptions } = waiting.body as {
      conversationId: string
      interruptions: { id: string }[]
    }
    const actionResponses = [{ id: interruptions[0]?.id, response: 'ok' }]
    const resumed = await call('POST', path, { actionResponses, conversationId })
    assert.deepEqual([resumed.body.runId, resumed.body.status], [waiting.body.runId, 'completed'], resumed.text)
    const keyedCall = sending({ 'idempotency-key': 'direct-1' })
    const keyed = await keyedCall('POST', path, { prompt: 'once', parameters })
    const replay = await keyedCall('POST', path, { prompt: 'once', parameters })
    assert.deepEqual([replay.headers.get('idempotency-replayed'), replay.text], ['true', keyed.text])
  })

  test('[F40] a message that comes again under its messageId is said once', async () => {
    const body = { prompt: 'once', parameters, messageId: 'm-1' }
    const first = await call('POST', path, body)
    const again = await call('POST', path, body)
    assert.deepEqual([again.headers.get('idempotency-replayed'), again.text], ['true', first.text])
    const { conversationId } = first.body
    const there = await call('POST', path, { prompt: 'once', conversationId, messageId: 'm-1' })
    assert.deepEqual(
      [there.status, there.headers.get('idempotency-replayed')],
      [200, null],
      'an id is of one conversation',
    )
    const other = await call('POST', path, { ...body, prompt: 'twice' })
    refused(other, 422, 'IDEMPOTENCY_KEY_REUSED')
    assert.equal(other.body.path, 'messageId')
  })

  test('[F40] [F42] a conversation id that does not exist yet is created, and used again after that', async () => {
    const first = await call('POST', path, { prompt: 'one', parameters, conversationId: 'chats/chosen' })
    assert.deepEqual([first.status, first.body.conversationId], [200, 'chats/chosen'], first.text)
    const second = await call('POST', path, { prompt: 'two', conversationId: 'chats/chosen' })
    assert.deepEqual([second.status, second.body.conversationId], [200, 'chats/chosen'], second.text)
    const finished = await call('POST', path, { prompt: 'three', parameters, conversationId: 'direct/' })
    assert.match(String(finished.body.conversationId), /^direct\/.+/)
    const both = ['a', 'b'].map((prompt) => call('POST', path, { prompt, parameters, conversationId: 'chats/raced' }))
    for (const { status, text } of await Promise.all(both)) assert.equal(status, 200, text)
  })

  test('what is refused leaves no conversation behind', async () => {
    const foreign = (await call('POST', '/api/v1/conversations', { agent: 'boss' })).body.id
    const all = async () => ((await call('GET', '/api/v1/conversations?limit=200')).body.items as unknown[]).length
    const before = await all()
    const bodies: [object, number, string][] = [
      [{ prompt: 'x' }, 422, 'PARAM_MISSING'],
      [{ prompt: 'x', parameters: { ...parameters, town: 'Lyon' } }, 422, 'PARAM_UNKNOWN'],
      [{ prompt: 'x', parameters: { country: 3 } }, 422, 'PARAM_TYPE'],
      [{ parameters }, 400, 'RUN_INPUT_INVALID'],
      [{ parameters, actionResponses: [{ id: 'a', response: 1 }] }, 400, 'RUN_INPUT_INVALID'],
      [{ prompt: 'x', parameters, ifLastSeq: 4 }, 400, 'RUN_INPUT_INVALID'],
      [{ prompt: 'x', parameters, messageId: '' }, 422, 'BODY_INVALID'],
      [{ prompt: 'x', conversationId: foreign }, 409, 'CONVERSATION_AGENT_MISMATCH'],
      [{ actionResponses: [{ id: 'a', response: 1 }], conversationId: 'chats/nothing' }, 404, 'NOT_FOUND'],
      [{ prompt: 'x', parameters, conversationId: 'chats/nothing', ifLastSeq: 4 }, 404, 'NOT_FOUND'],
      [{ prompt: 'x', parameters, conversationId: 'no id' }, 422, 'ID_INVALID'],
      [{ prompt: 'x', conversationId: 'chats/nothing' }, 422, 'PARAM_MISSING'],
    ]
    for (const [body, status, code] of bodies) refused(await call('POST', path, body), status, code)
    refused(await call('POST', `${roster('clerk', 'boss')}/run`, { prompt: 'x' }), 404, 'NOT_FOUND')
    refused(await call('POST', `${roster('boss', 'nobody')}/run`, { prompt: 'x' }), 404, 'NOT_FOUND')
    assert.equal(await all(), before)
  })

  test('[E20] hidden trusted parameters must be given, since no parent hands them down', async () => {
    const userId = { name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' }
    await save(draft('desk', { subAgents: [{ agent: 'safe' }] }), draft('safe', { parameters: [userId] }))
    const safe = `${roster('desk', 'safe')}/run`
    const missing = await call('POST', safe, { prompt: 'x' })
    refused(missing, 422, 'PARAM_MISSING')
    assert.equal(missing.body.path, 'parameters.userId')
    const given = await call('POST', safe, {
      prompt: 'x',
      parameters: { userId: { value: 'u/1', sendToModel: false } },
    })
    assert.equal(given.status, 200, given.text)
    const more = await call('POST', safe, { prompt: 'y', conversationId: given.body.conversationId })
    assert.equal(more.status, 200, more.text)
    const started = await call('POST', '/api/v1/conversations', { agent: 'safe', prompt: 'x' })
    assert.equal(started.status, 201, 'a plain start leaves it to the author')
    refused(await call('POST', safe, { prompt: 'y', conversationId: started.body.id }), 422, 'PARAM_MISSING')
  })
})
