import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromSegment, toSegment } from './address.ts'
import { count, elapsedMs, formatAgo, formatElapsed, formatTokens, formatValue } from './format.ts'
import { pageProblem, shownProblem } from './problem.ts'
import { scriptedNotice } from './scripted.ts'

test('times are short and never negative', () => {
  assert.deepEqual([-5, 62, 3240, 59_960, 125_000, 3_720_000].map(formatElapsed), [
    '0 ms',
    '62 ms',
    '3.2 s',
    '1 min 00 s',
    '2 min 05 s',
    '1 h 02 min',
  ])
  assert.equal(elapsedMs('2026-01-01T00:00:01Z', null, Date.parse('2026-01-01T00:00:00Z')), 0)
  const now = Date.parse('2026-01-01T12:00:00Z')
  assert.deepEqual(
    ['2026-01-01T12:00:00Z', '2026-01-01T11:30:00Z', '2026-01-01T02:00:00Z', '2025-11-02T00:00:00Z'].map((at) =>
      formatAgo(at, now),
    ),
    ['just now', '30 min ago', '10 h ago', '2025-11-02'],
  )
})

test('tokens say where they are not all', () => {
  assert.equal(formatTokens({ input: 1000, output: 204, complete: true }), '1,204')
  assert.equal(formatTokens({ input: 1_016_000, output: 500, complete: true }), '1,016,500')
  assert.equal(formatTokens({ input: 12_000, output: 400, complete: false }), '≥ 12,400')
  assert.equal(count(1, 'agent'), '1 agent')
  assert.equal(count(2, 'agent'), '2 agents')
  assert.equal(formatValue(undefined), 'nothing')
})

test('the banner names the agents with a script by what the server says of them, never by their names', () => {
  const agent = (id: string, modelKind: 'language' | 'script' | null, name?: string) =>
    name === undefined ? { id, modelKind } : { id, modelKind, name }
  assert.equal(scriptedNotice([agent('scripted/a', 'language'), agent('b', null)]), null)
  assert.match(scriptedNotice([agent('a', 'script')]) ?? '', /^All agents/)
  const order = { ...agent('order', null), workflow: { kind: 'sequence' } as never }
  assert.match(scriptedNotice([agent('a', 'script'), order]) ?? '', /^All agents/)
  assert.match(scriptedNotice([agent('a', 'script', 'Clerk'), agent('b', 'language')]) ?? '', /called: Clerk\.$/)
  const five = ['a', 'b', 'c', 'd', 'e'].map((id) => agent(id, 'script'))
  assert.match(scriptedNotice([...five, agent('f', null)]) ?? '', /a, b, c and 2 more\.$/)
})

test('an error always has a code, a detail and a hint', () => {
  const refused = Object.assign(new Error('No such model.'), { code: 'MODEL_UNKNOWN', hint: 'Choose another.' })
  assert.deepEqual(shownProblem(refused), { code: 'MODEL_UNKNOWN', detail: 'No such model.', hint: 'Choose another.' })
  for (const error of [
    new TypeError('fetch failed'),
    'broken',
    null,
    Object.assign(new Error('?'), { code: 'UNAUTHENTICATED', hint: null }),
  ]) {
    const { code, detail, hint } = shownProblem(error)
    assert.ok(code.length > 0 && detail.length > 0 && hint.length > 0)
  }
})

test('a page that has failed says so of itself, and leaves to the server what the server said', () => {
  for (const [error, code, detail, hint] of [
    [
      new TypeError("Cannot read properties of undefined (reading 'map')"),
      'PAGE_FAILED',
      /in the Studio .*reading 'map'/,
      /Runs go on/,
    ],
    ['broken', 'PAGE_FAILED', /broken/, /report this text/],
    [null, 'PAGE_FAILED', /in the Studio/, /another page/],
    [new TypeError('Failed to fetch'), 'UNREACHABLE', /Failed to fetch/, /server is running/],
    [Object.assign(new Error('Gone.'), { code: 'NOT_FOUND' }), 'NOT_FOUND', /^Gone\.$/, /deleted/],
  ] as const) {
    const shown = pageProblem(error)
    assert.equal(shown.code, code)
    assert.match(shown.detail, detail)
    assert.match(shown.hint, hint)
    if (code === 'PAGE_FAILED') assert.doesNotMatch(`${shown.detail} ${shown.hint}`, /server/)
  }
})

test('a conversation id survives the address bar', () => {
  assert.equal(toSegment('chats/01J.a-b'), 'chats:01J.a-b')
  assert.equal(fromSegment(toSegment('chats/01J.a-b')), 'chats/01J.a-b')
})

test('a run that failed is told with what helps against that failure, not with trying again', () => {
  const failed = (code: string) => shownProblem(Object.assign(new Error('It failed.'), { code })).hint
  assert.match(failed('MISSING_AGENT_PARAMETER'), /^Start a new conversation and give it there/)
  assert.match(failed('BUDGET_EXCEEDED'), /raise the limit/)
  assert.match(failed('MODEL_REPLY_INVALID'), /another model/)
  assert.equal(failed('constructor'), 'Try again; the log of the server has more.')
})
