/** The steps of a thinking: what each records, and what comes next. No model is asked. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ModelCallError, type ModelReply } from '../model/model.ts'
import type { Job } from '../job/job.ts'
import { type BareAgent, type BareJob, bareJob } from '../testing/bare-job.ts'
import { finish } from './settle.ts'
import {
  endRequest,
  firstStep,
  type NextStep,
  type Outcome,
  type Request,
  takeStep,
  type Thinking,
} from './thinking.ts'

/** A history is too long for this agent once it has any. */
const forgetful: BareAgent = {
  id: 'a',
  tools: ['note'],
  history: { trim: { kind: 'summarize', maxTokensBefore: 1 } },
}

const reply = (text: string): ModelReply => ({
  text,
  toolCalls: [],
  finishReason: 'stop',
  usage: null,
  model: 'play/model',
})
const replied = (text: string): Outcome => ({ reply: reply(text) })
const failed = (trouble: 'context' | null): Outcome => ({
  failure: new ModelCallError('no', { retryable: false, trouble }),
})

interface Began {
  readonly thinking: Thinking
  readonly controller: AbortController
  lines(): string[]
}

function thinkingIn(job: Job, { lines }: BareJob): Began {
  const controller = new AbortController()
  job.busy.set(job.identity.id, controller)
  return { lines, controller, thinking: { call: job.run.root, job, signal: controller.signal, refused: null } }
}

async function thinkingOf(agent: BareAgent): Promise<Began> {
  const run = await bareJob([agent])
  return thinkingIn(run.job, run)
}

/** The second run of an agent whose history is too long by then. */
async function tooLong(): Promise<Began> {
  const run = await bareJob([forgetful])
  run.reply(
    'An answer that is much longer than twenty tokens, so that the history has to be cut before the next one. And on.',
  )
  await finish(run.job)
  const began = thinkingIn(run.runOf('And what then?'), run)
  run.lines()
  return began
}

function requestIn(next: NextStep): Request {
  assert.ok(next !== null && typeof next !== 'string', `there is no request, but ${next}`)
  return next
}

const isBusy = ({ thinking: { job } }: Began) => job.busy.has(job.identity.id)

const failureOf = ({ thinking: { job } }: Began) => job.lifecycle.failure?.code

test('an answer is asked for, and its reply is recorded', async () => {
  const run = await thinkingOf({ id: 'a' })
  const request = requestIn(takeStep(run.thinking, firstStep(run.thinking)))
  assert.deepEqual([request.purpose, run.thinking.job.lifecycle.modelCalls.length, run.lines()], [null, 1, []])
  assert.equal(endRequest(run.thinking, request, replied('Done.')), null)
  assert.deepEqual([run.lines(), run.thinking.job.lifecycle.modelCalls.length, isBusy(run)], [['end model'], 0, false])
})

test('[O6] a request without a reply is an entry, and a root that fails so fails its run', async () => {
  const run = await thinkingOf({ id: 'a' })
  const request = requestIn(takeStep(run.thinking, 'answer'))
  assert.equal(endRequest(run.thinking, request, failed(null)), null)
  assert.deepEqual([run.lines(), failureOf(run)], [['error model MODEL_CALL_FAILED'], 'MODEL_CALL_FAILED'])
})

test('[O6] what was cut off is an entry and no failure, unless the time of the call was over', async () => {
  for (const [reason, failure] of [
    ['cancelled', undefined],
    [new ModelCallError('too long', { retryable: false, trouble: 'time' }), 'MODEL_CALL_FAILED'],
  ] as const) {
    const run = await thinkingOf({ id: 'a' })
    const request = requestIn(takeStep(run.thinking, 'answer'))
    run.controller.abort(reason)
    assert.equal(endRequest(run.thinking, request, replied('Too late.')), null)
    assert.deepEqual([run.lines(), failureOf(run)], [['error model MODEL_CALL_LOST'], failure])
  }
})

test('[O6] a call that the budget refuses is an entry, and no request is made', async () => {
  const spent = await bareJob([{ id: 'a', limits: { maxModelCalls: 1 } }])
  spent.reply('', ['note', {}])
  const run = thinkingIn(spent.job, spent)
  assert.equal(takeStep(run.thinking, 'answer'), null)
  assert.deepEqual([run.lines(), failureOf(run)], [['error model BUDGET_EXCEEDED'], 'BUDGET_EXCEEDED'])
})

test('[Rb38] a history that is too long is summed up first, and then the answer is asked for', async () => {
  const run = await tooLong()
  assert.equal(firstStep(run.thinking), 'cut')
  const summary = requestIn(takeStep(run.thinking, 'cut'))
  assert.equal(summary.purpose, 'summary')
  assert.equal(endRequest(run.thinking, summary, replied('It went well.')), 'answer')
  assert.deepEqual(run.lines(), ['end model', 'summary'])
  assert.equal(isBusy(run), true, 'the call goes on thinking')
  assert.equal(requestIn(takeStep(run.thinking, 'answer')).purpose, null)
})

test('[Rb38] without a summary the history stays, and the answer is asked for all the same', async () => {
  for (const [outcome, lines] of [
    [replied('  '), ['end model', 'notice HISTORY_NOT_TRIMMED']],
    [failed(null), ['error model MODEL_CALL_FAILED', 'notice HISTORY_NOT_TRIMMED']],
  ] as const) {
    const run = await tooLong()
    const summary = requestIn(takeStep(run.thinking, 'cut'))
    assert.equal(endRequest(run.thinking, summary, outcome), 'answer')
    assert.deepEqual(run.lines(), lines)
  }
})

test('[Rb39] a request beyond the context is made once more behind a cut, and then fails', async () => {
  const run = await tooLong()
  const first = requestIn(takeStep(run.thinking, 'answer'))
  assert.equal(endRequest(run.thinking, first, failed('context')), 'cut')
  assert.deepEqual([run.lines(), isBusy(run)], [['error model MODEL_CONTEXT_EXCEEDED'], true])
  const summary = requestIn(takeStep(run.thinking, 'cut'))
  assert.equal(endRequest(run.thinking, summary, replied('It went well.')), 'answer')
  const again = requestIn(takeStep(run.thinking, 'answer'))
  run.lines()
  assert.equal(endRequest(run.thinking, again, failed('context')), null)
  assert.deepEqual([run.lines(), failureOf(run)], [['error model MODEL_CONTEXT_EXCEEDED'], 'MODEL_CONTEXT_EXCEEDED'])
})

test('[Rb39] a request beyond the context fails at once where nothing can be cut, or no summary comes', async () => {
  const short = await thinkingOf({ id: 'a' })
  assert.equal(endRequest(short.thinking, requestIn(takeStep(short.thinking, 'answer')), failed('context')), null)
  const run = await tooLong()
  assert.equal(endRequest(run.thinking, requestIn(takeStep(run.thinking, 'answer')), failed('context')), 'cut')
  const summary = requestIn(takeStep(run.thinking, 'cut'))
  assert.equal(endRequest(run.thinking, summary, failed(null)), null)
  for (const one of [short, run]) assert.equal(failureOf(one), 'MODEL_CONTEXT_EXCEEDED')
})

test('a step that comes after its call was stopped does nothing', async () => {
  for (const step of ['cut', 'answer'] as const) {
    const run = await tooLong()
    run.controller.abort('cancelled')
    assert.deepEqual([firstStep(run.thinking), takeStep(run.thinking, step), run.lines()], ['answer', null, []])
  }
})
