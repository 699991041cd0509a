/** Two hundred agents that list each other: they are checked and saved in moments, and the process goes on with its other work meanwhile. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentInput } from '@witan/protocol'
import { createStage } from '../support/stage.ts'

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

/** What it cost this process, in ms of its processors, so that other processes of the machine do not count; and in its longest stretch. */
async function costOf<Result>(
  work: () => Promise<Result>,
): Promise<{ result: Result; total: number; longest: number }> {
  const now = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
  const began = now()
  let longest = 0
  let last = began
  let isDone = false
  const turn = () => {
    const at = now()
    longest = Math.max(longest, at - last)
    last = at
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  const result = await work().finally(() => {
    isDone = true
  })
  turn()
  return { result, total: now() - began, longest }
}

// Both bounds are far above what it takes, and the CPU of the garbage collector counts; walking every path took 14 s, in one stretch.
const mostMs = 4000
const longestMs = 200
/** One save. What other tests of this process leave to be done counts too. */
const oneMs = 400

test('[P12] two hundred agents are checked in moments, and others go first again and again', async () => {
  const stage = createStage({ agents: [], plays: {} })
  const { result, total, longest } = await costOf(() => stage.runtime.agents.check(crowd()))
  assert.deepEqual(result.errors, [])
  assert.equal(result.warnings.filter(({ code }) => code === 'AGENT_CYCLE').length, 21 * many)
  assert.equal(result.matrix.length, 20_000)
  assert.ok(total < mostMs, `${total} ms`)
  assert.ok(longest < longestMs, `${longest} ms in one stretch`)
})

test('[P12] so are two hundred that hide from each other what others show', async () => {
  const stage = createStage({ agents: [], plays: {} })
  const trusted = { sendToModel: false, policy: 'forbidModelGeneration' as const }
  const agents = crowd((at, parameter) => ((at + parameter) % 3 === 0 ? trusted : {}))
  const { result, total, longest } = await costOf(() => stage.runtime.agents.check(agents))
  const hidden = agents.flatMap(({ parameters = [] }) => parameters.filter((one) => one.sendToModel === false))
  const places = new Set(
    result.warnings
      .filter(({ code }) => code === 'PARAM_EXPOSED_UPSTREAM')
      .map(({ agent, path }) => `${agent} ${path}`),
  )
  assert.equal(places.size, hidden.length)
  assert.ok(total < mostMs, `${total} ms`)
  assert.ok(longest < longestMs, `${longest} ms in one stretch`)
})

test('two hundred agents are saved in moments, and one more among them at once', async () => {
  const stage = createStage({ agents: [], plays: {} })
  const agents = crowd()
  const all = await costOf(() => stage.runtime.agents.saveAll(agents))
  assert.ok(all.total < mostMs, `${all.total} ms`)
  assert.ok(all.longest < longestMs, `${all.longest} ms in one stretch`)
  const changed = { ...(agents[0] as AgentInput), instructions: 'Work harder.' }
  const one = await costOf(() => stage.runtime.agents.save(changed))
  assert.equal(one.result.agent.revision, 2)
  assert.ok(one.total < oneMs, `${one.total} ms`)
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
  const saved = await costOf(() => stage.runtime.agents.save(patterned('a', 4)))
  assert.ok(saved.longest < longestMs, `${saved.longest} ms in one stretch`)
  // Each of these repeats more often than an expression may.
  const refused = await costOf(() => stage.runtime.agents.check([patterned('b', 50)]))
  assert.ok(refused.result.errors.length >= 50)
  assert.ok(refused.longest < longestMs, `${refused.longest} ms in one stretch`)
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
