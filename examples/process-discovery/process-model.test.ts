/** What the check of a process model finds, how faults are counted, and that hostile models and names do no harm. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { check } from './model/check.ts'
import { faultsOf } from './model/faults.ts'
import { mermaidOf } from './model/mermaid.ts'
import { parseProcessModel, type ProcessModel } from './model/process-model.ts'
import { answerOf } from './world/answer.ts'
import { people } from './world/people.ts'

const source = readFileSync(new URL('./world/truth.json', import.meta.url), 'utf8')
const truth = parseProcessModel(source) as ProcessModel
/** The truth with some changes. */
function changed(change: (model: ProcessModel) => void): ProcessModel {
  const model = structuredClone(truth)
  change(model)
  return model
}
const codes = (change: (model: ProcessModel) => void) => [...new Set(check(changed(change)).map(({ code }) => code))]
const cut = (model: ProcessModel, from: string, to: string) => {
  const at = model.flows.findIndex((flow) => flow.from === from && flow.to === to)
  assert.ok(at >= 0)
  return model.flows.splice(at, 1)
}

test('a sound model has no finding, and each mistake of form has its own', () => {
  assert.deepEqual(check(truth), [])
  const add = (from: string, to: string, condition: string | null = null) => ({ from, to, condition })
  const cases: readonly [string, (model: ProcessModel) => void][] = [
    ['ID_TWICE', ({ activities }) => activities.push({ id: 'lap', name: 'Again', lane: 'office' })],
    ['FLOW_DANGLING', ({ flows }) => flows.push(add('lap', 'nowhere'))],
    ['START_COUNT', ({ events }) => events.push({ id: 'other', kind: 'start', name: 'Other' })],
    ['START_ENTERED', ({ flows }) => flows.push(add('test', 'start', 'it is stolen'))],
    ['END_LEFT', ({ flows }) => flows.push(add('done', 'ready'))],
    ['LANE_MISSING', (model) => Object.assign(model.activities[0] ?? {}, { lane: 'roof' })],
    ['GATEWAY_MISSING', ({ flows }) => flows.push(add('lap', 'ready'))],
    ['GATEWAY_IDLE', (model) => model.gateways.push({ id: 'idle', kind: 'exclusive' })],
    ['CONDITION_MISSING', ({ flows }) => flows.map((flow) => Object.assign(flow, { condition: null }))],
    [
      'CONDITION_IDLE',
      ({ flows }) => flows.filter(({ from }) => from === 'both').map((flow) => Object.assign(flow, { condition: 'x' })),
    ],
    ['PARALLEL_UNBALANCED', (model) => Object.assign(model.gateways.at(-1) ?? {}, { kind: 'exclusive' })],
    ['UNREACHABLE', (model) => cut(model, 'order', 'receive')],
    ['NO_WAY_ON', (model) => cut(model, 'handover', 'done')],
  ]
  for (const [code, change] of cases) assert.ok(codes(change).includes(code), `${code}: ${codes(change)}`)
  assert.ok(codes(({ events }) => events.splice(1)).length > 0)
})

test('faults are counted against the truth, whatever ids and small words a model uses', () => {
  assert.deepEqual(faultsOf(truth, truth), [])
  const renamed = parseProcessModel(
    source.replaceAll('"lap"', '"a9"').replace('Ride a test lap', 'Ride the test lap'),
  ) as ProcessModel
  assert.deepEqual(faultsOf(renamed, truth), [])
  const faults = (change: (model: ProcessModel) => void) => faultsOf(changed(change), truth)
  assert.deepEqual(faults(({ activities }) => activities.splice(3, 1)).at(0), 'missing: Ask the customer for approval')
  assert.deepEqual(
    faults(({ activities }) => activities.push({ id: 'tea', name: 'Drink tea', lane: 'office' })),
    ['not in the process: Drink tea'],
  )
  assert.deepEqual(
    faults((model) => Object.assign(model.activities[1] ?? {}, { lane: 'office' })),
    ['wrong lane: Inspect the bike'],
  )
  assert.deepEqual(
    faults(({ flows }) => Object.assign(flows[4] ?? {}, { condition: 'it is above 300 euros' })),
    ['wrong condition: Write the estimate → Ask the customer for approval'],
  )
  assert.deepEqual(
    faults((model) => Object.assign(model.gateways.find(({ id }) => id === 'both') ?? {}, { kind: 'exclusive' })),
    ['not at once: Call the customer + Write the invoice'],
  )
  assert.deepEqual(
    faults((model) => cut(model, 'test', 'ready')),
    ['missing order: Ride a test lap → Repair the bike'],
  )
})

test('a text that is no model is refused with the place, and a name cannot break out of the drawing', () => {
  assert.deepEqual(parseProcessModel('{"process":'), { problems: ['it is not JSON'] })
  assert.deepEqual(parseProcessModel(' '.repeat(300_000)), { problems: ['it has more than 200000 characters'] })
  const { problems } = parseProcessModel(source.replace('"exclusive"', '"inclusive"')) as { problems: string[] }
  assert.match(problems.join(), /^gateways\.0\.kind: /)
  const evil = changed((model) => Object.assign(model.activities[0] ?? {}, { name: 'x"]\nclick n_lap "javascript:1"' }))
  const drawn = mermaidOf(evil).split('\n')
  assert.ok(drawn.every((line) => !line.startsWith('click') && (line.match(/"/g) ?? []).length % 2 === 0))
})

test('the largest model that is taken is checked without holding anybody up', () => {
  const names = (prefix: string, length: number) => Array.from({ length }, (_, index) => `${prefix}${index}`)
  const gateways = names('g', 60)
  const model: ProcessModel = {
    process: 'p',
    lanes: ['l'],
    events: [
      { id: 's', kind: 'start', name: 's' },
      ...names('e', 29).map((id) => ({ id, kind: 'end' as const, name: id })),
    ],
    activities: names('a', 100).map((id) => ({ id, name: id, lane: 'l' })),
    gateways: gateways.map((id) => ({ id, kind: 'parallel' as const })),
    flows: Array.from({ length: 300 }, (_, index) => ({
      from: `g${index % 60}`,
      to: `g${(index * 7 + 1) % 60}`,
      condition: null,
    })),
  }
  const began = performance.now()
  assert.ok(check(model).length > 0)
  faultsOf(model, truth)
  const took = performance.now() - began
  assert.ok(took < 2_000, `${took} ms`)
})

test('people answer a question of any length and form, and hold nobody up', () => {
  const questions = [
    'a'.repeat(100_000),
    'After "x" comes "y" if '.repeat(4_000),
    '"'.repeat(100_000),
    ' if'.repeat(33_000),
    '\n.'.repeat(50_000),
  ]
  const began = process.cpuUsage()
  for (const worker of people) for (const question of questions) assert.ok(answerOf(worker, question).length > 0)
  const took = process.cpuUsage(began).user / 1000
  assert.ok(took < 2_000, `${took} ms of CPU`)
})

test('people say what they know to a free question, look up what is in doubt, and say when they do not know', () => {
  const [ines, tim, ruth] = people
  assert.ok(ines && tim && ruth)
  assert.match(
    answerOf(ines, 'And what if the customer declines the offer?'),
    /^After "Ask the customer for approval" comes "Hand the bike back/,
  )
  assert.match(answerOf(tim, 'What is your job?'), /After "Repair the bike" comes "Write the invoice"\.$/)
  assert.match(
    answerOf(tim, 'Really? After "Repair the bike" comes "Write the invoice".'),
    /^I have looked it up\. It is wrong that /,
  )
  assert.equal(answerOf(tim, 'What comes after "Inspect the bike"?'), 'I do not know. Ask the others.')
  assert.match(answerOf(ruth, 'Hello?'), /^I do none of the steps/)
})
