/** Kinds of tools through the conformance kit of tools; those for tasks and for knowledge have files of their own. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext } from 'node:test'
import { z } from 'zod'
import { parseProtocol } from '../../agent/protocol/parse-protocol.ts'
import { peerTools } from '../../edge/peer.ts'
import { remoteTools } from '../../edge/remote.ts'
import { defineTool, type FunctionTool } from '../../tool/define-tool.ts'
import type { FindAgent } from '../../tool/delegation.ts'
import { actionTools } from '../../tool/kinds/action.ts'
import { approved } from '../../tool/kinds/approval.ts'
import { artifactTools } from '../../tool/kinds/artifact.ts'
import { exitLoopTools } from '../../tool/kinds/exit-loop.ts'
import { functionTools } from '../../tool/kinds/function.ts'
import { queryTools } from '../../tool/kinds/query.ts'
import { planTools } from '../../tool/kinds/plan.ts'
import { questionTools } from '../../tool/kinds/question.ts'
import { createSqliteSource } from '../../tool/kinds/sqlite-source.ts'
import { toolModeTools } from '../../tool/kinds/tool-mode.ts'
import { userTools } from '../../tool/kinds/user.ts'
import { testTool } from './tool.ts'
import type { ToolHarness } from './tool-harness.ts'
import { agentOf, secretOf } from './tool-fixtures.ts'

const harnesses: ToolHarness[] = []

const tenant = { name: 'tenant', type: 'string', description: '', policy: 'forbidModelGeneration' } as const

const helper = agentOf({ id: 'helper', description: 'Helps.', parents: [] })
const findHelper: FindAgent = (_, id) => (id === helper.id ? helper : null)

/** Function tools around one list of effects. */
function functions(make: (effects: string[]) => FunctionTool): ToolHarness['open'] {
  return () => {
    const effects: string[] = []
    const tool = make(effects)
    return { source: functionTools(new Map([[tool.name, tool]]), findHelper), effects: () => effects }
  }
}

harnesses.push({
  name: 'a function tool',
  tool: 'count',
  agent: { id: 'clerk', tools: ['count'], parameters: [tenant] },
  open: functions(() =>
    defineTool({
      name: 'count',
      description: 'Counts letters.',
      effect: 'none',
      parameters: z.strictObject({ text: z.string(), tenant: z.string(), times: z.int().default(1) }),
      execute: ({ text, times, tenant: to }) => {
        assert.equal(to, secretOf('tenant'))
        return times > 1000 ? text.repeat(times) : { letters: text.length * times }
      },
    }),
  ),
  fitting: [
    { arguments: { text: 'four' }, comesTo: 'result' },
    { arguments: { text: 'four', times: 2 }, comesTo: 'result' },
  ],
  unfitting: [{}, { text: 4 }, { text: 'four', times: 'many' }, { text: 'four', times: 0.5 }],
  oversize: { text: 'abc', times: 200_000 },
})

harnesses.push({
  name: 'a function tool with a keyed effect',
  tool: 'pay',
  agent: { id: 'clerk', tools: ['pay'] },
  open: functions((effects) =>
    defineTool({
      name: 'pay',
      description: 'Pays.',
      effect: 'keyed',
      parameters: z.strictObject({
        sum: z.coerce.number(),
        items: z.array(z.strictObject({ id: z.string() })).default([]),
      }),
      execute: (_, { callId }) => void effects.push(callId),
    }),
  ),
  fitting: [{ arguments: { sum: 3 }, comesTo: 'result' }],
  unfitting: [{ sum: 'nothing' }, { sum: 1, items: Array.from({ length: 50 }, () => ({ ['x'.repeat(100_000)]: 1 })) }],
})

harnesses.push({
  name: 'a function tool that asks, runs an agent and leaves notes',
  tool: 'move',
  agent: { id: 'clerk', tools: ['move'], parameters: [tenant] },
  open: functions((effects) =>
    defineTool({
      name: 'move',
      description: 'Moves things.',
      parameters: z.strictObject({ what: z.string() }),
      async execute({ what }, { ask, approve, agents, checkpoint, callId }) {
        const done = checkpoint.value as { readonly packed: string } | undefined
        if (done === undefined) {
          const { where } = await ask([{ id: 'where', text: 'Where to?', options: [{ id: 'a', label: 'A' }] }])
          if (!(await approve({ what })).approved) return 'Nothing was moved.'
          await agents.run('helper', `Carry ${what}.`)
          effects.push(`${callId} packed`)
          await checkpoint.save({ packed: where?.options?.[0] })
        }
        effects.push(`${callId} moved`)
        return `Moved ${what}.`
      },
    }),
  ),
  fitting: [{ arguments: { what: 'books' }, comesTo: 'interruption' }],
  unfitting: [{}, { what: ['books'] }],
  noted: { what: 'books' },
})

harnesses.push({
  name: 'a function tool that runs an agent and then works for long',
  tool: 'watch',
  agent: { id: 'clerk', tools: ['watch'] },
  open: functions(() =>
    defineTool({
      name: 'watch',
      description: 'Watches.',
      effect: 'none',
      parameters: z.strictObject({ agent: z.string(), forever: z.boolean().default(false) }),
      async execute({ agent, forever }, { agents, signal }) {
        if (!forever) return (await agents.run(agent, 'What do you see?')).text
        return new Promise((_, stop) => {
          if (signal.aborted) stop(signal.reason)
          signal.addEventListener('abort', () => stop(signal.reason))
        })
      },
    }),
  ),
  fitting: [{ arguments: { agent: 'helper' }, comesTo: 'child' }],
  unfitting: [{ agent: null }],
  endless: { agent: '', forever: true },
})

function people(context: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'witan-tool-'))
  const file = join(folder, 'people.db')
  const database = new DatabaseSync(file)
  database.exec('create table people (id integer, name text, owner text)')
  const add = database.prepare('insert into people values (?, ?, ?)')
  add.run(1, 'Ada', secretOf('tenant'))
  add.run(2, 'Bo', 'somebody else')
  database.close()
  const source = createSqliteSource({ file })
  context.after(async () => {
    await source.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { source: queryTools(new Map([['shop', source]])) }
}

const query = {
  name: 'people',
  description: 'The people of whom one is in charge.',
  source: 'shop',
  parametersSchema: {
    type: 'object',
    properties: { least: { type: 'integer' }, tenant: { type: 'string' } },
    required: ['least', 'tenant'],
    additionalProperties: false,
  },
}

harnesses.push({
  name: 'a query',
  tool: 'people',
  agent: {
    id: 'clerk',
    parameters: [tenant],
    queries: [{ ...query, query: 'select id, name from people where owner = $tenant and id >= $least order by id' }],
  },
  open: people,
  fitting: [
    { arguments: { least: 1 }, comesTo: 'result' },
    { arguments: { least: 5 }, comesTo: 'result' },
  ],
  unfitting: [{}, { least: 'one' }, { least: 1.5 }],
})

harnesses.push({
  name: 'a query that runs until it is stopped',
  tool: 'people',
  agent: {
    id: 'clerk',
    parameters: [tenant],
    queries: [
      {
        ...query,
        query:
          'with recursive c(n) as (select 1 union all select n + 1 from c where $least < 9) select count(*), $tenant is null as t from c',
      },
    ],
  },
  open: people,
  fitting: [{ arguments: { least: 9 }, comesTo: 'result' }],
  unfitting: [{ least: null }],
  endless: { least: 1 },
})

const refund = {
  name: 'refund',
  description: 'Pays money back.',
  parametersSchema: {
    type: 'object',
    properties: { order: { type: 'string' }, tenant: { type: 'string' } },
    required: ['order', 'tenant'],
    additionalProperties: false,
  },
}

const action: ToolHarness = {
  name: 'an action',
  tool: 'refund',
  agent: { id: 'clerk', parameters: [tenant], actions: [refund] },
  open: () => ({ source: actionTools }),
  fitting: [{ arguments: { order: 'A-1' }, comesTo: 'interruption' }],
  unfitting: [{}, { order: 1 }],
}

harnesses.push(action)

for (const when of [undefined, { properties: { order: { const: 'A-1' } } }]) {
  harnesses.push({
    ...action,
    name: `an action behind ${when === undefined ? 'a gate' : 'a gate with a condition'}`,
    agent: { ...action.agent, approvals: [when === undefined ? 'refund' : { tool: 'refund', when }] },
    open: () => ({ source: approved(actionTools, { predicate: () => undefined, report: assert.fail }) }),
    fitting: [...action.fitting, { arguments: { order: 'B-2' }, comesTo: 'interruption' }],
    gated: true,
  })
}

harnesses.push({
  name: 'questions',
  tool: 'ask_question',
  agent: { id: 'clerk', questions: true, parameters: [tenant] },
  open: () => ({ source: questionTools }),
  fitting: [
    { arguments: { questions: [{ id: 'q', text: 'Which?' }] }, comesTo: 'interruption' },
    {
      arguments: { questions: [{ id: 'q', text: 'Which?', options: [{ id: 'a', label: 'A' }] }] },
      comesTo: 'interruption',
    },
  ],
  unfitting: [
    {},
    { questions: [] },
    { questions: Array.from({ length: 20 }, () => ({ id: '', text: '' })) },
    { questions: Array.from({ length: 20 }, (_, index) => ({ id: `q${index >> 1}`, text: 'Twice?' })) },
  ],
})

harnesses.push({
  name: 'the end of a tool mode',
  tool: 'end_tool_mode',
  agent: { id: 'clerk', toolMode: 'force', endToolMode: true, parameters: [tenant] },
  open: () => ({ source: toolModeTools }),
  fitting: [{ arguments: {}, comesTo: 'result' }],
  unfitting: [],
})

harnesses.push({
  name: 'a message to a person',
  tool: 'ask_user',
  agent: { id: 'clerk', users: [{ id: 'ada', name: 'Ada' }, { id: 'bo' }], parameters: [tenant] },
  open: () => ({ source: userTools }),
  fitting: [
    { arguments: { user: 'ada', message: 'Is it done?' }, comesTo: 'interruption' },
    { arguments: { user: 'cy', message: 'Is it done?' }, comesTo: 'failure' },
    { arguments: { message: 'Is it done?' }, comesTo: 'failure' },
  ],
  unfitting: [{}, { user: 'ada', message: ' ' }, { user: 1, message: 'x'.repeat(100_001) }],
})

harnesses.push({
  name: 'a message to all people',
  tool: 'ask_all_users',
  agent: { id: 'clerk', users: [{ id: 'ada', name: 'Ada' }, { id: 'bo' }], parameters: [tenant] },
  open: () => ({ source: userTools }),
  fitting: [{ arguments: { message: 'Is it done?' }, comesTo: 'interruption' }],
  unfitting: [{}, { message: ' ' }, { message: 1 }],
})

harnesses.push({
  name: 'the exit of a loop',
  tool: 'exit_loop',
  agent: { id: 'clerk', parameters: [tenant] },
  open: () => ({ source: (caller) => exitLoopTools({ ...caller, loop: { exitBy: ['clerk'] } }) }),
  fitting: [{ arguments: {}, comesTo: 'result' }],
  unfitting: [],
})

const planStep = { id: 'a', title: 'Look', status: 'in_progress' }
harnesses.push({
  name: 'a plan',
  tool: 'update_plan',
  agent: { id: 'clerk', enablePlanning: true, limits: { maxPlanSteps: 3 }, parameters: [tenant] },
  open: () => ({ source: planTools }),
  fitting: [
    { arguments: { steps: [] }, comesTo: 'result' },
    { arguments: { steps: [planStep, { ...planStep, id: 'b', status: 'dropped', note: 'No.' }] }, comesTo: 'result' },
  ],
  unfitting: [
    {},
    { steps: 'a' },
    { steps: [planStep, planStep] },
    { steps: [planStep, { ...planStep, id: 'b' }] },
    { steps: Array.from({ length: 4 }, (_, index) => ({ ...planStep, id: `s${index}`, status: 'pending' })) },
    { steps: [{ ...planStep, title: 'x'.repeat(301) }] },
    { steps: [], reason: 'x'.repeat(1001) },
  ],
})

const withArtifacts = {
  agent: { id: 'clerk', artifacts: true, parameters: [tenant] },
  open: () => ({ source: artifactTools }),
}
const report = { name: 'report.md', media_type: 'text/markdown', text: 'Done.' }

harnesses.push({
  ...withArtifacts,
  name: 'an artifact that is saved',
  tool: 'save_artifact',
  fitting: [
    { arguments: report, comesTo: 'result' },
    { arguments: { ...report, media_type: 'Text/Markdown; charset=utf-8' }, comesTo: 'result' },
  ],
  unfitting: [{}, { ...report, name: '../report.md' }, { ...report, media_type: 'none' }, { ...report, text: null }],
})

harnesses.push({
  ...withArtifacts,
  name: 'an artifact that is read',
  tool: 'read_artifact',
  fitting: [
    { arguments: { artifact_id: `art_${'a'.repeat(26)}` }, comesTo: 'failure' },
    { arguments: { artifact_id: 'x'.repeat(1_000) }, comesTo: 'failure' },
  ],
  unfitting: [{}, { artifact_id: 1 }],
})

const asking = parseProtocol({
  name: 'ask',
  purpose: 'Asks for a count.',
  messages: [
    {
      name: 'count',
      from: 'initiator',
      schema: {
        type: 'object',
        properties: { item: { type: 'string', maxLength: 100 } },
        required: ['item'],
        additionalProperties: false,
      },
    },
  ],
})

harnesses.push({
  name: 'a message to a peer',
  tool: 'helper_count',
  agent: { id: 'clerk', speaks: [{ protocol: 'ask', role: 'initiator', peers: ['helper'] }], parameters: [tenant] },
  open: () => ({ source: peerTools({ find: findHelper, protocol: () => ({ data: asking, revision: 1 }) }) }),
  fitting: [{ arguments: { item: 'paper' }, comesTo: 'child' }],
  unfitting: [{}, { item: 1 }, { item: 'paper', more: true }, { item: 'x'.repeat(101) }],
})

harnesses.push({
  name: 'a call of an agent on another server',
  tool: 'docs',
  agent: { id: 'clerk', remotes: [{ name: 'docs', address: '@docs@b.test', blocking: 'model' }], parameters: [tenant] },
  open: () => ({ source: remoteTools({ call: () => assert.fail('nothing is called yet'), abandon: () => {} }) }),
  fitting: [
    { arguments: { message: 'Where?' }, comesTo: 'child' },
    { arguments: { message: 'Where?', blocking: true }, comesTo: 'child' },
  ],
  unfitting: [{}, { message: '' }, { message: 1 }, { message: 'x', more: true }, { message: 'x', blocking: 'no' }],
})

describe('kinds of tools', () => {
  for (const harness of harnesses) testTool(harness)
})
