/** Two hundred agents that list each other: they are checked and saved in moments, and the process goes on with its other work meanwhile. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentInput } from '@witan/protocol'
import { createStage } from '../support/stage.ts'
import { assertCheap } from '../support/cpu.ts'

const many = 200

/** Each lists ten others and hands ten parameters to each of them, every one under another name. */
function crowd(own: (agent: number, parameter: number) => object = () => ({})): AgentInput[] {
  const ten = Array.from({ length: 10 }, (_, index) => index)
  return Array.from({ length: many }, (_, at) => ({
    id: `a${at}`,
    model: 'play/model',
    instructions: 'Work.',
    parameters: ten.map((index) => ({ name: `p${index}`, ...own(at, index) })),
    subAgents: ten.map((index) => ({
      agent: `a${(at + 1 + index * 7) % many}`,
      map: Object.fromEntries(ten.map((name) => [`p${name}`, `p${(name + 1) % 10}`])),
    })),
  }))
}

// Both are far above what it takes; walking every path took 14 s, in one stretch.
const bounds = { total: 4000, longest: 200 }
/** One save. */
const oneMs = 400

test('[P12] two hundred agents are checked in moments, and others go first again and again', async () => {
  const stage = createStage({ agents: [], plays: {} })
  const { result } = await assertCheap(bounds, () => stage.runtime.agents.check(crowd()))
  assert.deepEqual(result.errors, [])
  assert.equal(result.warnings.filter(({ code }) => code === 'AGENT_CYCLE').length, 21 * many)
  assert.equal(result.matrix.length, 20_000)
})

test('[P12] so are two hundred that hide from each other what others show', async () => {
  const stage = createStage({ agents: [], plays: {} })
  const trusted = { sendToModel: false, policy: 'forbidModelGeneration' as const }
  const agents = crowd((at, parameter) => ((at + parameter) % 3 === 0 ? trusted : {}))
  const { result } = await assertCheap(bounds, () => stage.runtime.agents.check(agents))
  const hidden = agents.flatMap(({ parameters = [] }) => parameters.filter((one) => one.sendToModel === false))
  const places = new Set(
    result.warnings
      .filter(({ code }) => code === 'PARAM_EXPOSED_UPSTREAM')
      .map(({ agent, path }) => `${agent} ${path}`),
  )
  assert.equal(places.size, hidden.length)
})

test('two hundred agents are saved in moments, and one more among them at once', async () => {
  const agents = crowd()
  const { result: stage } = await assertCheap(bounds, async () => {
    const anew = createStage({ agents: [], plays: {} })
    await anew.runtime.agents.saveAll(agents)
    return anew
  })
  let revision = 1
  const { result } = await assertCheap({ total: oneMs }, () => {
    revision += 1
    return stage.runtime.agents.save({ ...(agents[0] as AgentInput), instructions: `Work ${revision} times harder.` })
  })
  assert.equal(result.agent.revision, revision)
})

test('an agent keeps at most two hundred warnings; a check tells them all', async () => {
  const stage = createStage({ agents: [], plays: {} })
  const agents = crowd(() => ({ sendToModel: false })).slice(0, 30)
  const set = agents.map((agent, at) => ({ ...agent, subAgents: at < 29 ? [{ agent: `a${at + 1}` }] : [] }))
  await stage.runtime.agents.saveAll(set)
  const { warnings } = await stage.runtime.agents.get('a0')
  assert.equal(warnings.length, 200)
  const report = await stage.runtime.agents.check()
  assert.equal(report.warnings.filter(({ code }) => code === 'PARAM_HIDDEN_GENERATABLE').length, 300)
})

/** An agent with 50 actions of 19 patterns each, all different and dear to compile. */
function patterned(id: string, length: number): AgentInput {
  const action = (at: number) => ({
    name: `act-${at}`,
    description: 'Acts.',
    parametersSchema: {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 19 }, (_, index) => [
          `p${index}`,
          { type: 'string', pattern: `${id}${at}x${index}([\\p{L}\\p{N}]{1,40}){${length}}` },
        ]),
      ),
    },
  })
  const actions = Array.from({ length: 50 }, (_, at) => action(at))
  return { id, model: 'play/model', instructions: 'Work.', actions }
}

test('a save of a thousand patterns gives way to others between them', async () => {
  const stage = createStage({ agents: [], plays: {} })
  let saves = 0
  await assertCheap({ longest: bounds.longest }, () => {
    saves += 1
    return stage.runtime.agents.save(patterned(`a${saves}`, 4))
  })
  // Each of these repeats more often than an expression may.
  const refused = await assertCheap({ longest: bounds.longest }, () => stage.runtime.agents.check([patterned('b', 50)]))
  assert.ok(refused.result.errors.length >= 50)
})

test('the patterns of one save are bounded together, and those of one check', async () => {
  const stage = createStage({ agents: [], plays: {} })
  const agents = Array.from({ length: 4 }, (_, at) => patterned(`agent-${at}`, 1))
  const words = /the patterns of one request have more than 100000 characters/
  await assert.rejects(stage.runtime.agents.saveAll(agents), words)
  assert.match((await stage.runtime.agents.check(agents)).errors.map(({ detail }) => detail).join(), words)
  const [one] = agents
  if (one !== undefined) await stage.runtime.agents.save(one)
})
