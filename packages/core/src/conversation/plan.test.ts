/** How a plan is folded, what its agent reads of it behind a summary, and which notice people get at its end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallPlace, Entry, EntryContent, PlanBody } from '@witan/protocol/entries'
import { bareJob } from '../testing/bare-job.ts'
import { admit } from '../run/admit.ts'
import { finish } from '../run/settle.ts'
import { dropHistory } from './cut.ts'
import { makeEntry } from './entry.ts'
import { callTree } from './tree.ts'
import { openPlan, planStanding, takePlan, unfinishedPlan } from './plan.ts'
import type { AgentCall } from './state.ts'

const planned = { id: 'a', enablePlanning: true }
const steps = (...statuses: PlanBody['steps'][number]['status'][]) =>
  statuses.map((status, index) => ({ id: `s${index}`, title: `Step ${index}`, status }))
const update = (...statuses: Parameters<typeof steps>) => ['update_plan', { steps: steps(...statuses) }] as const

test('a revision is recorded between start and end of its call, in one append [F08]', async () => {
  const run = await bareJob([planned])
  run.lines()
  run.reply('', update('in_progress'), update('completed'))
  admit(run.job.run.root, run.job)
  const recorded = run.entries.slice(-6)
  assert.deepEqual(
    recorded.map(({ type }) => type),
    ['start', 'plan', 'end', 'start', 'plan', 'end'],
  )
  const [start, plan, end] = recorded
  assert.deepEqual([plan?.place, end?.place], [start?.place, start?.place])
  const { root } = run.job.run
  assert.deepEqual([root.document.plans.get('a')?.revision, root.planRevisions], [2, 2])
})

test('what is open of a plan is told once its agent answers, and nothing of a plan that is over', async () => {
  const rows: [statuses: Parameters<typeof steps>, count: number | null][] = [
    [[], null],
    [['completed', 'dropped'], null],
    [['pending'], 1],
    [['in_progress', 'completed', 'pending'], 2],
  ]
  for (const [statuses, count] of rows) {
    const run = await bareJob([planned])
    run.reply('', update(...statuses))
    admit(run.job.run.root, run.job)
    assert.equal(unfinishedPlan(run.job.run.root)?.count ?? null, count, statuses.join())
  }
  assert.equal(unfinishedPlan((await bareJob([planned])).job.run.root), null)
})

test('the notice stands before the end of its call', async () => {
  const run = await bareJob([planned])
  run.reply('', update('pending'))
  admit(run.job.run.root, run.job)
  run.reply('Done.')
  run.lines()
  await finish(run.job)
  assert.deepEqual(run.lines(), ['notice PLAN_UNFINISHED', 'end agent'])
})

test('a run that goes on begins with what was left of its plan; a plan that is over is not carried on', async () => {
  for (const [status, revision] of [
    ['in_progress', 1],
    ['completed', undefined],
  ] as const) {
    const run = await bareJob([planned])
    run.reply('', update(status))
    admit(run.job.run.root, run.job)
    run.reply('Done.')
    await finish(run.job)
    for (const entry of run.entries.slice(-2)) run.job.log.sync.apply(entry)
    const { root } = run.runOf('more').run
    assert.equal((root.start as unknown as { body: { plan?: PlanBody } }).body.plan?.revision, revision)
    assert.deepEqual([root.document.plans.get('a')?.revision, root.planRevisions], [1, 0])
  }
})

test('behind a summary each agent of the document reads its own plan, as it was then', async () => {
  const run = await bareJob([planned])
  run.reply('', update('pending'))
  admit(run.job.run.root, run.job)
  const { document } = run.job.run.root
  document.plans.set('b', { revision: 7, body: { revision: 7, steps: [] }, unread: null })
  document.callStarts.push({ from: document.said.length, start: { seq: 50 }, isRoot: false })
  dropHistory(document, { document: document.path, reader: 'a', upToSeq: 49, text: 'They spoke.' })
  const step = JSON.stringify(steps('pending'))
  assert.deepEqual(
    document.said.map((said) => said.kind === 'words' && [said.text, said.only]),
    [
      ['[from @witan to @a] They spoke.', undefined],
      [`[from @witan to @a] plan: {"revision":1,"steps":${step}}`, 'a'],
      ['[from @witan to @b] plan: {"revision":7,"steps":[]}', 'b'],
    ],
  )
})

test('an agent that plans no more has no plan: it reads no line that it has not read, and none is made for it', async () => {
  const isRead = (document: AgentCall['document'], agent: string) =>
    document.said.some((said) => said.kind === 'words' && said.only === agent)
  for (const [before, now, read] of [
    [[], [false], false],
    [[], [true], true],
    [[], [true, false], true],
    [[false], [true], false],
    [[false, true], [true], false],
    [[true], [true], true],
    [[true], [false], false],
  ] as const) {
    const run = await bareJob([planned])
    run.reply('', update('pending'))
    admit(run.job.run.root, run.job)
    const { document } = run.job.run.root
    const steps: PlanBody['steps'] = [{ id: 'x', title: 'X', status: 'pending' }]
    document.plans.set('b', { revision: 7, body: { revision: 7, steps }, unread: null })
    const work = (enablePlanning: boolean) => {
      const call = { agent: { id: 'b', enablePlanning }, document, planRevisions: 0 } as unknown as AgentCall
      takePlan(call)
      return call
    }
    for (const isOn of before) work(isOn)
    document.callStarts.push({ from: document.said.length, start: { seq: 50 }, isRoot: false })
    dropHistory(document, { document: document.path, reader: 'a', upToSeq: 49, text: 'They spoke.' })
    const calls = now.map(work)
    const what = JSON.stringify([before, now])
    assert.deepEqual([isRead(document, 'b'), isRead(document, 'a')], [read, true], what)
    const isOver = [...before, ...now].includes(false)
    assert.equal(
      openPlan(document, { id: 'b', enablePlanning: true } as AgentCall['agent'])?.revision,
      isOver ? undefined : 7,
    )
    assert.equal(planStanding(calls.at(-1) as AgentCall).revision, 7, 'revisions go on counting')
  }
})

test('a tree holds plans of four million characters, those of the root and of the latest calls', async () => {
  const root = {
    run: 'r',
    call: 'r',
    parentCall: null,
    author: 'root',
    agentPath: 'root',
    document: 'd',
  } as unknown as CallPlace
  const long = Array.from({ length: 100 }, (_, at) => {
    return { id: `s${at}`, title: 'x'.repeat(300), status: 'pending', note: 'y'.repeat(1000) } as const
  })
  async function* entries(): AsyncGenerator<Entry> {
    const made = (place: CallPlace, content: unknown) =>
      makeEntry(content as EntryContent, { place, job: 'r', epoch: 1, appendNo: 1, at: 0 })
    yield made(root, { type: 'start', kind: 'agent', body: { agent: 'root', message: 'Go.' } })
    yield made(
      { ...root, call: 'w', parentCall: 'r' },
      { type: 'plan', kind: null, body: { revision: 1, steps: long } },
    )
    for (let at = 0; at < 60; at += 1) {
      const place = { ...root, call: `c${at}`, parentCall: 'r', author: 'leaf' }
      const plan = { revision: at, steps: long }
      yield made(place, { type: 'start', kind: 'agent', body: { agent: 'leaf', message: 'Go.', plan } })
    }
  }
  const tree = await callTree(entries(), 'r')
  const revisions = tree?.root.children.flatMap(({ plan }) => (plan === null ? [] : [plan.revision])) ?? []
  assert.equal(tree?.root.plan?.revision, 1)
  assert.deepEqual(
    revisions,
    Array.from({ length: revisions.length }, (_, at) => 60 - revisions.length + at),
  )
  assert.ok(revisions.length > 20 && revisions.length < 32, String(revisions.length))
})
