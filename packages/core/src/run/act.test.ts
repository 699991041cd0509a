/** The steps of a tool: how it begins, what it reserves, and what its end records. No tool is run. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failed, result } from '../tool/outcome.ts'
import type { Job } from '../job/job.ts'
import { type BareJob, bareJob } from '../testing/bare-job.ts'
import { beginTool, endTool, recordCheckpoint, reserve, type ToolRun } from './act.ts'
import { admit } from './admit.ts'

const system = [{ id: 'a', tools: ['note'], subAgents: [{ agent: 'b' }] }, { id: 'b' }]

/** A job whose model has called `note`. */
async function noting(): Promise<BareJob> {
  const run = await bareJob(system)
  run.reply('', ['note', {}])
  admit(run.job.run.root, run.job)
  run.lines()
  return run
}

function begun(job: Job, controller = new AbortController()): ToolRun | null {
  const [toolCall] = job.run.root.toolCalls
  assert.ok(toolCall)
  return beginTool(toolCall, job, controller)
}

test('a tool begins without an entry, and its end is one', async () => {
  const run = await noting()
  const tool = begun(run.job)
  assert.ok(tool !== null && reserve(tool))
  assert.deepEqual(run.lines(), [])
  recordCheckpoint(tool.toolCall, run.job, { note: { at: 1 } })
  assert.equal(endTool(tool, result('noted')), true)
  assert.deepEqual(run.lines(), ['checkpoint', 'end tool'])
})

test('what a tool came to is recorded in its own form', async () => {
  const child = { agent: 'b', message: 'Look.', generated: null, map: {}, history: 'agent' } as const
  for (const [outcome, lines] of [
    [failed('TOOL_FAILED', 'no'), ['error tool TOOL_FAILED']],
    [{ kind: 'pending', child }, ['start agent b by b']],
    [{ kind: 'pending', interruptions: [{ kind: 'question', questions: [] }] }, ['question_required']],
  ] as const) {
    const run = await noting()
    endTool(begun(run.job) as ToolRun, outcome as Parameters<typeof endTool>[1])
    assert.deepEqual(run.lines(), lines)
  }
})

test('[D10] nobody waits for a tool that was aborted: its late outcome is no entry', async () => {
  const run = await noting()
  const controller = new AbortController()
  const tool = begun(run.job, controller) as ToolRun
  controller.abort('cancelled')
  assert.deepEqual([endTool(tool, result('late')), run.lines()], [false, []])
})
