/** What becomes of each kind of tool call that a model may ask for, in one step. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BareAgent, bareJob } from '../testing/bare-job.ts'
import { admit } from './admit.ts'

const a: BareAgent = {
  id: 'a',
  tools: ['note'],
  subAgents: [{ agent: 'b' }],
  actions: [{ name: 'Ship', description: 'Ships.', parametersSample: { order: 1 } }],
  endToolMode: true,
}

interface Row {
  readonly call: readonly [name: string, args: unknown]
  readonly more?: Partial<BareAgent>
  readonly lines: readonly string[]
}

const rows: Readonly<Record<string, Row>> = {
  'a tool of the process begins': { call: ['note', {}], lines: ['start tool note'] },
  'a delegation is the start of the child': { call: ['b', { message: 'Look.' }], lines: ['start agent b by b'] },
  'an action begins, and is asked of the client': {
    call: ['Ship', { order: 7 }],
    lines: ['start tool Ship', 'action_required Ship'],
  },
  'a tool that there is not begins and fails': {
    call: ['nowhere', {}],
    lines: ['start tool nowhere', 'error tool TOOL_UNKNOWN'],
  },
  'arguments that are no JSON are refused': {
    call: ['note', '{"what":'],
    lines: ['start tool note', 'error tool TOOL_ARGS_INVALID'],
  },
  'an argument that the schema does not have is dropped, and the call begins': {
    call: ['Ship', { order: 7, colour: 'red' }],
    lines: ['notice ARGUMENT_UNKNOWN_DROPPED', 'start tool Ship', 'action_required Ship'],
  },
  'a call that wants an approval does not begin': {
    call: ['note', {}],
    more: { approvals: ['note'] },
    lines: ['approval_required'],
  },
}

for (const [what, { call, more = {}, lines }] of Object.entries(rows)) {
  test(what, async () => {
    const run = await bareJob([{ ...a, ...more }, { id: 'b' }])
    run.reply('', call)
    admit(run.job.run.root, run.job)
    assert.deepEqual(run.lines(), lines)
  })
}

test('the calls of one reply are admitted together, in their order', async () => {
  const run = await bareJob([a, { id: 'b' }])
  run.reply('', ['b', { message: 'One.' }], ['note', {}], ['b', { message: 'Two.' }])
  admit(run.job.run.root, run.job)
  assert.deepEqual(run.lines(), ['start agent b by b', 'start tool note', 'start agent b by b'])
})
