/** Claims that several acceptance tests make: the form of an error, and the form of a conversation's events. */
import assert from 'node:assert/strict'
import type { Seen } from './exchange.ts'
import type { Problem, WitanEvent } from './wire.ts'
import type { Answer } from './witan.ts'

export interface ExpectedProblem {
  /** One status, or any of several where the contract leaves it open. */
  status: number | number[]
  code?: string
  /** Words that the detail must contain. */
  names?: string[]
  /** Text that may stand nowhere in the answer. */
  never?: string[]
}

/** The answer is problem+json with every field, names the offending thing, gives a hint, and leaks no stack. */
export function assertProblem(answer: Answer<unknown>, expected: ExpectedProblem): void {
  assert.ok(
    [expected.status].flat().includes(answer.status),
    `status ${answer.status}, wanted ${String(expected.status)}: ${answer.text}`,
  )
  assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json\b/)
  const problem = answer.body as Problem
  if (expected.code !== undefined) assert.equal(problem.code, expected.code, answer.text)
  for (const field of ['type', 'code', 'title', 'detail', 'hint', 'requestId'] as const) {
    assert.equal(typeof problem[field], 'string', `${field} in ${answer.text}`)
    assert.notEqual(problem[field], '', `${field} in ${answer.text}`)
  }
  assert.ok('path' in problem, `path in ${answer.text}`)
  for (const name of expected.names ?? []) assert.ok(problem.detail.includes(name), `\`${name}\` in: ${problem.detail}`)
  for (const text of expected.never ?? [])
    assert.equal(answer.text.includes(text), false, `\`${text}\` in: ${answer.text}`)
  assert.doesNotMatch(answer.text, /\\n\s+at |node_modules|\.ts:\d+/, 'no stack')
}

/** Sequence numbers run from 1 without a gap; calls form trees; each run starts once and ends once, and nothing but its tasks follows its end. */
export function assertEvents(events: WitanEvent[]): void {
  assert.deepEqual(
    events.map((event) => event.seq),
    events.map((_, index) => index + 1),
  )
  const known = new Map<string, WitanEvent>()
  for (const event of events) {
    assert.equal(Number.isNaN(Date.parse(event.at)), false, `at of ${event.seq}`)
    const first = known.get(event.callId)
    if (first) {
      assert.equal(event.parentCallId, first.parentCallId, `parent of ${event.callId} at ${event.seq}`)
      assert.equal(event.rootCallId, first.rootCallId)
      continue
    }
    known.set(event.callId, event)
    if (event.callId === event.rootCallId) {
      assert.equal(event.parentCallId, null, `a root has no parent, at ${event.seq}`)
    } else {
      assert.equal(
        known.get(event.parentCallId ?? '')?.rootCallId,
        event.rootCallId,
        `parent of ${event.callId} precedes it, at ${event.seq}`,
      )
    }
  }
  // Who joins or leaves belongs to no run.
  const ofRuns = events.filter(({ type }) => type !== 'participant')
  for (const rootCallId of new Set(ofRuns.map((event) => event.rootCallId)))
    assertRun(ofRuns.filter((event) => event.rootCallId === rootCallId))
}

function assertRun(events: WitanEvent[]): void {
  const own = events.filter((event) => event.callId === event.rootCallId && event.kind === 'agent')
  const name = events[0]?.rootCallId
  assert.equal(own.filter((event) => event.type === 'start').length, 1, `one start of ${name}`)
  assert.equal(own.filter(isTerminal).length, 1, `one end of ${name}`)
  const tasks = callsOfTasks(events)
  const rest = events.filter(({ callId }) => !tasks.has(callId))
  assert.equal(rest.at(-1), own.find(isTerminal), `nothing but its tasks follows the end of ${name}`)
  for (const callId of new Set(events.map((event) => event.callId))) {
    const started = events.findIndex(
      (event) => event.callId === callId && event.type === 'start' && event.kind === 'agent',
    )
    if (started < 0) continue
    const ends = events.filter((event) => event.callId === callId && event.kind === 'agent' && isTerminal(event))
    assert.equal(ends.length, 1, `${callId} ends once`)
    assert.ok(events.indexOf(ends[0] as WitanEvent) > started, `${callId} ends after its start`)
  }
}

/** The calls of all tasks of a run, and of what is below them. */
function callsOfTasks(events: WitanEvent[]): Set<string> {
  const found = new Set(events.filter(({ type }) => type === 'task').map(({ callId }) => callId))
  for (const { callId, parentCallId } of events) if (found.has(parentCallId ?? '')) found.add(callId)
  return found
}

function isTerminal(event: WitanEvent): boolean {
  return event.type === 'end' || event.type === 'error'
}

/** The notices of a conversation with this code. */
export function notices(events: WitanEvent[], code: string): WitanEvent[] {
  return events.filter((event) => event.type === 'notice' && event.content.code === code)
}

/** A value stands in no request body of these. */
export function assertNeverSaw(seen: Seen[], value: string): void {
  for (const { model, nth, raw } of seen)
    assert.equal(raw.includes(value), false, `request ${nth} of ${model} holds ${value}`)
}

/** A value stands in at least one request body of these, so that its absence elsewhere means something. */
export function assertSaw(seen: Seen[], value: string): void {
  assert.ok(
    seen.some(({ raw }) => raw.includes(value)),
    `${value} was seen`,
  )
}
