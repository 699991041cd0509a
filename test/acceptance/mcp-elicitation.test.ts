/** What MCP servers ask people for in the middle of a call, in the protocol of 2026: the run waits, nothing stays in memory, and answers are sent once. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { assertEvents, assertProblem, notices } from './support/claims.ts'
import type { Doing, Script } from './support/mcp-script.ts'
import {
  createMcpStage,
  createPlayed,
  everything,
  type Played,
  readBy,
  text,
  texts,
  toolErrors,
  user,
} from './support/mcp-stage.ts'
import { createGate } from './support/model-server.ts'
import { type Stage, until } from './support/stage.ts'
import type { Interruption, RunResult } from './support/wire.ts'

interface Field {
  id: string
  text: string
  freeText: boolean
  required: boolean
  options: { id: string }[]
}

interface Asked extends Omit<Interruption, 'questions'> {
  questions?: Field[]
  server?: string
  message?: string
  issuer?: string
  policy?: { kind: string; message: string; url?: string }
}

const userId = 'usr_eli_q1w2e3r4t5y6u7i8'
const hidden = { name: 'userId', type: 'string', sendToModel: false, policy: 'forbidModelGeneration' }
/** What a server asks, as it writes it. */
const asking = (method: string, params: object): Doing => ({
  raw: [
    `{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"input_required","inputRequests":{"a":${JSON.stringify({ method, params })}},"requestState":"s"}}`,
  ],
})
const form = (message: string, properties: object) =>
  asking('elicitation/create', { mode: 'form', message, requestedSchema: { type: 'object', properties } })
const name = { name: { type: 'string' } }
const about = { name: { type: 'string', title: userId, description: `like ${userId}` } }
const both = {
  a: {
    method: 'elicitation/create',
    params: { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: name } },
  },
  b: { method: 'elicitation/create', params: { mode: 'url', message: 'Go.', url: 'https://x.example/go' } },
}
const two = { result: { resultType: 'input_required', inputRequests: both, requestState: 's' } }
const calls: Record<string, Doing | Doing[]> = {
  sample: asking('sampling/createMessage', { messages: [], maxTokens: 5 }),
  nested: form('Where?', { place: { type: 'object', properties: name } }),
  script: asking('elicitation/create', { mode: 'url', message: 'Go.', url: 'javascript:alert(1)' }),
  again: { raw: ['{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"input_required","requestState":"more"}}'] },
  steps: [form('First?', name), form('Second?', name), { text: 'both' }],
  two: [two, { text: 'both' }],
  loses: [form('Who?', name), { hangs: true }],
  repeats: [form('Who?', name), { hangs: true }, { text: 'the second time' }],
  words: [form(`Are you ${userId}?`, about), { text: 'ok' }],
  values: [form('Which?', { name: { type: 'string', enum: [userId, 'other'] } }), { text: 'ok' }],
  page: [
    asking('elicitation/create', { mode: 'url', message: 'Go.', url: `https://x.example/?u=${userId}` }),
    { text: 'ok' },
  ],
}
const tools = Object.keys(calls).map((tool) => text(tool, { inputSchema: texts(['user_id']) }))
const raw: Script = { isModern: true, calls, tools }

let stage: Stage
let played: Played
before(async () => {
  played = await createPlayed()
  const silent = played.modern('silent', { ask: false })
  const wild = played.stdio('wild', raw, { effects: { repeats: 'keyed' } })
  stage = await createMcpStage({ trips: played.modern('trips'), silent, wild }, { store: 'file' })
})
after(async () => {
  await stage?.close()
  await played?.close()
})

const begin = async (
  id: string,
  tool: string,
  { server = 'trips', ...more }: Record<string, unknown> & { server?: string } = {},
): Promise<RunResult> => {
  await stage.save(user(id, server, more))
  stage.model.script(id, { calls: [{ name: `${server}_${tool}`, args: { trip: 'Oslo' } }] }, { text: 'done' })
  return stage.ask(id, 'go')
}
const askedBy = ({ status, interruptions, error }: RunResult): Asked => {
  assert.deepEqual([status, interruptions.length], ['waiting', 1], JSON.stringify(error))
  return interruptions[0] as Interruption & Asked
}
const answer = (id: string, body: object) =>
  stage.witan.call<Interruption>('POST', `/api/v1/interruptions/${id}/answer`, { body })
const ended = ({ conversationId }: RunResult) =>
  until(
    () => stage.conversation(conversationId),
    (now) => now.status === 'idle',
  )
/** What a tool of the server was called with, after its first call. */
const sent = (tool: string, server = 'trips') =>
  played
    .heard(server)
    .flatMap(({ message }) => (message.method === tool && message.params?.['answers'] !== null ? [message.params] : []))
const fitting = { seat: { options: ['aisle'] }, bags: { text: '2' }, meal: { options: ['true'] } }

describe('a form', () => {
  test('is a question to people, with the words of the server, and no model reads it', async () => {
    const run = await begin('reader', 'book')
    const asked = askedBy(run)
    assert.deepEqual([asked.kind, asked.server, asked.message], ['question', 'trips', 'Which seat?'])
    assert.equal(asked.path, 'trips_book')
    assert.deepEqual(
      asked.questions?.map(({ id, text: asks, options, freeText, required }) => [
        id,
        asks,
        options.map((one) => one.id),
        freeText,
        required,
      ]),
      [
        ['seat', 'Seat', ['aisle', 'window'], false, true],
        ['bags', 'How many bags?', [], true, false],
        ['meal', 'A meal?', ['true', 'false'], false, true],
        ['note', 'note', [], true, false],
      ],
    )
    const events = await stage.events(run.conversationId)
    const [event] = events.filter(({ type }) => type === 'question_required')
    assert.equal(event?.content['server'], 'trips')
    assert.equal((await answer(asked.id, { answer: fitting })).status, 200)
    await ended(run)
    assert.deepEqual(JSON.parse(readBy(stage, 'reader')[0] ?? ''), {
      form: { action: 'accept', content: { seat: 'aisle', bags: 2, meal: true } },
    })
    for (const { raw } of stage.model.of('reader')) assert.equal(raw.includes('Which seat?'), false)
    assertEvents(await stage.events(run.conversationId))
  })

  test('takes no answer that does not fit, and then one that does', async () => {
    const run = await begin('corrected', 'book')
    const { id } = askedBy(run)
    const wrong: object[] = [
      { ...fitting, seat: { options: ['roof'] } },
      { ...fitting, bags: { text: 'many' } },
      { ...fitting, bags: { text: '9' } },
      { seat: { options: ['aisle'] } },
      { ...fitting, meal: { text: 'yes' } },
    ]
    for (const given of wrong)
      assertProblem(await answer(id, { answer: given }), { status: 422, code: 'ANSWER_INVALID' })
    assert.equal((await stage.conversation(run.conversationId)).status, 'waiting')
    const more = { answers: [{ id, answer: { ...fitting, note: { text: 'by the door' } } }] }
    assert.equal((await stage.run(run.conversationId, more)).text, 'done')
    const { form } = JSON.parse(readBy(stage, 'corrected')[0] ?? '') as { form: { content: object } }
    assert.deepEqual(form.content, { seat: 'aisle', bags: 2, meal: true, note: 'by the door' })
  })

  test('can be declined', async () => {
    const run = await begin('declining', 'book')
    const { id } = askedBy(run)
    assert.equal((await answer(id, { answer: { decision: 'declined' } })).status, 200)
    await ended(run)
    assert.deepEqual(JSON.parse(readBy(stage, 'declining')[0] ?? ''), { form: { action: 'decline' } })
  })

  test('is answered by nobody in time: the server gets a cancel', async () => {
    const run = await begin('late', 'book', { interruptionExpiresInSeconds: 1 })
    const { id, expiresAt } = askedBy(run)
    assert.equal(typeof expiresAt, 'string')
    await ended(run)
    assert.deepEqual(JSON.parse(readBy(stage, 'late')[0] ?? ''), { form: { action: 'cancel' } })
    assertProblem(await answer(id, { answer: fitting }), { status: 410, code: 'QUESTION_EXPIRED' })
  })

  test('ends with its run', async () => {
    const before = sent('book').length
    const run = await begin('stopped', 'book')
    const { id } = askedBy(run)
    assert.equal((await stage.witan.call('POST', `/api/v1/runs/${run.runId}/cancel`, { body: {} })).status, 202)
    await ended(run)
    const late = await answer(id, { answer: fitting })
    assert.ok(late.status >= 400 && late.status < 500, late.text)
    const after = sent('book').slice(before)
    assert.ok(
      after.every((params) => JSON.stringify(params).includes('"cancel"')),
      JSON.stringify(after),
    )
  })
})

describe('a form over the death of the process', () => {
  test('is answered in the next one, and the answer is sent once with the state of the server', async () => {
    const before = sent('book').length
    const run = await begin('survivor', 'book')
    const { id } = askedBy(run)
    await stage.witan.kill()
    await stage.witan.start()
    const waiting = await stage.conversation(run.conversationId)
    assert.deepEqual([waiting.status, waiting.interruptions.map((open) => open.id)], ['waiting', [id]])
    const two = await Promise.all([answer(id, { answer: fitting }), answer(id, { answer: fitting })])
    for (const { status, text: said } of two) assert.equal(status, 200, said)
    await ended(run)
    const calls = sent('book').slice(before)
    assert.equal(calls.length, 1, JSON.stringify(calls))
    assert.equal(calls[0]?.['state'], 'state of book')
    assert.deepEqual(calls[0]?.['args'], { trip: 'Oslo' })
    assert.deepEqual(JSON.parse(readBy(stage, 'survivor')[0] ?? ''), {
      form: { action: 'accept', content: { seat: 'aisle', bags: 2, meal: true } },
    })
    const { runs } = await stage.conversation(run.conversationId)
    assert.deepEqual(
      runs.map(({ runId, status }) => [runId, status]),
      [[run.runId, 'completed']],
    )
    assertEvents(await stage.events(run.conversationId))
  })

  test('is not sent again if the process dies after it was answered', async () => {
    const before = sent('book').length
    const gate = createGate()
    await stage.save(user('twice', 'trips'))
    stage.model.on('twice', ({ nth }) =>
      nth === 1
        ? { calls: [{ name: 'trips_book', args: {} }] }
        : nth === 2
          ? { text: 'never heard', hold: gate }
          : { text: 'done' },
    )
    const run = await stage.ask('twice', 'go')
    await answer(askedBy(run).id, { answer: fitting })
    await gate.entered
    await stage.witan.kill()
    gate.open()
    await stage.witan.start()
    await ended(run)
    assert.equal(sent('book').slice(before).length, 1)
  })
})

describe('an address to go to', () => {
  test('is a demand of the server, which a person meets or declines', async () => {
    const run = await begin('signer', 'sign')
    const asked = askedBy(run)
    assert.deepEqual(
      [asked.kind, asked.issuer, asked.policy],
      ['policy', 'mcp:trips', { kind: 'unauthorized', message: 'Sign in.', url: 'https://shop.example/sign?x=1' }],
    )
    assert.equal((await answer(asked.id, { answer: { resolution: {} } })).status, 200)
    await ended(run)
    assert.deepEqual(JSON.parse(readBy(stage, 'signer')[0] ?? ''), { page: { action: 'accept' } })
    const other = await begin('refuser', 'sign')
    await answer(askedBy(other).id, { answer: { decision: 'declined' } })
    await ended(other)
    assert.deepEqual(JSON.parse(readBy(stage, 'refuser')[0] ?? ''), { page: { action: 'decline' } })
  })
})

describe('what a server may not ask', () => {
  const rows: [what: string, tool: string][] = [
    ['a form of more than twenty fields', 'wide'],
    ['an address that is not https', 'plain'],
    ['a model', 'sample'],
  ]
  for (const [what, tool] of rows)
    test(`is ${what}: nobody is asked, and the call ends`, async () => {
      const run = await begin(`refused-${tool}`, tool)
      assert.deepEqual([run.status, run.text, run.interruptions], ['completed', 'done', []], JSON.stringify(run.error))
      const events = await stage.events(run.conversationId)
      const codes = [...toolErrors(events), ...notices(events, 'MCP_REQUEST_REFUSED').map(() => 'notice')]
      assert.ok(codes.length > 0, 'an error of the call, or a notice')
      assert.ok(
        codes.every((code) => code === 'MCP_REQUEST_REFUSED' || code === 'notice'),
        JSON.stringify(codes),
      )
      assertEvents(events)
    })

  test('is anything, if the configuration forbids it', async () => {
    const run = await begin('unasked', 'book', { server: 'silent' })
    assert.deepEqual([run.status, run.interruptions], ['completed', []], JSON.stringify(run.error))
    assert.equal(toolErrors(await stage.events(run.conversationId)).length, 1)
  })
})

describe('a server that asks as it likes', () => {
  const wild = { server: 'wild' }
  const callsOf = (tool: string) => played.calls('wild').filter((call) => call.tool === tool)
  for (const tool of ['sample', 'nested', 'script', 'again'])
    test(`gets no answer to ${tool}, and the run goes on`, async () => {
      const run = await begin(`wild-${tool}`, tool, wild)
      assert.deepEqual([run.status, run.interruptions], ['completed', []], JSON.stringify(run.error))
      const events = await stage.events(run.conversationId)
      const refused = [...toolErrors(events), ...notices(events, 'MCP_REQUEST_REFUSED')]
      assert.ok(refused.length > 0, 'an error of the call, or a notice')
      if (tool !== 'again') assert.ok(JSON.stringify(events).includes('MCP_REQUEST_REFUSED'))
      assert.ok(callsOf(tool).length < 20, `called ${callsOf(tool).length} times`)
      assertEvents(events)
    })

  test('asks once more after an answer, and each is answered once', async () => {
    const run = await begin('stepper', 'steps', wild)
    const first = askedBy(run)
    const second = await stage.run(run.conversationId, {
      answers: [{ id: first.id, answer: { name: { text: 'one' } } }],
    })
    const next = askedBy(second)
    assert.deepEqual([first.message, next.message, first.id === next.id], ['First?', 'Second?', false])
    const done = await stage.run(run.conversationId, { answers: [{ id: next.id, answer: { name: { text: 'two' } } }] })
    assert.deepEqual([done.status, done.runId, readBy(stage, 'stepper')], ['completed', run.runId, ['both']])
    const answers = callsOf('steps').map(({ message }) => JSON.stringify(message.params?.['inputResponses'] ?? null))
    assert.equal(answers.length, 3)
    assert.ok(answers[0] === 'null' && answers[1]?.includes('"one"') && answers[2]?.includes('"two"'), answers.join())
    assert.equal(answers[2]?.includes('"one"'), false)
  })

  test('asks two things at once, and is answered when both are', async () => {
    const run = await begin('both-asked', 'two', wild)
    assert.deepEqual(run.interruptions.map(({ kind }) => kind).sort(), ['policy', 'question'])
    const [form, page] = ['question', 'policy'].map(
      (kind) => run.interruptions.find((one) => one.kind === kind)?.id ?? '',
    )
    await answer(page ?? '', { answer: { resolution: {} } })
    assert.equal((await stage.conversation(run.conversationId)).status, 'waiting')
    assert.equal(callsOf('two').length, 1)
    await answer(form ?? '', { answer: { name: { text: 'me' } } })
    await ended(run)
    assert.deepEqual(callsOf('two')[1]?.message.params?.['inputResponses'], {
      a: { action: 'accept', content: { name: 'me' } },
      b: { action: 'accept' },
    })
  })

  const killed = async (id: string, tool: string) => {
    const run = await begin(id, tool, wild)
    await answer(askedBy(run).id, { answer: { name: { text: 'me' } } })
    await until(
      async () => callsOf(tool),
      (all) => all.length === 2,
    )
    stage.model.on(id, () => ({ text: 'done' }))
    await stage.witan.kill()
    await stage.witan.start()
    await ended(run)
    return stage.events(run.conversationId)
  }

  test('and has the answer when the process dies is not called again if that may happen once only', async () => {
    assert.deepEqual(toolErrors(await killed('loser', 'loses')), ['OUTCOME_UNKNOWN'])
    assert.equal(callsOf('loses').length, 2)
  })

  test('and has it is called again with the same answer if that may be repeated', async () => {
    assert.deepEqual(toolErrors(await killed('repeater', 'repeats')), [])
    const [, second, third] = callsOf('repeats').map(({ message }) => message.params?.['inputResponses'])
    assert.deepEqual(third, second)
    assert.equal(callsOf('repeats').length, 3)
    assert.deepEqual(readBy(stage, 'repeater'), ['the second time'])
  })

  for (const tool of ['words', 'values', 'page'])
    test(`writes a value that was bound into what it asks, and nobody reads it: ${tool}`, async () => {
      const id = `bound-${tool}`
      await stage.save(user(id, 'wild', { use: { bind: { user_id: 'userId' } }, parameters: [hidden] }))
      stage.model.on(id, ({ nth }) => (nth === 1 ? { calls: [{ name: `wild_${tool}`, args: {} }] } : { text: 'done' }))
      const run = await stage.ask(id, 'go', { parameters: { userId } })
      assert.deepEqual((callsOf(tool)[0]?.args as { user_id?: string })?.user_id, userId)
      const listed = await stage.witan.call('GET', '/api/v1/interruptions?state=open')
      const all = (await everything(stage, run)) + listed.text + stage.witan.output + JSON.stringify(run)
      await stage.witan.call('POST', `/api/v1/runs/${run.runId}/cancel`, { body: {} })
      assert.equal(all.includes(userId), false)
    })
})
