/** Edges beyond the plain delegate, over HTTP: wrapped agents, shared history, overrides, and the list of what a delegate can do. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { assertEvents, assertNeverSaw, assertProblem, assertSaw, notices } from './support/claims.ts'
import { agent, createStage, type Stage, sub } from './support/stage.ts'
import { assertSystem, offered, spoken, toolContents } from './support/transcript.ts'

const key = 'cny_key_zx98cv76bn54mq32'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage?.close())

describe('an agent wrapped as a tool', () => {
  before(async () => {
    await stage.save(
      agent('desk', {
        parameters: [{ name: 'user', type: 'string' }],
        subAgents: [
          sub('clerk', { style: 'agentTool', description: 'Ask the clerk.', map: { id: 'user' } }),
          sub('poet', { style: 'agentTool', collect: 'all' }),
        ],
      }),
      agent('clerk', {
        parameters: [
          { name: 'id', type: 'string' },
          { name: 'topic', type: 'string' },
          { name: 'key', type: 'string', sendToModel: false, policy: 'forbidModelGeneration' },
        ],
        actions: [{ name: 'file-it', description: 'Files.' }],
      }),
      agent('poet'),
    )
  })

  test('it asks for one `request` beside what the model must supply, and is described in the edge’s words [K16] [K17]', async () => {
    stage.model.script('desk', { text: 'done' })
    await stage.ask('desk', 'hello', { parameters: { user: 'employees/3', key } })
    const [first] = stage.model.of('desk').slice(-1)
    assert.deepEqual(offered(first), [
      { name: 'clerk', properties: ['request', 'topic'], required: ['request', 'topic'] },
      { name: 'poet', properties: ['request'], required: ['request'] },
    ])
    const [clerk] = first?.body.tools ?? []
    assert.equal(clerk?.function.description, 'Ask the clerk.')
    const request = clerk?.function.parameters?.properties?.['request'] as { type: string } | undefined
    assert.equal(request?.type, 'string')
  })

  test('its result is text and error as one JSON value, byte for byte [K15] [K20] [K21]', async () => {
    const asked = stage.model.of('desk').length
    stage.model.on('desk', ({ nth }) =>
      nth === asked + 1
        ? {
            calls: [
              { name: 'clerk', args: { request: 'What is left?', topic: 'stock' } },
              { name: 'poet', args: { request: 'A line.' } },
            ],
          }
        : { text: 'done' },
    )
    stage.model.script('clerk', { calls: [{ name: 'file-it', args: {} }] }, { text: 'It is "filed".' })
    stage.model.script('poet', { text: 'Let me think.', calls: [{ name: 'muse', args: {} }] }, { text: 'A rose.' })
    const waiting = await stage.ask('desk', 'Who is my manager?', {
      id: 'chats/desk',
      parameters: { user: 'employees/3', key },
    })
    assert.equal(waiting.status, 'waiting')
    assert.equal(waiting.interruptions[0]?.path, 'clerk/file-it')
    const id = waiting.interruptions[0]?.id
    const result = await stage.run('chats/desk', { actionResponses: [{ id, response: 'ok' }] })
    assert.equal(result.text, 'done')
    const [clerk, poet] = toolContents(stage.model.of('desk').at(-1))
    assert.equal(clerk, '{"text":"It is \\"filed\\"."}')
    const { text, error, ...rest } = JSON.parse(poet ?? '') as { text: string; error: string }
    assert.equal(text, 'Let me think.\nA rose.')
    assert.match(error, /unknown tool muse/)
    assert.deepEqual(rest, {})
  })

  test('it hears the request unchanged, with its bound and supplied values; nothing hidden is seen [K17] [R30]', () => {
    const [first] = stage.model.of('clerk')
    assert.deepEqual(spoken(first), [{ user: 'What is left?' }])
    assertSystem(first, 'You are clerk.', ['id = "employees/3"', 'topic = "stock"', 'key: supplied by the system'])
    assertNeverSaw(stage.model.seen, key)
    assertSaw(stage.model.of('clerk'), 'employees/3')
  })

  test('its calls are children of the run, with derived invocation ids, and count as usage [K18] [K19]', async () => {
    const events = await stage.events('chats/desk')
    assertEvents(events)
    const starts = events.filter((event) => event.type === 'start' && event.kind === 'agent')
    const root = starts[0]?.callId
    assert.deepEqual(
      starts.map(({ invocationId }) => invocationId),
      [root, `${root}.sub.clerk`, `${root}.sub.poet`],
    )
    const document = await stage.document('chats/desk')
    const calls = document.messages.flatMap((message) => message.toolCalls)
    assert.deepEqual(calls[0]?.result, { text: 'It is "filed".' })
  })

  test('a failing model is an error beside an empty text [K21]', async () => {
    const asked = stage.model.of('desk').length
    stage.model.on('desk', ({ nth }) =>
      nth === asked + 1 ? { calls: [{ name: 'poet', args: { request: 'x' } }] } : { text: 'done' },
    )
    stage.model.on('poet', () => ({ status: 400, text: 'no more paper' }))
    const result = await stage.ask('desk', 'hello', { parameters: { user: 'employees/3', key } })
    assert.equal(result.status, 'completed')
    const [content] = toolContents(stage.model.of('desk').at(-1))
    const { text, error } = JSON.parse(content ?? '') as { text: string; error: string }
    assert.equal(text, '')
    assert.match(error, /play\/poet/)
  })

  test('the same agent as delegate and as tool is refused [E11] [E12]', async () => {
    const both = agent('both', { subAgents: [sub('poet'), sub('poet', { style: 'agentTool' })] })
    const answer = await stage.witan.call('PUT', '/api/v1/agents/both', { body: both })
    assertProblem(answer, { status: [409, 422], code: 'NAME_TAKEN', names: ['poet'] })
  })
})

test('a shared history is attributed text before the task, in one user message [C5] [C6] [T11]', async () => {
  await stage.save(
    agent('teller', { subAgents: [sub('listener', { history: 'shared' })] }),
    agent('listener', {
      parameters: [{ name: 'key', type: 'string', sendToModel: false, policy: 'forbidModelGeneration' }],
    }),
  )
  stage.model.script(
    'teller',
    { text: 'Hello.' },
    { text: 'Let me ask.', calls: [{ name: 'listener', args: { message: 'Sum it up.' } }] },
    { text: 'done' },
  )
  stage.model.script('listener', { text: 'All of it.' })
  await stage.ask('teller', `My key is ${key}.`, { id: 'chats/told', parameters: { key } })
  await stage.run('chats/told', { prompt: 'And now?' })
  const said = [
    '[from @user to @teller] My key is [hidden].',
    '[from @teller to @user] Hello.',
    '[from @user to @teller] And now?',
    '[from @teller to @user] Let me ask.',
    'Sum it up.',
  ]
  assert.deepEqual(spoken(stage.model.of('listener')[0]), [{ user: said.join('\n\n') }])
  const document = await stage.document('chats/told/listener')
  assert.deepEqual(
    document.messages.map(({ text }) => text),
    ['Sum it up.', 'All of it.'],
  )
})

test('another model and temperature for one delegation, from the edge’s list only [F14] [D22] [E45] [F08]', async () => {
  await stage.save(
    agent('chooser', {
      reasoningEffort: 'minimal',
      subAgents: [sub('worker', { overrides: { model: ['play/strong'], temperature: [0, 1] } })],
    }),
    agent('worker', { temperature: 0.3, reasoningEffort: 'high' }),
  )
  stage.model.script(
    'chooser',
    { calls: [{ name: 'worker', args: { message: 'one', model: 'play/strong', temperature: 0.75 } }] },
    { calls: [{ name: 'worker', args: { message: 'two', model: 'play/chooser' } }] },
    { calls: [{ name: 'worker', args: { message: 'three' } }] },
    { text: 'done' },
  )
  stage.model.script('strong', { text: 'one done' })
  stage.model.script('worker', { text: 'three done' })
  await stage.ask('chooser', 'hello', { id: 'chats/chosen' })
  const asked = ['chooser', 'strong', 'worker'].map((name) => {
    const { temperature, reasoning_effort } = JSON.parse(stage.model.of(name)[0]?.raw ?? '{}') as Record<
      string,
      unknown
    >
    return { name, temperature, reasoning_effort }
  })
  assert.deepEqual(asked, [
    { name: 'chooser', temperature: undefined, reasoning_effort: 'minimal' },
    { name: 'strong', temperature: 0.75, reasoning_effort: 'high' },
    { name: 'worker', temperature: 0.3, reasoning_effort: 'high' },
  ])
  assert.match(
    toolContents(stage.model.of('chooser')[2]).at(-1) ?? '',
    /^\{"error":".*`model`: expected one of play\/strong/,
  )
  assert.deepEqual(spoken(stage.model.of('worker')[0]), [{ user: 'one' }, { assistant: 'one done' }, { user: 'three' }])
  const events = await stage.events('chats/chosen')
  assert.deepEqual(notices(events, 'ARGUMENT_UNKNOWN_DROPPED'), [])
  const chosen = events.filter((event) => event.content['overrides'] !== undefined)
  assert.deepEqual(
    chosen.map(({ type, content }) => [type, content['overrides']]),
    [['start', { model: 'play/strong', temperature: 0.75 }]],
  )
})

test('a delegate’s description ends with what it can use, by name and description [Rb04]', async () => {
  await stage.save(
    agent('asker', { subAgents: [sub('able', { description: 'Knows the shop.' })] }),
    agent('able', {
      actions: [{ name: 'order-it', description: 'Orders.' }],
      subAgents: [sub('helper', { description: 'Helps.' })],
    }),
    agent('helper'),
  )
  stage.model.script('asker', { text: 'done' })
  await stage.ask('asker', 'hello')
  const [tool] = stage.model.of('asker')[0]?.body.tools ?? []
  assert.equal(tool?.function.description, 'Knows the shop.\n\nIt can use:\n- order-it: Orders.\n- helper: Helps.')
})
