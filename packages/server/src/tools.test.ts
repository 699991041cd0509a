/** Tools, previews and revisions over HTTP: who reads them, what they say, and what is refused. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Preview, RevisionLine, ServerTool, Trial, AgentTool } from '@witan/protocol/tools'
import { clerk, createStage, type Stage } from './testing/stage.ts'

let stage: Stage

async function asked<Body>(method: string, path: string, body?: unknown): Promise<Body> {
  const answer = await stage.call(method, `/api/v1${path}`, body === undefined ? {} : { body })
  assert.equal(answer.status, 200, answer.text)
  return answer.body as Body
}

async function refused(method: string, path: string, body?: unknown) {
  const { status, body: problem } = await stage.call(method, `/api/v1${path}`, body === undefined ? {} : { body })
  return [status, problem.code, problem.path]
}

describe('tools over HTTP', () => {
  before(async () => {
    stage = await createStage()
  })
  after(() => stage.close())

  test('an agent lists its tools of every kind', async () => {
    const { items } = await asked<{ items: AgentTool[] }>('GET', '/agents/boss/tools')
    assert.deepEqual(
      items.map(({ name, kind, of, effect, approval, offered, why }) => [
        name,
        kind,
        of,
        effect,
        approval,
        offered,
        why,
      ]),
      [['clerk', 'subAgent', 'clerk', null, 'never', true, null]],
    )
    const own = await asked<{ items: AgentTool[] }>('GET', '/agents/clerk/tools')
    assert.deepEqual(
      own.items.map(({ name, kind, effect, parameters }) => [name, kind, effect, parameters]),
      [
        [
          'ChangeName',
          'action',
          'once',
          { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false },
        ],
      ],
    )
  })

  test('the server lists its functions, with the agents that have each', async () => {
    await asked('PUT', '/agents/clerk', { ...clerk, tools: ['find_entry'] })
    const { items } = await asked<{ items: ServerTool[] }>('GET', '/tools?limit=1')
    assert.deepEqual(
      items.map(({ name, kind, timeoutMs, agents }) => [name, kind, timeoutMs, agents]),
      [['find_entry', 'function', 60_000, ['clerk']]],
    )
  })

  test('a preview shows the first request, and stores nothing', async () => {
    const parameters = { userId: 'u-1', country: 'DE' }
    const preview = await asked<Preview>('POST', '/agents/clerk/preview', { parameters })
    assert.equal(preview.system, 'You echo.\nuserId: supplied by the system\ncountry = "DE"')
    assert.deepEqual(preview.parameters, [
      { name: 'userId', shown: false, boundFrom: 'conversation', mayGenerate: false },
      { name: 'country', shown: true, boundFrom: 'conversation', mayGenerate: false },
    ])
    assert.deepEqual(preview.errors, [])
    const below = await asked<Preview>('POST', '/agents/clerk/preview', { below: 'boss' })
    assert.deepEqual(
      below.parameters.map(({ boundFrom, mayGenerate }) => [boundFrom, mayGenerate]),
      [
        ['model', true],
        ['model', true],
      ],
    )
    const bare = await asked<Preview>('POST', '/agents/clerk/preview')
    assert.deepEqual(
      bare.notices.map(({ code }) => code),
      ['PARAM_MISSING'],
    )
    assert.equal(((await stage.call('GET', '/api/v1/conversations')).body['items'] as unknown[]).length, 0)
  })

  test('a preview of a draft says what is wrong with it', async () => {
    const draft = { model: 'play/model', instructions: 'New.', tools: ['nothing'] }
    const preview = await asked<Preview>('POST', '/agents/fresh/preview', { draft })
    assert.deepEqual([preview.revision, preview.system], [null, 'New.'])
    assert.deepEqual(
      preview.errors.map(({ code, path }) => [code, path]),
      [['TOOL_UNKNOWN', 'tools.0']],
    )
    const broken = await asked<Preview>('POST', '/agents/fresh/preview', { draft: { model: 1, surprise: true } })
    assert.deepEqual(
      broken.errors.map(({ code }) => code),
      ['AGENT_INVALID', 'AGENT_INVALID', 'UNKNOWN_KEY'],
    )
    const flow = { workflow: { kind: 'loop', agents: ['clerk', 'boss'], maxIterations: 2 } }
    const steps = await asked<Preview>('POST', '/agents/fresh/preview', { draft: flow })
    assert.deepEqual(steps.steps, [
      { step: 1, agent: 'clerk', round: 1 },
      { step: 2, agent: 'boss', round: 1 },
    ])
  })

  test('a preview of what cannot be is refused by name', async () => {
    assert.deepEqual(await refused('POST', '/agents/nobody/preview', {}), [404, 'NOT_FOUND', null])
    assert.deepEqual(await refused('POST', '/agents/clerk/preview', { below: 'clerk/boss' }), [
      404,
      'NOT_FOUND',
      'below',
    ])
    assert.deepEqual(await refused('POST', '/agents/clerk/preview', { below: 'nobody' }), [404, 'NOT_FOUND', 'below'])
    assert.deepEqual(await refused('POST', '/agents/clerk/preview', { draft: { id: 'boss' } }), [
      422,
      'ID_INVALID',
      'draft.id',
    ])
    assert.deepEqual(await refused('POST', '/agents/clerk/preview', { draft: [] }), [422, 'BODY_INVALID', 'draft'])
    assert.deepEqual(await refused('POST', '/agents/clerk/preview', { parameters: { x: 1 } }), [
      422,
      'PARAM_UNKNOWN',
      'parameters.x',
    ])
    assert.deepEqual(await refused('POST', '/agents/clerk/preview', { toolMode: 'x' }), [
      422,
      'BODY_INVALID',
      'toolMode',
    ])
    assert.deepEqual(await refused('POST', '/agents/clerk/preview', { surprise: 1 }), [422, 'UNKNOWN_KEY', 'surprise'])
  })

  test('a tool is tried alone', async () => {
    const trial = await asked<Trial>('POST', '/agents/clerk/tools/find_entry/try', { parameters: { country: 'DE' } })
    assert.deepEqual([trial.status, trial.result], ['completed', 'found'])
    const path = '/agents/clerk/tools/ChangeName/try'
    assert.deepEqual(await refused('POST', path, { parameters: { country: 'DE' } }), [422, 'TOOL_NOT_TRIABLE', null])
    assert.deepEqual(await refused('POST', path), [422, 'PARAM_MISSING', 'parameters.country'])
    const unknown = '/agents/clerk/tools/none/try'
    assert.deepEqual(await refused('POST', unknown, { parameters: { country: 'DE' } }), [404, 'NOT_FOUND', null])
  })

  test('revisions say who changed what, newest first and page by page', async () => {
    await asked('PUT', '/agents/clerk', { ...clerk, tools: ['find_entry'], description: 'Echoes.' })
    const first = await asked<{ items: RevisionLine[]; nextCursor: string }>('GET', '/agents/clerk/revisions?limit=2')
    assert.deepEqual(
      first.items.map(({ revision, source, by, changed }) => [revision, source, by, changed]),
      [
        [3, 'data', 'user:local', ['description']],
        [2, 'data', 'user:local', ['tools']],
      ],
    )
    const rest = await asked<{ items: RevisionLine[]; nextCursor: null }>(
      'GET',
      `/agents/clerk/revisions?cursor=${first.nextCursor}`,
    )
    assert.deepEqual(
      [rest.items.map(({ revision, source, by, changed }) => [revision, source, by, changed]), rest.nextCursor],
      [[[1, 'code', null, []]], null],
    )
    const two = await asked<Record<string, unknown>>('GET', '/agents/clerk/revisions/2')
    assert.deepEqual([two['revision'], two['description'], two['tools']], [2, '', ['find_entry']])
    for (const n of ['0', '4', '01', '-1', 'x', '99999999999999999999', '1e3'])
      assert.deepEqual(await refused('GET', `/agents/clerk/revisions/${n}`), [404, 'NOT_FOUND', null], n)
    assert.deepEqual(await refused('GET', '/agents/clerk/revisions?cursor=99'), [422, 'BODY_INVALID', 'cursor'])
    assert.deepEqual(await refused('GET', '/agents/nobody/revisions'), [404, 'NOT_FOUND', null])
  })

  test('protocols have revisions too', async () => {
    const talk = { messages: [{ name: 'ask', from: 'initiator', schema: { type: 'object' } }] }
    await stage.call('PUT', '/api/v1/protocols/talk', { body: talk })
    await asked('PUT', '/protocols/talk', { ...talk, purpose: 'Words.' })
    const { items } = await asked<{ items: RevisionLine[] }>('GET', '/protocols/talk/revisions')
    assert.deepEqual(
      items.map(({ revision, changed }) => [revision, changed]),
      [
        [2, ['purpose']],
        [1, []],
      ],
    )
    const one = await asked<Record<string, unknown>>('GET', '/protocols/talk/revisions/1')
    assert.deepEqual([one['revision'], one['purpose']], [1, ''])
    assert.deepEqual(await refused('GET', '/protocols/none/revisions/1'), [404, 'NOT_FOUND', null])
  })
})
