/** Hand-overs and workflows as data: what is refused at a save, what the check says before anything runs, and the graph. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { agent, type AgentJson, createStage, type Stage, sub } from './support/stage.ts'
import type { Finding, Problem } from './support/wire.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage?.close())

const hidden = { name: 'tenant', type: 'string', sendToModel: false }
const flow = (id: string, kind: string, agents: unknown[]): AgentJson => ({ id, workflow: { kind, agents } })

interface Report {
  errors: (Finding & { path: string })[]
  warnings: (Finding & { path: string })[]
  matrix: { path: string; agent: string; parameter: string; boundFrom: string; mayGenerate: boolean }[]
  handlers: string[]
}

async function check(...agents: AgentJson[]): Promise<Report> {
  const { body, status, text } = await stage.witan.call<Report>('POST', '/api/v1/check', { body: { agents } })
  assert.equal(status, 200, text)
  return body
}

const briefly = (findings: Report['errors']) => findings.map(({ code, agent: id, path }) => `${code} ${id} ${path}`)

async function refused(draft: AgentJson, code: string, path: string): Promise<string> {
  const { status, body } = await stage.witan.call<Problem>('PUT', `/api/v1/agents/${draft.id}`, { body: draft })
  assert.deepEqual([status, body.code, body.path], [422, code, path], body.detail)
  const report = await check(draft)
  assert.ok(briefly(report.errors).includes(`${code} ${draft.id} ${path}`), JSON.stringify(report.errors))
  return body.detail
}

test('[C34] a workflow has no key of an agent with a model, and an agent needs one or the other', async () => {
  await stage.save(agent('a'), agent('b'))
  const foreign = {
    model: 'play/x',
    instructions: 'x',
    queries: [{ name: 'q', source: 's', query: 'select 1' }],
    actions: [{ name: 'Act' }],
    subAgents: [sub('a')],
    transfers: [{ agent: 'a' }],
    transferReach: 'tree',
    tools: ['t'],
    approvals: ['t'],
    questions: true,
    toolMode: 'force',
    endToolMode: true,
    outputMode: 'tool',
    temperature: 1,
    reasoningEffort: 'low',
    outputSchema: { type: 'object' },
    history: { trim: { kind: 'summarize' } },
  }
  for (const [key, value] of Object.entries(foreign))
    await refused({ ...flow('wf', 'sequence', ['a']), [key]: value }, 'AGENT_INVALID', key)
  await refused(flow('wf', 'sequence', []), 'AGENT_INVALID', 'workflow.agents')
  await refused(flow('wf', 'sequence', ['a', 'wf']), 'AGENT_INVALID', 'workflow.agents.1')
  await refused(flow('wf', 'parallel', ['a', { agent: 'a' }]), 'AGENT_INVALID', 'workflow.agents.1')
  await refused(
    { id: 'wf', workflow: { kind: 'sequence', agents: ['a'], exitBy: ['a'] } },
    'AGENT_INVALID',
    'workflow.exitBy',
  )
  await refused({ id: 'wf' }, 'AGENT_INVALID', 'model')
  await stage.save(flow('twice', 'sequence', ['a', 'b', 'a']))
  const got = await stage.witan.call<AgentJson>('GET', '/api/v1/agents/twice')
  const again = await stage.witan.call('PUT', '/api/v1/agents/twice', { body: got.body })
  assert.equal(again.status, 200, again.text)
})

test('[F03] [E10] [Rb43] `parents`, unknown ids, itself and doubles are refused for every kind of edge', async () => {
  await stage.save(agent('closed', { parents: [] }))
  await refused(agent('r', { transfers: [{ agent: 'closed' }] }), 'PARENT_NOT_ALLOWED', 'transfers.0.agent')
  await refused(flow('r', 'sequence', ['closed']), 'PARENT_NOT_ALLOWED', 'workflow.agents.0')
  await refused(agent('r', { transfers: [{ agent: 'nobody' }] }), 'AGENT_REF_UNKNOWN', 'transfers.0.agent')
  await refused(flow('r', 'loop', [{ agent: 'nobody' }]), 'AGENT_REF_UNKNOWN', 'workflow.agents.0.agent')
  await refused(agent('r', { transfers: [{ agent: 'r' }] }), 'AGENT_SELF_REFERENCE', 'transfers.0.agent')
  await refused(agent('r', { transfers: [{ agent: 'a' }, { agent: 'a' }] }), 'NAME_TAKEN', 'transfers.1.agent')
  const both = agent('r', { subAgents: [sub('a')], transfers: [{ agent: 'a' }] })
  assert.deepEqual((await check(both)).errors, [], '[E12] both edges may stand')
  await stage.save(agent('lister', { transfers: [{ agent: 'b' }] }))
  const { status } = await stage.witan.call('DELETE', '/api/v1/agents/b')
  assert.equal(status, 409, 'AGENT_REFERENCED')
})

test('[E03] a cycle is reported with the kind of each edge', async () => {
  const { warnings, errors } = await check(
    agent('one', { transfers: [{ agent: 'two' }] }),
    flow('two', 'sequence', ['three']),
    agent('three', { subAgents: [sub('one')] }),
  )
  assert.deepEqual(errors, [])
  const cycle = warnings.find(({ code, agent: id }) => code === 'AGENT_CYCLE' && id === 'one')
  assert.match(cycle?.detail ?? '', /^Cycle: one –transfers→ two –workflow→ three –subAgents→ one\./)
  assert.equal(cycle?.path, 'transfers')
})

test('[E09] [R26] handler paths and the matrix follow the position, never a chain of targets', async () => {
  const act = { actions: [{ name: 'Refund', description: 'Refunds.' }] }
  const { handlers, matrix } = await check(
    agent('desk', { parameters: [hidden], transfers: [{ agent: 'first' }], subAgents: [sub('mid')] }),
    agent('first', { transfers: [{ agent: 'billing', map: { client: 'tenant' } }] }),
    agent('mid', { transfers: [{ agent: 'billing' }] }),
    agent('billing', { ...act, parameters: [{ name: 'client', type: 'string' }] }),
    flow('line', 'sequence', ['billing']),
  )
  assert.deepEqual(handlers.toSorted(), ['billing/Refund', 'mid/billing/Refund'])
  const rows = matrix.filter(({ agent: id }) => id === 'billing')
  assert.deepEqual(rows.map(({ path, boundFrom, mayGenerate }) => [path, boundFrom, mayGenerate]).sort(), [
    ['desk/billing', 'conversation', false],
    ['desk/mid/billing', 'conversation', false],
    ['line/billing', 'conversation', false],
  ])
})

test('[C10] [R26] with reach `tree` a handler path is listed for every agent that may get control', async () => {
  const act = (name: string) => ({ actions: [{ name, description: name }] })
  const { handlers } = await check(
    agent('t-root', { transferReach: 'tree', subAgents: [sub('t-mid')] }),
    agent('t-mid', { ...act('Mid'), subAgents: [sub('t-leaf')] }),
    agent('t-leaf', { ...act('Leaf'), acceptTransfer: true }),
    agent('t-shy', { ...act('Shy'), acceptTransfer: false }),
  )
  assert.deepEqual(handlers.toSorted(), ['Shy', 't-leaf/Leaf', 't-mid/Mid', 't-mid/t-leaf/Leaf'])
})

test('[C16] the findings of hand-overs and workflows', async () => {
  const outputSchema = { type: 'object', properties: { n: { type: 'number' } } }
  const shown = { name: 'tenant', type: 'string' }
  const { errors, warnings } = await check(
    agent('desk', { parameters: [shown], transfers: [{ agent: 'billing' }, { agent: 'off' }] }),
    agent('billing', { parameters: [hidden], outputSchema }),
    agent('off', { disabled: true }),
    agent('needs', { parameters: [{ name: 'topic', type: 'string' }] }),
    flow('line', 'sequence', [{ agent: 'needs', map: { topic: null } }]),
    agent('forced', { toolMode: 'force' }),
    agent('gated', { transfers: [{ agent: 'needs' }], approvals: ['transfer_to_agent'] }),
  )
  assert.deepEqual(briefly(errors), ['WORKFLOW_PARAM_UNBOUND line workflow.agents.0.agent'])
  assert.equal(errors[0]?.detail, '`needs` needs `topic`: a workflow has no model that could supply it.')
  const told = briefly(warnings)
  for (const one of [
    'PARAM_EXPOSED_BY_TRANSFER desk transfers.0.agent',
    'OUTPUT_SCHEMA_DIFFERS desk transfers.0.agent',
    'DELEGATE_UNAVAILABLE desk transfers.1.agent',
    'TOOL_MODE_WITHOUT_TOOLS forced toolMode',
  ])
    assert.ok(told.includes(one), `${one} in ${told.join(', ')}`)
})

test('[D22] the graph names kinds of nodes and edges, and where most edges meet', async () => {
  await stage.save(
    agent('g-desk', { transfers: [{ agent: 'a', description: 'Takes over.' }] }),
    flow('g-line', 'sequence', ['g-desk', 'a']),
  )
  interface Graph {
    nodes: { id: string; kind: string }[]
    edges: { from: string; to: string; kind: string; description: string }[]
    hotSpots: { id: string; in: number; out: number }[]
  }
  const { body } = await stage.witan.call<Graph>('GET', '/api/v1/agents/g-line/graph')
  assert.deepEqual(
    body.nodes.map(({ id, kind }) => `${id} ${kind}`),
    ['g-line workflow', 'g-desk agent', 'a agent'],
  )
  assert.deepEqual(
    body.edges.map(({ from, to, kind }) => `${from} ${kind} ${to}`),
    ['g-line workflow g-desk', 'g-line workflow a', 'g-desk transfers a'],
  )
  assert.deepEqual(body.hotSpots, [
    { id: 'g-line', in: 0, out: 2 },
    { id: 'g-desk', in: 1, out: 1 },
    { id: 'a', in: 2, out: 0 },
  ])
})
