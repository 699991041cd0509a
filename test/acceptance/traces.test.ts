/** Traces as a collector gets them, by the contract alone: ids, the tree, names, links, headers, and what never leaves. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { type CollectedSpan, createCollector, type TraceCollector } from './support/collector.ts'
import { agent, createStage, type Stage, sub, until } from './support/stage.ts'

let stage: Stage
let collector: TraceCollector
before(async () => {
  collector = await createCollector()
  const otlp = { url: collector.url, protocol: 'http/json', headers: { 'x-tenant': 'acme' } }
  stage = await createStage({ store: 'file', prepare: () => ({ telemetry: { otlp } }) })
})
after(async () => {
  await stage?.close()
  await collector?.close()
})

const digest = (text: string, digits: number) => createHash('sha256').update(text).digest('hex').slice(0, digits)
const traceId = (run: string) => digest(`default\n${run}`, 32)
const spanId = (of: string | number) => digest(`default\n${of}`, 16)
const named = (spans: CollectedSpan[], name: string) => spans.filter((span) => span.name === name)
const one = (spans: CollectedSpan[], name: string): CollectedSpan => {
  const [span, ...more] = named(spans, name)
  assert.ok(span && more.length === 0, `${named(spans, name).length} of ${name} in ${spans.map((each) => each.name)}`)
  return span
}

describe('the trace of a run', () => {
  test('[T26] [C32] has the ids of the contract, one span for each call and reply, in the tree of the calls', async () => {
    await stage.save(
      agent('boss', { subAgents: [sub('left'), sub('right')], transfers: [{ agent: 'heir' }] }),
      agent('left', { questions: false }),
      agent('right'),
      agent('heir'),
    )
    stage.model.script(
      'boss',
      {
        calls: [
          { name: 'left', args: { message: 'One.' } },
          { name: 'right', args: { message: 'Two.' } },
        ],
      },
      { calls: [{ name: 'nonesuch', args: {} }] },
      { calls: [{ name: 'transfer_to_agent', args: { agent_name: 'heir' } }] },
    )
    stage.model.script('left', { text: 'first' })
    stage.model.script('right', { text: 'second' })
    stage.model.script('heir', { text: 'mine now' })
    const run = await stage.ask('boss', 'Begin the secret work.', { id: 'chats/tree' })
    assert.equal(run.text, 'mine now')
    assert.equal(run.traceId, traceId(run.runId))
    const state = await stage.witan.call<{ traceId: string }>('GET', `/api/v1/runs/${run.runId}`)
    assert.equal(state.body.traceId, run.traceId)
    const spans = await collector.trace(run.traceId)
    const events = await stage.events('chats/tree')
    const root = one(spans, 'invoke_agent boss')
    assert.equal(root.spanId, spanId(run.runId))
    for (const event of events.filter(({ type, kind }) => type === 'start' && kind !== 'model')) {
      const span = spans.find((each) => each.spanId === spanId(event.callId))
      assert.ok(span, `a span of ${event.callId}`)
      assert.equal(span.parentSpanId, event.parentCallId === null ? undefined : spanId(event.parentCallId))
      assert.equal(span.attributes['witan.call.id'], event.callId)
      assert.equal(span.attributes['witan.agent.path'], event.agentPath)
    }
    const replies = events.filter(({ type, kind }) => type === 'end' && kind === 'model')
    const chats = spans.filter(({ name }) => name.startsWith('chat '))
    assert.deepEqual(chats.map((span) => span.spanId).sort(), replies.map(({ seq }) => spanId(seq)).sort())
    for (const { seq, callId } of replies)
      assert.equal(chats.find((span) => span.spanId === spanId(seq))?.parentSpanId, spanId(callId))
    assert.equal(spans.length, new Set(spans.map((span) => span.spanId)).size)
    assert.equal(named(spans, 'chat boss').length, 3)
    assert.equal(one(spans, 'invoke_agent heir').parentSpanId, root.spanId)
  })

  test('[T27] [T28] [Tb23] says who answered, what it cost in tokens, and why a tool failed', async () => {
    await stage.save(agent('clerk'))
    stage.model.script('clerk', { calls: [{ name: 'nonesuch', args: { word: 'hush' } }] }, { text: 'No.', usage: null })
    const run = await stage.ask('clerk', 'Try.', { id: 'chats/usage' })
    const spans = await collector.trace(run.traceId)
    const [first, second] = named(spans, 'chat clerk')
    assert.ok(first && second)
    assert.deepEqual(
      ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model', 'gen_ai.response.model'].map(
        (key) => first.attributes[key],
      ),
      ['chat', 'play', 'clerk', 'clerk'],
    )
    assert.deepEqual([first.kind, first.attributes['gen_ai.usage.input_tokens']], [3, 10])
    assert.equal(first.attributes['gen_ai.usage.output_tokens'], 5)
    assert.ok(!('gen_ai.usage.input_tokens' in second.attributes), 'unknown usage is absent')
    const tool = one(spans, 'execute_tool unknown')
    assert.deepEqual([tool.status, tool.attributes['error.type']], [{ code: 2 }, 'TOOL_UNKNOWN'])
    assert.deepEqual(
      tool.events.map(({ name, attributes }) => [name, attributes]),
      [['exception', { 'exception.type': 'TOOL_UNKNOWN' }]],
    )
    const root = one(spans, 'invoke_agent clerk')
    assert.equal(root.status.code, 0, 'a failing tool leaves the trace as it is')
    const { 'session.id': session, 'user.id': user, 'witan.run.id': id } = root.attributes
    assert.deepEqual(
      [session, id, root.attributes['gen_ai.conversation.id']],
      ['chats/usage', run.runId, 'chats/usage'],
    )
    assert.equal(typeof user, 'string')
  })

  test('[Tb14] [Tb15] a retry is an event of the reply that came of it; without a reply it stands on the agent, as the error does', async () => {
    await stage.save(agent('patient'), agent('hopeless'))
    stage.model.script('patient', { status: 503 }, { text: 'Here.' })
    const run = await stage.ask('patient', 'Go.', { id: 'chats/retry' })
    const spans = await collector.trace(run.traceId)
    const [event] = one(spans, 'chat patient').events
    assert.equal(event?.name, 'retry')
    assert.equal(event.attributes['witan.retry.attempt'], 1)
    assert.ok(Number(event.attributes['witan.retry.delay_ms']) > 0, 'the wait is told')
    stage.model.script('hopeless', { status: 400 })
    const failed = await stage.ask('hopeless', 'Go.', { id: 'chats/failed' })
    assert.equal(failed.status, 'failed')
    const rest = await collector.trace(failed.traceId)
    assert.deepEqual(
      rest.map(({ name }) => name),
      ['invoke_agent hopeless'],
    )
    assert.equal(rest[0]?.attributes['error.type'], 'MODEL_CALL_FAILED')
    assert.deepEqual(rest[0]?.status, { code: 2 })
    assert.ok(rest[0]?.events.some(({ name }) => name === 'exception'))
  })

  test('[E82] a task stands in the trace of its run; the follow-up has a trace of its own, linked to it', async () => {
    await stage.save(agent('lead', { subAgents: [sub('slow', { blocking: 'never' })] }), agent('slow'))
    stage.model.script(
      'lead',
      { calls: [{ name: 'slow', args: { message: 'Dig.' } }] },
      { text: 'Begun.' },
      { text: 'Dug.' },
    )
    stage.model.script('slow', { text: 'A hole.' })
    const run = await stage.ask('lead', 'Dig a hole.', { id: 'chats/task' })
    const conversation = await until(
      () => stage.conversation('chats/task'),
      ({ runs, activeRunId }) => runs.length === 2 && activeRunId === null,
    )
    const hidden = conversation.runs.find(({ runId }) => runId !== run.runId)
    const follow = await collector.trace(traceId(hidden?.runId ?? ''))
    const [link] = one(follow, 'invoke_agent lead').links
    assert.deepEqual([link?.traceId, link?.spanId], [run.traceId, spanId(run.runId)])
    const spans = await until(
      () => collector.trace(run.traceId),
      (all) => all.some(({ name }) => name === 'invoke_agent slow'),
    )
    assert.equal(one(spans, 'invoke_agent slow').parentSpanId, spanId(run.runId))
    assert.equal(one(spans, 'chat slow').parentSpanId, one(spans, 'invoke_agent slow').spanId)
  })

  test('[C32] `traceparent` names the span of the call in every model request; that of a request becomes a link', async () => {
    await stage.save(agent('asked'))
    stage.model.script('asked', { text: 'Yes.' }, { text: 'Again.' }, { text: 'And again.' })
    const caller = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`
    const started = await stage.begin('asked', { id: 'chats/linked' })
    const first = await stage.runAnswer(started.id, { prompt: 'One?' }, { traceparent: caller })
    const { runId, traceId: own } = first.body
    assert.equal(stage.model.of('asked')[0]?.headers['traceparent'], `00-${own}-${spanId(runId)}-01`)
    const [link, more] = one(await collector.trace(own), 'invoke_agent asked').links
    assert.deepEqual([link?.traceId, link?.spanId, more], ['ab'.repeat(16), 'cd'.repeat(8), undefined])
    for (const bad of [`00-${'0'.repeat(32)}-${'cd'.repeat(8)}-01`, `${'a'.repeat(4_000)}`]) {
      const run = await stage.runAnswer(started.id, { prompt: 'Two?' }, { traceparent: bad })
      assert.equal(run.status, 200)
      assert.deepEqual(one(await collector.trace(run.body.traceId), 'invoke_agent asked').links, [])
    }
  })

  test('[C32] without content no word of a conversation leaves, and the headers of the configuration go along', async () => {
    await stage.save(agent('quiet', { subAgents: [sub('deep')] }), agent('deep', { questions: true }))
    const word = 'xylophone'
    stage.model.script(
      'quiet',
      { text: `${word} 1`, calls: [{ name: 'deep', args: { message: `${word} 2` } }] },
      { calls: [{ name: `${word}_3`, args: { [word]: word } }] },
      { text: `${word} 4` },
    )
    stage.model.script('deep', { text: `${word} 5` })
    const run = await stage.ask('quiet', `${word} 6`, { id: 'chats/quiet' })
    await collector.trace(run.traceId)
    assert.ok(!Buffer.concat(collector.requests.map(({ body }) => body)).includes(word))
    assert.equal(collector.requests.at(-1)?.headers['x-tenant'], 'acme')
  })
})

test('[C32] full content holds what was said, without hidden values, and long texts are cut and marked [E81]', async () => {
  const full = await createCollector()
  const otlp = { url: full.url, protocol: 'http/json', content: 'full' }
  const talk = await createStage({ prepare: () => ({ telemetry: { otlp } }) })
  try {
    const parameters = [{ name: 'badge', type: 'string', description: 'A badge.', sendToModel: false, secret: true }]
    await talk.save(agent('open', { parameters, subAgents: [sub('deep')] }), agent('deep'))
    talk.model.script(
      'open',
      { text: 'I ask.', calls: [{ name: 'deep', args: { message: 'How deep? B-778899' } }] },
      { text: 'y'.repeat(200_000) },
    )
    talk.model.script('deep', { text: 'Six. B-778899' })
    const run = await talk.ask('open', 'Say "it".', {
      id: 'chats/full',
      parameters: { badge: { value: 'B-778899', sendToModel: false } },
    })
    const spans = await full.trace(run.traceId)
    assert.ok(!Buffer.concat(full.requests.map(({ body }) => body)).includes('B-778899'))
    const [first, last] = named(spans, 'chat open')
    const read = JSON.parse(String(last?.attributes['gen_ai.input.messages'])) as { role: string }[]
    assert.deepEqual(
      read.map(({ role }) => role),
      ['user', 'assistant', 'tool'],
    )
    assert.deepEqual(JSON.parse(String(first?.attributes['gen_ai.input.messages'])), [
      { role: 'user', parts: [{ type: 'text', content: 'Say "it".' }] },
    ])
    assert.match(
      String(first?.attributes['gen_ai.system_instructions']),
      /You are open\.\\nbadge: supplied by the system/,
    )
    assert.match(String(one(spans, 'invoke_agent deep').attributes['gen_ai.input.messages']), /How deep\? \[hidden\]/)
    const answer = String(one(spans, 'invoke_agent open').attributes['gen_ai.output.messages'])
    assert.ok(Buffer.byteLength(answer) <= 65_536)
    assert.match(answer, /\[cut: \d+ more bytes\]/)
    assert.doesNotThrow(() => JSON.parse(answer))
  } finally {
    await talk.close()
    await full.close()
  }
})

test('[E80] a collector that hangs, refuses, redirects, fails or answers nonsense changes nothing in a run', async () => {
  const bad = await createCollector()
  const otlp = { url: bad.url, headers: { authorization: 'Bearer t0p-s3cret' }, maxQueue: 8 }
  const calm = await createStage({ prepare: () => ({ telemetry: { otlp } }) })
  try {
    await calm.save(agent('steady'))
    calm.model.script('steady', ...Array.from({ length: 30 }, () => ({ text: 'Fine.' })))
    const answers: TraceCollector['answer'][] = [
      { status: 500, body: 'no' },
      { status: 200, body: '\u0000\u0001 garbage' },
      { status: 302, headers: { location: bad.url } },
      { status: 400 },
      null,
    ]
    for (const [index, answer] of answers.entries()) {
      bad.answer = answer
      const before = performance.now()
      for (let count = 0; count < 6; count += 1) {
        const run = await calm.ask('steady', 'Well?', { id: `chats/calm-${index}-${count}` })
        assert.equal(run.text, 'Fine.')
      }
      assert.ok(performance.now() - before < 8_000)
    }
    await until(
      async () => bad.requests.length,
      (count) => count >= 2,
    )
    assert.ok(!calm.witan.output.includes('t0p-s3cret'), 'no header is logged')
    assert.ok(bad.requests.length < 30, `${bad.requests.length} requests`)
  } finally {
    await calm.close()
    await bad.close()
  }
})
