/** Reflection over the API: an agent's final answer is criticised once, revised if that finds something, and nobody waits for ever. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { assertProblem, notices } from './support/claims.ts'
import type { Reply } from './support/exchange.ts'
import { agent, createStage, segment, type Stage, sub } from './support/stage.ts'
import type { RunResult } from './support/wire.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage?.close())

const reflecting = (id: string, more: Record<string, unknown> = {}) => agent(id, { enableReflection: true, ...more })
const pass = { text: '{"verdict":"pass","problems":[]}' }
const revise = (...problems: string[]) => ({ text: JSON.stringify({ verdict: 'revise', problems }) })
const completed = (run: RunResult) => assert.equal(run.status, 'completed', JSON.stringify(run.error))
const critiques = async (conversation: string) =>
  (await stage.events(conversation))
    .filter(({ type }) => (type as string) === 'critique')
    .map(({ content, agentPath }) => ({ ...(content as { verdict: string }), agentPath }))
const lineOf = (seen: { body: { messages: { role: string; content?: unknown }[] } } | undefined) =>
  String(seen?.body.messages.at(-1)?.content)
interface Doc {
  messages: { seq: number; role: string; text: string; draft?: boolean }[]
}
const saidIn = async (path: string) =>
  ((await stage.document(path)) as unknown as Doc).messages
    .filter(({ role }) => role === 'assistant')
    .map(({ text, draft }) => (draft === undefined ? text : `${text} (draft)`))

describe('an agent that reflects', () => {
  test('[F08] has its answer criticised on the same prefix with its tools off; one that passes stands', async () => {
    await stage.save(
      reflecting('one', { reflection: { criteria: 'Names a price.' }, subAgents: [sub('two')] }),
      agent('two'),
    )
    stage.model.script('one', { text: 'It is 3 euros.' }, pass)
    const run = await stage.ask('one', 'What is it?')
    completed(run)
    assert.equal(run.text, 'It is 3 euros.')
    const [first, second, third] = stage.model.of('one')
    assert.ok(first && second)
    assert.equal(third, undefined)
    assert.deepEqual(second.body.messages.slice(0, first.body.messages.length), first.body.messages)
    assert.deepEqual(second.body.messages.at(-2), { role: 'assistant', content: 'It is 3 euros.' })
    assert.equal(lineOf(second), '[from @witan to @one] critique: {"task":"check","criteria":"Names a price."}')
    assert.deepEqual(second.body.tools, first.body.tools)
    assert.equal(second.body.tool_choice, 'none')
    const [found, more] = await critiques(run.conversationId)
    const [{ seq } = { seq: 0 }] = ((await stage.document(run.conversationId)) as unknown as Doc).messages.filter(
      ({ role }) => role === 'assistant',
    )
    assert.deepEqual(found, { verdict: 'pass', problems: [], by: 'one', seq, agentPath: 'one' })
    assert.equal(more, undefined)
    assert.equal(run.usage.modelCalls, 2)
    assert.deepEqual(await saidIn(run.conversationId), ['It is 3 euros.'])
  })

  test('[F08] answers again, tools included, where the critique finds problems; that stands without a second critique', async () => {
    await stage.save(reflecting('again', { subAgents: [sub('helper')] }), agent('helper'))
    const call = { calls: [{ name: 'helper', args: { message: 'The price?' } }] }
    stage.model.script(
      'again',
      { text: 'It is cheap.' },
      revise('No price.', 'Too short.'),
      call,
      { text: 'It is 3 euros.' },
      { text: 'Yes.' },
      pass,
    )
    stage.model.script('helper', { text: '3 euros' })
    const run = await stage.ask('again', 'What is it?')
    completed(run)
    assert.equal(run.text, 'It is 3 euros.')
    assert.equal(
      lineOf(stage.model.of('again')[2]),
      '[from @witan to @again] critique: {"task":"revise","problems":["No price.","Too short."]}',
    )
    assert.equal(stage.model.of('again').length, 4)
    assert.deepEqual(
      (await critiques(run.conversationId)).map(({ verdict }) => verdict),
      ['revise'],
    )
    const said = await saidIn(run.conversationId)
    assert.deepEqual([said[0], said.at(-1)], ['It is cheap. (draft)', 'It is 3 euros.'])
    assert.equal('earlierAnswers' in run, false)
    // What is said next does not repeat the lines of critiques.
    completed(await stage.run(run.conversationId, { prompt: 'Sure?' }))
    const next = stage.model.of('again')[4]
    const texts = next?.body.messages.map(({ content }) => String(content)) ?? []
    assert.equal(texts.filter((one) => one.includes('"task":"check"')).length, 0)
    assert.equal(texts.filter((one) => one.includes('"task":"revise"')).length, 1)
  })

  test('of a sub-agent is criticised before its caller reads it', async () => {
    await stage.save(agent('boss', { subAgents: [sub('clerk')] }), reflecting('clerk'))
    stage.model.script('boss', { calls: [{ name: 'clerk', args: { message: 'Go.' } }] }, { text: 'Thanks.' })
    stage.model.script('clerk', { text: 'Draft.' }, revise('Bad.'), { text: 'Better.' })
    const run = await stage.ask('boss', 'Go.')
    completed(run)
    const texts = JSON.stringify(stage.model.of('boss').at(-1)?.body.messages)
    assert.ok(texts.includes('Better.') && !texts.includes('Draft.'), texts)
    assert.deepEqual(await critiques(run.conversationId).then((all) => all.map(({ agentPath }) => agentPath)), [
      'boss/clerk',
    ])
  })

  test('another model criticises, if the agent names one', async () => {
    await stage.save(reflecting('author', { reflection: { model: 'play/critic' } }))
    stage.model.script('author', { text: 'Good.' })
    stage.model.script('critic', pass)
    completed(await stage.ask('author', 'Go.'))
    assert.match(lineOf(stage.model.of('critic')[0]), /"task":"check"/)
  })

  const bad: [what: string, reply: Reply, reason: string][] = [
    ['is words', { text: 'Looks fine to me.' }, 'reply'],
    ['has another verdict', { text: '{"verdict":"maybe","problems":[]}' }, 'reply'],
    ['has problems that are no texts', { text: '{"verdict":"revise","problems":[1]}' }, 'reply'],
    ['calls a tool instead', { calls: [{ name: 'x', args: {} }] }, 'reply'],
    ['fails', { status: 400 }, 'model'],
  ]
  for (const [what, reply, reason] of bad) {
    test(`a critique that ${what} changes nothing, and says so`, async () => {
      const id = `skip-${what.replaceAll(/\W+/g, '-')}`
      await stage.save(reflecting(id))
      stage.model.script(id, { text: 'The answer.' }, reply)
      const run = await stage.ask(id, 'Go.')
      completed(run)
      assert.equal(run.text, 'The answer.')
      assert.equal(notices(await stage.events(run.conversationId), 'REFLECTION_SKIPPED').length, 1, reason)
      assert.deepEqual(await critiques(run.conversationId), [])
      assert.deepEqual(await saidIn(run.conversationId), ['The answer.'])
    })

    test(`a critique that ${what} fails the call, if its agent says so`, async () => {
      const id = `fail-${what.replaceAll(/\W+/g, '-')}`
      await stage.save(reflecting(id, { reflection: { onFail: 'error' } }))
      stage.model.script(id, { text: 'The answer.' }, reply)
      const run = await stage.ask(id, 'Go.')
      assert.deepEqual([run.status, run.error?.code], ['failed', 'REFLECTION_FAILED'], JSON.stringify(run))
    })
  }

  test('a revision that fails leaves the draft as the answer, or fails the call', async () => {
    await stage.save(reflecting('weak'), reflecting('strict', { reflection: { onFail: 'error' } }))
    for (const id of ['weak', 'strict']) stage.model.script(id, { text: 'The draft.' }, revise('Bad.'), { status: 400 })
    const weak = await stage.ask('weak', 'Go.')
    assert.deepEqual([weak.status, weak.text], ['completed', 'The draft.'])
    assert.equal(notices(await stage.events(weak.conversationId), 'REFLECTION_SKIPPED').length, 1)
    assert.deepEqual(await saidIn(weak.conversationId), ['The draft.'])
    const strict = await stage.ask('strict', 'Go.')
    assert.deepEqual([strict.status, strict.error?.code], ['failed', 'REFLECTION_FAILED'])
  })

  test('a critique without room for a revision is not made; critiques are no iterations', async () => {
    await stage.save(
      reflecting('small', { limits: { maxModelCalls: 2 } }),
      reflecting('enough', { limits: { maxModelCalls: 3, maxIterations: 2 } }),
    )
    stage.model.script('small', { text: 'Only this.' })
    const small = await stage.ask('small', 'Go.')
    assert.deepEqual([small.status, small.text, small.usage.modelCalls], ['completed', 'Only this.', 1])
    assert.equal(notices(await stage.events(small.conversationId), 'REFLECTION_SKIPPED').length, 1)
    stage.model.script('enough', { text: 'First.' }, revise('Bad.'), { text: 'Second.' })
    const enough = await stage.ask('enough', 'Go.')
    assert.deepEqual([enough.status, enough.text, enough.usage.modelCalls], ['completed', 'Second.', 3])
  })

  test('a last answer is not criticised', async () => {
    await stage.save(reflecting('tired', { limits: { maxIterations: 1 }, subAgents: [sub('friend')] }), agent('friend'))
    stage.model.script('tired', { calls: [{ name: 'friend', args: { message: 'Hi.' } }] }, { text: 'Enough.' })
    stage.model.script('friend', { text: 'Hi.' })
    const run = await stage.ask('tired', 'Go.')
    assert.deepEqual([run.status, run.finishReason, run.text], ['completed', 'iteration_limit', 'Enough.'])
    assert.deepEqual(await critiques(run.conversationId), [])
    assert.deepEqual(notices(await stage.events(run.conversationId), 'REFLECTION_SKIPPED'), [])
  })

  test('[F08] another agent criticises as a child: it gets question, answer and criteria, and is in the tree', async () => {
    const outputSchema = { type: 'object', properties: { verdict: { type: 'string' }, problems: { type: 'array' } } }
    for (const [id, more] of [
      ['words', {}],
      ['shaped', { outputSchema }],
    ] as const) {
      const judge = `judge-of-${id}`
      await stage.save(
        reflecting(id, { reflection: { agent: judge, criteria: 'Names a price.' } }),
        agent(judge, { parents: [id], ...more }),
      )
      stage.model.script(id, { text: 'It is cheap.' }, { text: 'It is 3 euros.' })
      stage.model.script(judge, revise('No price.'))
      const run = await stage.ask(id, 'What is it?')
      completed(run)
      assert.equal(run.text, 'It is 3 euros.')
      assert.equal(
        lineOf(stage.model.of(judge)[0]),
        '{"question":"What is it?","answer":"It is cheap.","criteria":"Names a price."}',
      )
      assert.equal(
        lineOf(stage.model.of(id)[1]),
        `[from @witan to @${id}] critique: {"task":"revise","problems":["No price."]}`,
      )
      const state = await stage.witan.call<{ tree: { children: { name: string; kind: string }[] } }>(
        'GET',
        `/api/v1/runs/${segment(run.runId)}`,
      )
      assert.deepEqual(
        state.body.tree.children.map(({ name, kind }) => [name, kind]),
        [[judge, 'agent']],
      )
      const [found] = await critiques(run.conversationId)
      assert.deepEqual([found?.verdict, (found as { by?: string }).by], ['revise', judge])
      assert.deepEqual(await saidIn(run.conversationId), ['It is cheap. (draft)', 'It is 3 euros.'])
      assert.equal(run.usage.modelCalls, 3)
    }
  })

  test('an agent that criticises and fails, says something else, or may not go so deep, changes nothing', async () => {
    await stage.save(
      reflecting('asker', { reflection: { agent: 'silent' }, limits: { maxDepth: 2 } }),
      reflecting('deep', { reflection: { agent: 'silent' }, limits: { maxDepth: 0 + 1 } }),
      agent('above', { subAgents: [sub('deep')], limits: { maxDepth: 1 } }),
      reflecting('strict-asker', { reflection: { agent: 'broken', onFail: 'error' } }),
      reflecting('loose-asker', { reflection: { agent: 'broken' } }),
      agent('silent'),
      agent('broken'),
    )
    stage.model.script('silent', { text: 'Fine, I think.' })
    stage.model.script('broken', { status: 400 }, { status: 400 })
    for (const [id, reason] of [
      ['asker', 'no critique'],
      ['loose-asker', 'failed'],
    ] as const) {
      stage.model.script(id, { text: 'The answer.' })
      const run = await stage.ask(id, 'Go.')
      completed(run)
      assert.equal(run.text, 'The answer.')
      const [notice, ...more] = notices(await stage.events(run.conversationId), 'REFLECTION_SKIPPED')
      assert.match(JSON.stringify(notice), new RegExp(reason))
      assert.deepEqual(more, [])
    }
    stage.model.script('strict-asker', { text: 'The answer.' })
    const strict = await stage.ask('strict-asker', 'Go.')
    assert.deepEqual([strict.status, strict.error?.code], ['failed', 'REFLECTION_FAILED'])
    stage.model.script('above', { calls: [{ name: 'deep', args: { message: 'Go.' } }] }, { text: 'Done.' })
    stage.model.script('deep', { text: 'From below.' })
    const below = await stage.ask('above', 'Go.')
    completed(below)
    assert.match(JSON.stringify(notices(await stage.events(below.conversationId), 'REFLECTION_SKIPPED')), /deeper/)
  })

  test('who criticises whom is an edge of the graph, as long as the agent reflects', async () => {
    await stage.save(agent('referee'))
    for (const [enableReflection, expected] of [
      [true, [['player', 'referee', 'reflection']]],
      [false, []],
    ] as const) {
      await stage.save(agent('player', { enableReflection, reflection: { agent: 'referee' } }))
      const graph = await stage.witan.call<{ edges: { from: string; to: string; kind: string }[] }>(
        'GET',
        '/api/v1/agents/player/graph',
      )
      assert.equal(graph.status, 200, graph.text)
      assert.deepEqual(
        graph.body.edges.map(({ from, to, kind }) => [from, to, kind]),
        expected,
      )
    }
  })

  test('an agent that is to criticise must exist and may be refused by its own list of parents', async () => {
    await stage.save(agent('private', { parents: [] }))
    for (const critic of ['nobody', 'private']) {
      const body = reflecting('wants', { reflection: { agent: critic } })
      const answer = await stage.witan.call('PUT', '/api/v1/agents/wants', { body })
      assertProblem(answer, { status: 422, names: [critic] })
    }
  })

  test('the model calls of a conversation have the critique as one, exactly as it was asked', async () => {
    await stage.save(reflecting('seen'))
    stage.model.script('seen', { text: 'Draft.' }, revise('Bad.'), { text: 'Final.' })
    const { conversationId } = await stage.ask('seen', 'Go.')
    const page = await stage.witan.call<{ items: { id: string; purpose: string; exact: boolean | null }[] }>(
      'GET',
      `/api/v1/conversations/${segment(conversationId)}/model-calls`,
    )
    assert.deepEqual(
      page.body.items.map(({ purpose, exact }) => [purpose, exact]),
      [
        ['answer', true],
        ['critique', true],
        ['answer', true],
      ],
      page.text,
    )
  })

  test('what cannot be is refused by name', async () => {
    for (const [reflection, path] of [
      [{ agent: 'nobody' }, 'reflection.agent'],
      [{ onFail: 'retry' }, 'reflection.onFail'],
      [{ model: 'absent/x' }, 'reflection.model'],
      [{ criteria: 'x'.repeat(4001) }, 'reflection.criteria'],
    ] as const) {
      const body = { ...reflecting('bad'), reflection }
      const answer = await stage.witan.call('PUT', '/api/v1/agents/bad', { body })
      assertProblem(answer, { status: 422 })
      assert.equal((answer.body as { path?: string }).path, path, answer.text)
    }
  })
})
