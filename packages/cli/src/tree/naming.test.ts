/** How hand-overs and workflows read in the tree, on a terminal and in a pipe. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createConversationFold } from '@witan/client'
import { momentOf, tell, type Told } from '../testing/events.ts'
import { billingAnswers, billingWrites, deskGoesOn, handOver, workflow } from '../testing/teams.ts'
import { drawTree, type Line } from './lines.ts'
import { plainLines } from './plain.ts'

const textOf = (line: Line) =>
  line
    .map((span) => span.text)
    .join('')
    .trimEnd()

function draw(...told: readonly Told[]): string[] {
  const events = tell(...told)
  const { view, take } = createConversationFold()
  for (const event of events) take(event)
  return drawTree(view, 'root', { columns: 60, now: momentOf(events) }).map(textOf)
}

function log(...told: readonly Told[]): string[] {
  const fold = createConversationFold()
  return tell(...told).flatMap((event) => plainLines(fold, event).map(textOf))
}

describe('a hand-over', () => {
  test('[K07] names both agents; the one that speaks writes below its own name', () => {
    assert.deepEqual(draw(...handOver, billingWrites), [
      '⠋ desk  Where is my bill?                             500 ms',
      '└─ ⠋ desk → billing                                   100 ms',
      '   └─ Your bill is▍',
    ])
  })

  test('[C33] the same text of both is not drawn twice', () => {
    assert.deepEqual(draw(...handOver, ...billingAnswers), [
      '✓ desk  Where is my bill?                             600 ms',
      '└─ ✓ desk → billing                                   100 ms',
    ])
    assert.deepEqual(log(...handOver, ...billingAnswers), [
      'desk  Where is my bill?',
      '│ desk → billing',
      '│ ✓ billing  100 ms',
      '✓ desk  600 ms',
    ])
  })

  test('[C25] that comes back says so, with what the target answered', () => {
    assert.deepEqual(draw(...handOver, ...deskGoesOn), [
      '✓ desk  Where is my bill?                             700 ms',
      '├─ ✓ desk → billing                                   100 ms',
      '│  └─ It is paid.',
      '└─ billing → desk (back)',
    ])
    assert.deepEqual(log(...handOver, ...deskGoesOn), [
      'desk  Where is my bill?',
      '│ desk → billing',
      '│ ✓ billing  100 ms',
      '│ billing → desk (back)  It is paid.',
      '✓ desk  700 ms',
    ])
  })

  test('below a delegation the answer is printed once, at the agent that gave it', () => {
    const below = [...handOver, ...billingAnswers].map(
      (one): Told => (one.callId === 'root' ? { ...one, callId: 'desk', parentCallId: 'root' } : one),
    )
    const moved = below.map((one) => (one.parentCallId === 'root' && one.callId !== 'desk' ? under(one) : one))
    const lines = log({ type: 'start', kind: 'agent', callId: 'root', agentPath: 'chief' }, ...moved)
    assert.deepEqual(lines, [
      'chief',
      '│ desk  Where is my bill?',
      '│ │ desk → billing',
      '│ │ ✓ billing  It is paid.  100 ms',
      '│ ✓ desk  600 ms',
    ])
  })

  const under = (one: Told): Told => ({
    ...one,
    parentCallId: 'desk',
    content: one.content?.handedFrom === 'root' ? { ...one.content, handedFrom: 'desk' } : (one.content ?? {}),
  })
})

test('[K24] steps of a workflow are named with their round, and parallel ones with their branch', () => {
  assert.deepEqual(draw(...workflow), [
    '⠋ paper  Write.                                       900 ms',
    '├─ ✓ writer  step 1  Write.                           100 ms',
    '│  └─ A draft.',
    '├─ ✓ panel  step 2  Write.                            500 ms',
    '│  ├─ ✓ judge-0  branch panel.0  Write.               300 ms',
    '│  │  └─ Good.',
    '│  ├─ ✓ judge-1  branch panel.1  Write.               100 ms',
    '│  │  └─ Bad.',
    '│  └─ [from @judge-0] Good. [from @judge-1] Bad.',
    '└─ ⠋ writer  round 2, step 1  Write.                    0 ms',
  ])
  assert.deepEqual(log(...workflow).slice(3, 9), [
    '│ panel  step 2  Write.',
    '│ │ judge-0  branch panel.0  Write.',
    '│ │ judge-1  branch panel.1  Write.',
    '│ │ ✓ judge-1  Bad.  100 ms',
    '│ │ ✓ judge-0  Good.  300 ms',
    '│ ✓ panel  [from @judge-0] Good. [from @judge-1] Bad.  500 ms',
  ])
})
