/** Guardrails over the API: what is checked before an agent reads it, before anybody reads what it says, and what is never stored. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { assertNeverSaw, assertProblem, assertSaw, notices } from './support/claims.ts'
import { hand, transfer } from './support/handing.ts'
import { createGate } from './support/model-server.ts'
import { agent, createStage, segment, type Stage, sub, until } from './support/stage.ts'
import type { RunResult } from './support/wire.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage?.close())

const card = '4111 1111 1111 1111'
const digits = { name: 'cards', kind: 'pattern', pattern: '(?:\\d ?){13,16}' }
const refusing = { ...digits, action: 'refuse', message: 'No card numbers, please.' }
const redacting = { ...digits, action: 'redact' }
const flagging = { ...digits, action: 'flag' }
const guarded = (id: string, guardrails: object, more: object = {}) => agent(id, { guardrails, ...more })
const refusedWith = (run: RunResult, words = 'No card numbers, please.') => {
  assert.equal(run.status, 'failed', JSON.stringify(run))
  assert.deepEqual([run.error?.code, run.error?.detail], ['GUARDRAIL_REFUSED', words])
}
const hits = async (conversation: string) =>
  notices(await stage.events(conversation), 'GUARDRAIL_HIT').map(({ content, agentPath }) => {
    const { name, action } = content as { name?: string; action?: string }
    return { name, action, agentPath }
  })
/** Everything that a reader of the conversation can get. */
const readable = async (conversation: string) => {
  const events = await stage.events(conversation)
  const documents = await Promise.all(
    [conversation, ...new Set(events.map((one) => one.document))].map((path) => stage.document(path)),
  )
  const raw = await stage.witan.call('GET', `/api/v1/conversations/${segment(conversation)}`)
  return JSON.stringify({ events, documents }) + raw.text
}
const waitFor = (conversation: string, count: number) =>
  until(
    () => stage.events(conversation),
    (events) => events.filter(({ type, author }) => type === 'message' && author === 'user').length >= count,
  )

describe('a message that begins the work of an agent', () => {
  test('is refused before its model is asked, and no later run reads it', async () => {
    await stage.save(guarded('strict', { input: [refusing] }))
    const run = await stage.ask('strict', `Pay with ${card}.`)
    refusedWith(run)
    assert.deepEqual(stage.model.of('strict'), [])
    assert.deepEqual(await hits(run.conversationId), [{ name: 'cards', action: 'refuse', agentPath: 'strict' }])
    const [{ content } = { content: {} }] = notices(await stage.events(run.conversationId), 'GUARDRAIL_HIT')
    assert.equal(JSON.stringify(content).includes('4111'), false)
    stage.model.script('strict', { text: 'Hello.' })
    assert.equal((await stage.run(run.conversationId, { prompt: 'Hello?' })).text, 'Hello.')
    assertNeverSaw(stage.model.of('strict'), '4111')
  })

  test('is redacted before it is stored, and each later check reads what the earlier ones left', async () => {
    const second = { name: 'marks', kind: 'pattern', pattern: '\\[removed\\]', action: 'flag' }
    await stage.save(guarded('clean', { input: [redacting, second] }))
    stage.model.script('clean', { text: 'Done.' })
    const run = await stage.ask('clean', `Pay ${card}, or ${card}.`)
    assert.equal(run.text, 'Done.')
    assertSaw(stage.model.of('clean'), 'Pay [removed], or [removed].')
    assert.equal((await readable(run.conversationId)).includes('4111'), false)
    assert.deepEqual(
      (await hits(run.conversationId)).map(({ action }) => action),
      ['redact', 'flag'],
    )
  })

  test('is flagged, and read as it is', async () => {
    await stage.save(guarded('watching', { input: [flagging] }))
    stage.model.script('watching', { text: 'Seen.' })
    const run = await stage.ask('watching', `Pay ${card}.`)
    assert.equal(run.text, 'Seen.')
    assertSaw(stage.model.of('watching'), card)
    assert.deepEqual(await hits(run.conversationId), [{ name: 'cards', action: 'flag', agentPath: 'watching' }])
  })

  test('comes from a parent: a refusal is an error that its model reads, and a redaction is never read', async () => {
    await stage.save(
      agent('boss', { subAgents: [sub('guarded-one'), sub('guarded-two')] }),
      guarded('guarded-one', { input: [refusing] }),
      guarded('guarded-two', { input: [redacting] }),
    )
    const ask = (name: string) => ({ name, args: { message: `Pay ${card}.` } })
    stage.model.script('boss', { calls: [ask('guarded-one'), ask('guarded-two')] }, { text: 'All done.' })
    stage.model.script('guarded-two', { text: 'Paid.' })
    const run = await stage.ask('boss', 'Pay.')
    assert.equal(run.text, 'All done.')
    assert.deepEqual(stage.model.of('guarded-one'), [])
    assertSaw(stage.model.of('guarded-two'), 'Pay [removed].')
    assertNeverSaw(stage.model.of('guarded-two'), '4111')
    assertSaw(stage.model.of('boss').slice(1), 'No card numbers, please.')
    assert.deepEqual((await hits(run.conversationId)).map(({ agentPath, action }) => `${agentPath} ${action}`).sort(), [
      'boss/guarded-one refuse',
      'boss/guarded-two redact',
    ])
  })

  test('comes with a hand-over: what is not to be read is not read', async () => {
    await stage.save(agent('front', { transfers: [transfer('back')] }), guarded('back', { input: [refusing] }))
    stage.model.script('front', { calls: [hand('back')] })
    const run = await stage.ask('front', `Pay ${card}.`)
    refusedWith(run)
    assert.deepEqual(stage.model.of('back'), [])
  })
})

describe('a message that joins the work of an agent', () => {
  const begun = async (id: string, check: object) => {
    const gate = createGate()
    await stage.save(guarded(id, { input: [check] }))
    stage.model.script(id, { text: 'first', hold: gate }, { text: 'second' })
    const { id: conversation } = await stage.begin(id)
    const first = stage.run(conversation, { prompt: 'Hello.' })
    await gate.entered
    const joined = stage.run(conversation, { prompt: `Pay ${card}.`, onActive: 'enqueue' })
    await waitFor(conversation, 2)
    gate.open()
    return { conversation, results: await Promise.all([first, joined]) }
  }

  test('is refused before it is read: the run fails, and no later one reads it', async () => {
    const { conversation, results } = await begun('strict-joined', refusing)
    for (const run of results) refusedWith(run)
    assertNeverSaw(stage.model.of('strict-joined'), '4111')
    await stage.run(conversation, { prompt: 'Again.' })
    assertNeverSaw(stage.model.of('strict-joined'), '4111')
  })

  test('is redacted before it is stored', async () => {
    const { conversation, results } = await begun('clean-joined', redacting)
    for (const run of results) assert.equal(run.text, 'second')
    assertSaw(stage.model.of('clean-joined'), 'Pay [removed].')
    assert.equal((await readable(conversation)).includes('4111'), false)
    assert.deepEqual(await hits(conversation), [{ name: 'cards', action: 'redact', agentPath: 'clean-joined' }])
  })

  test('is flagged once', async () => {
    const { conversation } = await begun('watching-joined', flagging)
    assert.deepEqual(await hits(conversation), [{ name: 'cards', action: 'flag', agentPath: 'watching-joined' }])
  })
})

describe('what an agent says', () => {
  test('is refused once, asked for again with the message, and stands nowhere', async () => {
    await stage.save(guarded('leaky', { output: [refusing] }))
    stage.model.script('leaky', { text: `It is ${card}.` }, { text: 'I may not say.' })
    const run = await stage.ask('leaky', 'What is the number?')
    assert.equal(run.text, 'I may not say.')
    assertSaw(stage.model.of('leaky').slice(1), 'No card numbers, please.')
    assertNeverSaw(stage.model.of('leaky'), '4111')
    assert.equal((await readable(run.conversationId)).includes('4111'), false)
    assert.deepEqual(await hits(run.conversationId), [{ name: 'cards', action: 'refuse', agentPath: 'leaky' }])
  })

  test('is refused twice: the call fails', async () => {
    await stage.save(guarded('stubborn', { output: [refusing] }))
    stage.model.script('stubborn', { text: card }, { text: `Still ${card}.` })
    const run = await stage.ask('stubborn', 'What is the number?')
    refusedWith(run)
    assert.equal((await readable(run.conversationId)).includes('4111'), false)
    assert.equal(JSON.stringify(run).includes('4111'), false)
  })

  test('is redacted: nobody reads it as it was, and neither does its own model', async () => {
    await stage.save(guarded('masked', { output: [redacting] }))
    stage.model.script('masked', { text: `It is ${card}.` }, { text: 'As I said.' })
    const run = await stage.ask('masked', 'What is the number?')
    assert.equal(run.text, 'It is [removed].')
    await stage.run(run.conversationId, { prompt: 'Pardon?' })
    assert.equal((await readable(run.conversationId)).includes('4111'), false)
    assertNeverSaw(stage.model.of('masked'), '4111')
  })

  test('is not streamed before it is checked', async () => {
    await stage.save(guarded('streaming', { output: [refusing] }))
    stage.model.script('streaming', { text: `It is ${card} indeed.`, pieces: 8 }, { text: 'I may not say.', pieces: 4 })
    const { id } = await stage.begin('streaming')
    const frames: string[] = []
    const path = `/api/v1/conversations/${segment(id)}/runs`
    const { frames: live } = await stage.witan.stream('POST', path, { body: { prompt: 'What is the number?' } })
    for await (const frame of live) frames.push(JSON.stringify(frame))
    const all = frames.join('\n')
    assert.ok(all.includes('I may not say.'))
    assert.equal(all.includes('4111'), false)
    assert.equal(all.includes('"delta"'), false)
  })

  test('is refused to a parent as an error', async () => {
    await stage.save(agent('asking', { subAgents: [sub('telling')] }), guarded('telling', { output: [refusing] }))
    stage.model.script('asking', { calls: [{ name: 'telling', args: { message: 'Tell.' } }] }, { text: 'No.' })
    stage.model.script('telling', { text: card }, { text: card })
    const run = await stage.ask('asking', 'Tell.')
    assert.equal(run.text, 'No.')
    assertSaw(stage.model.of('asking').slice(1), 'No card numbers, please.')
    assertNeverSaw(stage.model.of('asking'), '4111')
  })

  test('is said by another after a hand-over, and checked all the same', async () => {
    await stage.save(guarded('counter', { output: [refusing] }, { transfers: [transfer('clerk')] }), agent('clerk'))
    stage.model.script('counter', { calls: [hand('clerk')] })
    stage.model.script('clerk', { text: card }, { text: 'I may not say.' })
    const run = await stage.ask('counter', 'Tell.')
    assert.equal(run.text, 'I may not say.')
    assert.equal((await readable(run.conversationId)).includes('4111'), false)
  })

  const outputSchema = {
    type: 'object',
    properties: { price: { type: 'number' }, note: { type: 'string' } },
    required: ['price'],
  }
  const cheap = {
    name: 'cheap',
    kind: 'schema',
    schema: { properties: { price: { maximum: 100 } } },
    message: 'At most 100.',
  }
  for (const outputMode of ['response_format', 'tool'])
    test(`has a structured form, which is checked too (${outputMode})`, async () => {
      const id = `priced-${outputMode.replace('_', '-')}`
      await stage.save(guarded(id, { output: [cheap, redacting] }, { outputSchema, outputMode }))
      const given = (price: number, note = 'x') => {
        const output = { price, note }
        return outputMode === 'tool'
          ? [{ text: 'Here it is.' }, { calls: [{ name: 'set_output', args: output }] }]
          : [{ text: JSON.stringify(output) }]
      }
      stage.model.script(id, ...given(500), ...given(50, `by ${card}`), ...given(500), ...given(600))
      const run = await stage.ask(id, 'A price?')
      assert.deepEqual(run.output, { price: 50, note: 'by [removed]' }, JSON.stringify(run.error))
      assertSaw(stage.model.of(id).slice(1), 'At most 100.')
      refusedWith(await stage.run(run.conversationId, { prompt: 'Again?' }), 'At most 100.')
      assert.equal((await readable(run.conversationId)).includes('4111'), false)
    })
})

describe('guardrails that cannot be used', () => {
  const save = (body: object) => stage.witan.call('PUT', `/api/v1/agents/broken`, { body })
  const cases: [string, object, object, string][] = [
    ['a pattern that is none', { input: [{ ...digits, pattern: '(' }] }, {}, 'guardrails.input.0.pattern'],
    ['a look-around', { output: [{ ...digits, pattern: '(?<=a)b' }] }, {}, 'guardrails.output.0.pattern'],
    [
      'a schema without a structured output',
      { output: [{ name: 's', kind: 'schema', schema: {} }] },
      {},
      'guardrails.output.0.schema',
    ],
    [
      'a schema that nobody can read',
      { output: [{ name: 's', kind: 'schema', schema: { type: 'flower' } }] },
      { outputSchema: { type: 'object' } },
      'guardrails.output.0.schema',
    ],
  ]
  for (const [what, guardrails, more, path] of cases)
    test(`are refused with a save: ${what}`, async () => {
      const answer = await save(guarded('broken', guardrails, more))
      assertProblem(answer, { status: 422, code: 'GUARDRAIL_INVALID' })
      assert.ok(String((answer.body as { path: string }).path).includes(path), answer.text)
    })

  test('are refused by their form: a schema of input, a name that is there twice, an unknown action', async () => {
    for (const guardrails of [
      { input: [{ name: 's', kind: 'schema', schema: {} }] },
      { input: [digits, digits] },
      { input: [{ ...digits, action: 'burn' }] },
    ])
      assertProblem(await save(guarded('broken', guardrails)), { status: 422 })
  })
})

describe('an agent that checks', () => {
  const asking = (agentId: string, more: object = {}) => ({ name: 'judge', kind: 'agent', agent: agentId, ...more })
  const allow = { text: '{"allow":true,"reason":"fine"}' }
  const deny = { text: '{"allow":false,"reason":"It says 4111."}' }

  test('reads the text alone, and lets a message and an answer pass', async () => {
    await stage.save(guarded('checked', { input: [asking('judge')], output: [asking('judge')] }), agent('judge'))
    stage.model.script('judge', allow, allow)
    stage.model.script('checked', { text: 'Hello to you.' })
    const run = await stage.ask('checked', 'Hello.')
    assert.equal(run.text, 'Hello to you.', JSON.stringify(run.error))
    const questions = stage.model.of('judge').map(({ body }) => String(body.messages.at(-1)?.content))
    assert.ok(questions[0]?.includes('{"text":"Hello."}'), questions[0])
    assert.ok(questions[1]?.includes('{"text":"Hello to you."}'), questions[1])
    assert.equal(JSON.stringify(stage.model.of('judge')[1]?.body.messages).includes('\\"Hello.\\"'), false)
    assert.deepEqual(await hits(run.conversationId), [])
    assert.equal(run.usage.modelCalls, 3)
    const paths = (await stage.events(run.conversationId)).map(({ agentPath }) => agentPath)
    assert.ok(paths.includes('checked/judge'))
  })

  test('refuses a message before its model is asked, and no later run reads it', async () => {
    await stage.save(
      guarded('closed', { input: [asking('judge-closed', { message: 'Not here.' })] }),
      agent('judge-closed'),
    )
    stage.model.script('judge-closed', deny, allow)
    const run = await stage.ask('closed', `Pay ${card}.`)
    refusedWith(run, 'Not here.')
    assert.deepEqual(stage.model.of('closed'), [])
    assert.deepEqual(await hits(run.conversationId), [{ name: 'judge', action: 'refuse', agentPath: 'closed' }])
    stage.model.script('closed', { text: 'Hello.' })
    assert.equal((await stage.run(run.conversationId, { prompt: 'Hello?' })).text, 'Hello.')
    assertNeverSaw(stage.model.of('closed'), '4111')
  })

  test('refuses an answer once; the next one stands, and nobody reads the first', async () => {
    await stage.save(
      guarded('retold', { output: [asking('judge-retold', { message: 'Not so.' })] }),
      agent('judge-retold'),
    )
    stage.model.script('retold', { text: `It is ${card}.`, pieces: 4 }, { text: 'I may not say.' })
    stage.model.script('judge-retold', deny, allow)
    const run = await stage.ask('retold', 'What is the number?')
    assert.equal(run.text, 'I may not say.')
    assertSaw(stage.model.of('retold').slice(1), 'Not so.')
    assertNeverSaw(stage.model.of('retold'), '4111')
    const document = JSON.stringify(await stage.document(run.conversationId))
    assert.equal(document.includes('4111'), false, document)
    assert.equal(JSON.stringify(run).includes('4111'), false)
  })

  test('refuses an answer twice: the call fails, and a parent reads why', async () => {
    await stage.save(
      agent('above', { subAgents: [sub('retelling')] }),
      guarded('retelling', { output: [asking('judge-twice', { message: 'Not so.' })] }),
      agent('judge-twice'),
    )
    stage.model.script('above', { calls: [{ name: 'retelling', args: { message: 'Tell.' } }] }, { text: 'No.' })
    stage.model.script('retelling', { text: card }, { text: card })
    stage.model.script('judge-twice', deny, deny)
    const run = await stage.ask('above', 'Tell.')
    assert.equal(run.text, 'No.')
    assertSaw(stage.model.of('above').slice(1), 'Not so.')
    assertNeverSaw(stage.model.of('above'), '4111')
  })

  test('flags, and everything goes on', async () => {
    const judge = asking('judge-flag', { action: 'flag' })
    await stage.save(guarded('flagged', { input: [judge], output: [judge] }), agent('judge-flag'))
    stage.model.script('judge-flag', deny, deny)
    stage.model.script('flagged', { text: 'Told.' })
    const run = await stage.ask('flagged', 'Tell.')
    assert.equal(run.text, 'Told.')
    assert.deepEqual(
      (await hits(run.conversationId)).map(({ action }) => action),
      ['flag', 'flag'],
    )
  })

  for (const [what, reply] of [
    ['says neither', { text: 'Maybe.' }],
    ['fails', { status: 400 }],
  ] as const)
    test(`that ${what} refuses`, async () => {
      const id = `judge-${what.split(' ')[0]}`
      await stage.save(guarded(`under-${id}`, { input: [asking(id, { action: 'flag' })] }), agent(id))
      stage.model.script(id, reply as { text: string })
      refusedWith(await stage.ask(`under-${id}`, 'Tell.'), 'guardrail judge failed')
      assert.deepEqual(stage.model.of(`under-${id}`), [])
    })

  test('checks a message that joins before it is read', async () => {
    const gate = createGate()
    await stage.save(
      guarded('joined', { input: [asking('judge-joined', { message: 'Not here.' })] }),
      agent('judge-joined'),
    )
    stage.model.script('joined', { text: 'first', hold: gate })
    stage.model.script('judge-joined', allow, deny)
    const { id } = await stage.begin('joined')
    const first = stage.run(id, { prompt: 'Hello.' })
    await gate.entered
    const second = stage.run(id, { prompt: `Pay ${card}.`, onActive: 'enqueue' })
    await waitFor(id, 2)
    gate.open()
    for (const run of await Promise.all([first, second])) refusedWith(run, 'Not here.')
    assertNeverSaw(stage.model.of('joined'), '4111')
  })

  test('has to exist, and to let itself be listed', async () => {
    const save = (...agents: object[]) => stage.witan.call('POST', '/api/v1/agents/batch', { body: { agents } })
    const check = { input: [asking('judge-private')] }
    assertProblem(await save(guarded('unjudged', check)), { status: 422, code: 'GUARDRAIL_INVALID' })
    const hidden = agent('judge-private', { parents: [] })
    assertProblem(await save(guarded('unjudged', check), hidden), { status: 422, code: 'GUARDRAIL_INVALID' })
    assert.equal((await save(guarded('unjudged', check), { ...hidden, parents: ['unjudged'] })).status, 200)
  })
})
