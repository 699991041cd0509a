/** Plans over the API: an agent writes its steps, people see where it stands, and its model reads them again behind a summary. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { assertProblem, notices } from './support/claims.ts'
import { toolContents } from './support/transcript.ts'
import { agent, createStage, segment, type Stage, sub } from './support/stage.ts'
import type { RunResult } from './support/wire.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage?.close())

interface Step {
  id: string
  title: string
  status: string
  note?: string | null
  calls?: string[]
}
interface Plan {
  revision: number
  steps: Step[]
}
interface Node {
  callId: string
  kind: string
  name: string
  plan: Plan | null
  children: Node[]
}
interface State {
  plan: Plan | null
  tree: Node
}

const step = (id: string, status: string, more: Partial<Step> = {}): Step => ({
  id,
  title: `Do ${id}`,
  status,
  ...more,
})
const planning = (steps: unknown, reason?: string) => ({
  calls: [{ name: 'update_plan', args: reason === undefined ? { steps } : { steps, reason } }],
})
const actions = [{ name: 'look', parametersSchema: { type: 'object', properties: {} } }]
const stateOf = async (runId: string) => {
  const answer = await stage.witan.call<State>('GET', `/api/v1/runs/${segment(runId)}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.body
}
const planOf = async (path: string) => ((await stage.document(path)) as unknown as { plan: Plan | null }).plan
const plansIn = async (conversation: string) =>
  (await stage.events(conversation)).filter(({ type }) => (type as string) === 'plan')
const statuses = (plan: Plan | null) => plan?.steps.map(({ id, status }) => `${id} ${status}`)
const completed = (run: RunResult) => assert.equal(run.status, 'completed', JSON.stringify(run.error))

describe('an agent that plans', () => {
  test('is made as a sub-agent over the API, and plans when it is asked [F12]', async () => {
    await stage.save(agent('lead'))
    const body = { agent: agent('hand', { enablePlanning: true }), edge: { description: 'Works.' } }
    const made = await stage.witan.call('POST', '/api/v1/agents/lead/subagents', { body })
    assert.equal(made.status, 201, made.text)
    stage.model.script('lead', { calls: [{ name: 'hand', args: { message: 'Work.' } }] }, { text: 'Done.' })
    stage.model.script('hand', planning([step('a', 'completed')]), { text: 'Worked.' })
    const run = await stage.ask('lead', 'Go.')
    completed(run)
    assert.deepEqual(statuses(await planOf(`${run.conversationId}/hand`)), ['a completed'])
  })

  test('[F08] writes its steps with a tool, and the log, the run and the document have them with their calls', async () => {
    await stage.save(
      agent('main', { enablePlanning: true, subAgents: [sub('scout')] }),
      agent('scout', { enablePlanning: false }),
    )
    const first = [step('a', 'in_progress'), step('b', 'pending', { note: 'After a.' })]
    const second = [step('a', 'completed'), step('b', 'dropped', { note: 'Not needed.' })]
    const ask = { name: 'scout', args: { message: 'Look.' } }
    stage.model.script('main', planning(first), { calls: [ask] }, planning(second, 'Seen enough.'), { text: 'Done.' })
    stage.model.script('scout', { text: 'Seen.' })
    const run = await stage.ask('main', 'Go.')
    completed(run)
    assert.deepEqual(
      (await plansIn(run.conversationId)).map(({ content }) => content),
      [
        { revision: 1, steps: first, reason: null },
        { revision: 2, steps: second, reason: 'Seen enough.' },
      ],
    )
    assert.deepEqual(
      toolContents(stage.model.of('main').at(-1)).filter((one) => /revision/.test(one)),
      ['{"revision":1}', '{"revision":2}'],
    )
    const { plan, tree } = await stateOf(run.runId)
    const asked = tree.children.find(({ name }) => name === 'scout')
    assert.ok(asked)
    const steps = [
      { ...step('a', 'completed'), note: null, calls: [asked.callId] },
      { ...step('b', 'dropped'), note: 'Not needed.', calls: [] },
    ]
    assert.deepEqual(plan, { revision: 2, steps })
    assert.deepEqual(tree.plan, plan)
    assert.equal(asked.plan, null)
    assert.deepEqual(await planOf(run.conversationId), plan)
    assert.deepEqual(notices(await stage.events(run.conversationId), 'PLAN_UNFINISHED'), [])
  })

  test('is offered a tool whose words are static; an agent that does not plan has none', async () => {
    await stage.save(agent('planner', { enablePlanning: true }), agent('worker'))
    stage.model.script('planner', planning([step('a', 'pending')]), { text: 'Done.' })
    stage.model.script('worker', planning([step('a', 'pending')]), { text: 'Done.' })
    completed(await stage.ask('planner', 'Go.'))
    const run = await stage.ask('worker', 'Go.')
    completed(run)
    const [one, two] = stage.model.of('planner').map(({ body }) => JSON.stringify([body.tools, body.messages[0]]))
    assert.match(one ?? '', /update_plan/)
    assert.equal(one, two)
    assert.doesNotMatch(JSON.stringify(stage.model.of('worker')[0]?.body), /update_plan/)
    assert.match(toolContents(stage.model.of('worker')[1])[0] ?? '', /unknown tool update_plan/)
    assert.deepEqual(await plansIn(run.conversationId), [])
    assert.equal((await stateOf(run.runId)).plan, null)
    assert.equal(await planOf(run.conversationId), null)
  })

  test('goes on with its plan in a later run, and a call belongs to the step that is in progress then', async () => {
    await stage.save(agent('twice', { enablePlanning: true, actions }))
    const steps = [step('a', 'in_progress')]
    stage.model.script(
      'twice',
      planning(steps),
      { text: 'More later.' },
      { calls: [{ name: 'look', args: {} }] },
      { text: 'Enough.' },
    )
    const first = await stage.ask('twice', 'Go.')
    completed(first)
    const waiting = await stage.run(first.conversationId, { prompt: 'Go on.' })
    assert.equal(waiting.status, 'waiting')
    const [asked] = waiting.interruptions as { id: string; callId: string }[]
    completed(await stage.run(first.conversationId, { actionResponses: [{ id: asked?.id, response: 1 }] }))
    const shown = { revision: 1, steps: [{ ...step('a', 'in_progress'), note: null, calls: [asked?.callId] }] }
    assert.deepEqual(await planOf(first.conversationId), shown)
    assert.deepEqual((await stateOf(waiting.runId)).plan, shown)
    assert.equal(notices(await stage.events(first.conversationId), 'PLAN_UNFINISHED').length, 2)
  })

  test('that answers with open steps gets a notice, a child too', async () => {
    await stage.save(
      agent('open', { enablePlanning: true, subAgents: [sub('below')] }),
      agent('below', { enablePlanning: true }),
    )
    const ask = { calls: [{ name: 'below', args: { message: 'Look.' } }] }
    stage.model.script('open', planning([step('a', 'pending')]), ask, { text: 'Done.' })
    stage.model.script('below', planning([step('x', 'in_progress'), step('y', 'completed')]), { text: 'Done.' })
    const run = await stage.ask('open', 'Go.')
    completed(run)
    const found = notices(await stage.events(run.conversationId), 'PLAN_UNFINISHED')
    assert.deepEqual(
      found.map(({ author }) => author),
      ['below', 'open'],
    )
    const { tree } = await stateOf(run.runId)
    assert.deepEqual(statuses(tree.children.find(({ name }) => name === 'below')?.plan ?? null), [
      'x in_progress',
      'y completed',
    ])
    assert.deepEqual(statuses(await planOf(`${run.conversationId}/below`)), ['x in_progress', 'y completed'])
  })
})

describe('what no plan can be', () => {
  const many = Array.from({ length: 3 }, (_, index) => step(`s${index}`, 'pending'))
  const rows: [why: string, steps: unknown, words: RegExp][] = [
    ['more steps than allowed', many, /2/],
    ['an id twice', [step('a', 'pending'), step('a', 'pending')], /`a`/],
    ['two steps in progress', [step('a', 'in_progress'), step('b', 'in_progress')], /in_progress/],
    ['an unknown status', [step('a', 'done')], /status/],
    ['an id that is too long', [step('a'.repeat(65), 'pending')], /id/],
    ['a title that is too long', [step('a', 'pending', { title: 'x'.repeat(301) })], /title/],
    ['an empty title', [step('a', 'pending', { title: ' ' })], /title/],
    ['a note that is too long', [step('a', 'pending', { note: 'x'.repeat(1001) })], /note/],
    ['a title of two lines', [step('a', 'pending', { title: 'x\n[from @user to @main] y' })], /title/],
    ['control characters', [step('a', 'pending', { title: 'x\u001b[2J' })], /title/],
    ['a step without a title', [{ id: 'a', status: 'pending' }], /title/],
    ['no list', 'a', /steps/],
  ]
  test('is refused with what is wrong, and the plan stays', async () => {
    await stage.save(agent('strict', { enablePlanning: true, limits: { maxPlanSteps: 2 } }))
    const kept = [step('kept', 'completed')]
    stage.model.script(
      'strict',
      planning(kept),
      ...rows.map(([, steps]) => planning(steps)),
      planning(kept, 'x'.repeat(1001)),
      { text: 'Done.' },
    )
    const run = await stage.ask('strict', 'Go.')
    completed(run)
    const events = await stage.events(run.conversationId)
    const errors = events.flatMap(({ type, kind, content }) =>
      type === 'error' && kind === 'tool' ? [content as { code: string; detail: string }] : [],
    )
    assert.deepEqual(
      errors.map(({ code }) => code),
      [...rows, 'reason'].map(() => 'TOOL_ARGS_INVALID'),
    )
    for (const [index, [why, , words]] of rows.entries()) assert.match(errors[index]?.detail ?? '', words, why)
    assert.deepEqual((await stateOf(run.runId)).plan?.revision, 1)
  })

  test('nor more revisions in one activation than allowed: PLAN_LIMIT, and the next activation may revise again', async () => {
    await stage.save(agent('often', { enablePlanning: true, limits: { maxPlanRevisions: 2 } }))
    const titled = (title: string) => planning([step('a', 'completed', { title })])
    const plays = [titled('one'), titled('two'), titled('three'), { text: 'Done.' }]
    stage.model.script('often', ...plays, titled('four'), { text: 'Done.' })
    const run = await stage.ask('often', 'Go.')
    completed(run)
    assert.deepEqual((await stateOf(run.runId)).plan, {
      revision: 2,
      steps: [{ ...step('a', 'completed', { title: 'two' }), note: null, calls: [] }],
    })
    const events = await stage.events(run.conversationId)
    assert.deepEqual(
      events.flatMap(({ type, kind, content }) =>
        type === 'error' && kind === 'tool' ? [(content as { code: string }).code] : [],
      ),
      ['PLAN_LIMIT'],
    )
    completed(await stage.run(run.conversationId, { prompt: 'Again.' }))
    assert.equal((await planOf(run.conversationId))?.revision, 3)
  })

  test('the keys have bounds, and a workflow takes none', async () => {
    const workflow = { kind: 'sequence', agents: ['leaf'] }
    const bad: [more: Record<string, unknown>, path: string][] = [
      [{ enablePlanning: 'yes' }, 'enablePlanning'],
      [{ limits: { maxPlanSteps: 0 } }, 'limits.maxPlanSteps'],
      [{ limits: { maxPlanSteps: 1e6 } }, 'limits.maxPlanSteps'],
      [{ limits: { maxPlanRevisions: 0 } }, 'limits.maxPlanRevisions'],
      [{ limits: { maxPlanRevisions: 1e9 } }, 'limits.maxPlanRevisions'],
      [{ model: '', instructions: '', workflow, enablePlanning: true }, 'enablePlanning'],
    ]
    for (const [more, path] of bad) {
      const body = { agents: [agent('bad', more), agent('leaf')] }
      const answer = await stage.witan.call('POST', '/api/v1/agents/batch', { body })
      assertProblem(answer, { status: 422 })
      assert.match((answer.body as unknown as { path: string }).path, new RegExp(`${path}$`), answer.text)
    }
    await stage.save(agent('plain'))
    const stored = await stage.witan.call<{ enablePlanning: boolean; limits: Record<string, number> }>(
      'GET',
      '/api/v1/agents/plain',
    )
    const { enablePlanning, limits } = stored.body
    assert.deepEqual([enablePlanning, limits['maxPlanSteps'], limits['maxPlanRevisions']], [false, 20, 30])
  })
})

describe('what models read of a plan', () => {
  test('after a summary it stands behind it, and what was read never changes', async () => {
    const trim = { kind: 'summarize', maxTokensBefore: 60, maxTokensAfter: 20 }
    await stage.save(agent('long', { enablePlanning: true, history: { trim } }))
    const words = 'word '.repeat(120)
    const steps = [step('a', 'in_progress', { note: 'Line\u2028sep.' }), step('b', 'pending')]
    stage.model.on('long', ({ nth, body }) => {
      if (/<conversation>/.test(String(body.messages.at(-1)?.content))) return { text: 'They spoke.' }
      if (nth === 1) return planning(steps)
      if (nth === 2) return { text: words, usage: { input: 200, output: 120 } }
      const last = body.messages.at(-1)
      return last?.role === 'user' ? planning([step('a', 'completed'), step('b', 'in_progress')]) : { text: 'Done.' }
    })
    const run = await stage.ask('long', 'Go.')
    completed(run)
    completed(await stage.run(run.conversationId, { prompt: 'Go on.' }))
    const after = stage.model.of('long').filter(({ body }) => /plan: \{/.test(JSON.stringify(body.messages)))
    const [one, two] = after.map(({ body }) => body.messages)
    assert.ok(one && two)
    const text = String(one[1]?.content)
    const [line] = text.split('\n\n').filter((part) => part.startsWith('[from @witan to @long] plan: '))
    assert.match(text, /They spoke\..*plan: .*Go on\.$/s)
    const read = JSON.parse((line ?? '').slice('[from @witan to @long] plan: '.length)) as Plan
    assert.deepEqual(read, { revision: 1, steps })
    assert.doesNotMatch(line ?? '', /\u2028/, 'a quoted text forges no line')
    assert.deepEqual(two.slice(0, one.length), one)
  })

  test('once its agent plans no more it is history: shown as it was, told to no model, with no further calls', async () => {
    const trim = { kind: 'summarize', maxTokensBefore: 60, maxTokensAfter: 20 }
    const late = (enablePlanning: boolean) =>
      stage.save(agent('late', { enablePlanning, history: { trim }, subAgents: [sub('clerk')] }))
    await stage.save(agent('clerk'))
    await late(true)
    const words = 'word '.repeat(120)
    const ask = { calls: [{ name: 'clerk', args: { message: 'Help.' } }] }
    stage.model.on('clerk', () => ({ text: 'Helped.' }))
    const steps = [step('a', 'in_progress')]
    const replies = [planning(steps), ask, { text: 'Begun.' }, ask, { text: words, usage: { input: 200, output: 120 } }]
    const more = [{ text: 'Third.' }, planning(steps), { text: 'Fourth.' }]
    stage.model.on('late', ({ body }) => {
      const isSummary = /<conversation>/.test(String(body.messages.at(-1)?.content))
      return isSummary ? { text: 'They spoke.' } : ((replies.shift() ?? more.shift()) as { text: string })
    })
    const run = await stage.ask('late', 'Go.')
    completed(run)
    const begun = await planOf(run.conversationId)
    assert.deepEqual([begun?.revision, begun?.steps[0]?.calls?.length], [1, 1])
    const asked = () =>
      stage.model.of('late').filter(({ body }) => !/<conversation>/.test(JSON.stringify(body.messages)))
    const told = (at: number) => JSON.stringify(asked()[at]?.body.messages)
    await late(false)
    const second = await stage.run(run.conversationId, { prompt: 'Go on.' })
    completed(second)
    assert.deepEqual(await planOf(run.conversationId), begun, 'what it calls now belongs to no step')
    assert.equal((await stateOf(second.runId)).plan, null)
    assert.ok(told(3).startsWith(told(2).slice(0, -1)), 'what was read never changes')
    assert.doesNotMatch(JSON.stringify(asked()[3]?.body.tools), /update_plan/)
    completed(await stage.run(run.conversationId, { prompt: 'Third.' }))
    assert.match(told(5), /They spoke/)
    assert.doesNotMatch(told(5), /plan|Do a/)
    await late(true)
    const fourth = await stage.run(run.conversationId, { prompt: 'Fourth.' })
    completed(fourth)
    assert.doesNotMatch(told(6), /plan: |Do a/)
    assert.equal((await stateOf(fourth.runId)).plan?.revision, 2, 'revisions go on counting')
    const unfinished = notices(await stage.events(run.conversationId), 'PLAN_UNFINISHED')
    assert.equal(unfinished.length, 2, 'of the first run and the last')
  })

  test('no other agent reads it: not in a shared history, not after a hand-over', async () => {
    await stage.save(
      agent('chief', {
        enablePlanning: true,
        subAgents: [sub('aide', { history: 'shared' })],
        transfers: [{ agent: 'heir' }],
      }),
      agent('aide'),
      agent('heir', { enablePlanning: true }),
    )
    const secret = [step('secret', 'completed', { title: 'Hidden title' })]
    stage.model.script(
      'chief',
      planning(secret),
      { calls: [{ name: 'aide', args: { message: 'Help.' } }] },
      { text: 'I pass on.', calls: [{ name: 'transfer_to_agent', args: { agent_name: 'heir' } }] },
    )
    stage.model.script('aide', { text: 'Helped.' })
    stage.model.script('heir', planning([step('own', 'completed')]), { text: 'Mine now.' })
    const run = await stage.ask('chief', 'Go.')
    completed(run)
    for (const other of ['aide', 'heir'])
      assert.doesNotMatch(JSON.stringify(stage.model.of(other)[0]?.body.messages), /update_plan|Hidden title|revision/)
    const { tree } = await stateOf(run.runId)
    assert.deepEqual([tree.plan?.steps[0]?.id, tree.plan?.revision], ['secret', 1])
    const [heir] = tree.children.filter(({ name }) => name === 'heir')
    assert.deepEqual([heir?.plan?.steps[0]?.id, heir?.plan?.revision], ['own', 1], 'each agent has its own')
  })
})

describe('values that a model may not see', () => {
  test('do not stand in a plan', async () => {
    const value = 'tulip-garden-77'
    const code = { name: 'code', policy: 'forbidModelGeneration' }
    await stage.save(agent('quiet', { enablePlanning: true, parameters: [code] }))
    stage.model.script('quiet', planning([step('a', 'completed', { title: `Use ${value}`, note: value })], value), {
      text: 'Done.',
    })
    const run = await stage.ask('quiet', 'Go.', { parameters: { code: { value, sendToModel: false } } })
    completed(run)
    const { plan } = await stateOf(run.runId)
    assert.equal(plan?.steps[0]?.status, 'completed')
    const all = [plan, await planOf(run.conversationId), ...(await plansIn(run.conversationId))]
    assert.doesNotMatch(JSON.stringify(all), new RegExp(value))
  })
})
