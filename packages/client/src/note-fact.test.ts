/** What an agent planned and thought of its answer stands at its call, whatever a server sends. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { events, viewOf } from './testing/events.ts'

test('[F08] a call has the plan of its agent, and each step the calls that began in it; what is no plan changes nothing', () => {
  const step = (id: string, status: string, more = {}) => ({ id, title: `Do ${id}`, status, ...more })
  const plan = (revision: number, ...steps: unknown[]) => ({ revision, steps, reason: null })
  const left = plan(4, step('a', 'in_progress'))
  const started = viewOf(
    events(
      ['start', 'a', { message: 'Go.', plan: left }, 'agent'],
      ['start', 'a.one', { name: 'look', arguments: {}, bound: [] }, 'tool'],
      ['start', 'a.w', { name: 'update_plan', arguments: {}, bound: [] }, 'tool'],
      ['plan', 'a.w', plan(5, step('a', 'completed', { note: 'Seen.' }), step('b', 'in_progress'))],
      ['start', 'a.b', { message: 'Look.' }, 'agent'],
      ['start', 'a.c', { message: 'Mine.', handedFrom: 'a' }, 'agent'],
      ['plan', 'no.where', plan(6)],
    ),
  )
  assert.deepEqual(started.calls.get('a')?.plan, {
    revision: 5,
    steps: [
      { ...step('a', 'completed'), note: 'Seen.', calls: ['a.one'] },
      { ...step('b', 'in_progress'), note: null, calls: ['a.b'] },
    ],
  })
  assert.equal(started.calls.get('a.b')?.plan, null)
  const odd = viewOf(
    events(
      ['start', 'a', { message: 'Go.', plan: 'x' }, 'agent'],
      ['plan', 'a.w', { revision: 'x', steps: [1, { id: 2, status: 'done' }, { status: 'pending' }] }],
    ),
  )
  const nameless = { id: '', title: '', status: 'pending', note: null, calls: [] }
  assert.deepEqual(odd.calls.get('a')?.plan, { revision: 0, steps: [nameless] })
})

test('[F08] a call has what was said of its answers, and its answer is no reply that criticises it', () => {
  const body = (more = {}) => ({ model: 'm', usage: null, finishReason: 'stop', attempt: 1, ...more })
  const found = { verdict: 'revise', problems: ['No price.', 7], by: 'a', seq: 2 }
  const { calls } = viewOf(
    events(
      ['start', 'a', { message: 'Go.' }, 'agent'],
      ['end', 'a', body({ purpose: 'answer' }), 'model'],
      ['end', 'a', body({ purpose: 'critique' }), 'model'],
      ['critique', 'a', found],
      ['critique', 'nowhere', found],
      ['critique', 'a', { verdict: 'odd' }],
    ),
  )
  const call = calls.get('a')
  assert.equal(call?.answerSeq, 2)
  assert.deepEqual(
    call?.critiques.map(({ at: _, ...one }) => one),
    [
      { seq: 4, verdict: 'revise', problems: ['No price.'], by: 'a', answerSeq: 2 },
      { seq: 6, verdict: 'pass', problems: [], by: '', answerSeq: 0 },
    ],
  )
})

test('[F02] a call has what hooks decided of it, whatever a server says of that', () => {
  const refused = { hook: 'audit', at: 'beforeTool', effect: 'refused', reason: 'too much' }
  const { calls } = viewOf(
    events(
      ['start', 'a', { message: 'Go.' }, 'agent'],
      ['hook', 'a', refused],
      ['hook', 'nowhere', refused],
      ['hook', 'a', { hook: 'audit', at: 'afterRun', effect: 'rewritten', reason: null }],
      ['hook', 'a', { hook: 7, effect: 'odd' }],
    ),
  )
  assert.deepEqual(
    calls.get('a')?.hooks.map(({ at: _, ...one }) => one),
    [
      { seq: 2, hook: 'audit', point: 'beforeTool', effect: 'refused', reason: 'too much' },
      { seq: 4, hook: 'audit', point: 'afterRun', effect: 'rewritten', reason: null },
      { seq: 5, hook: '', point: '', effect: 'failed', reason: null },
    ],
  )
})
