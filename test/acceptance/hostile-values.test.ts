/** Hidden values and schemas that were made to hold the server: it answers others meanwhile, and prints no value. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertProblem } from './support/claims.ts'
import { agent, createStage, type Stage, sub } from './support/stage.ts'
import { toolContents } from './support/transcript.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage?.close())

/** Does the work, and asks for the health of the server until it is done: each answer must come within a second. */
async function whileAlive<T>(work: Promise<T>): Promise<T> {
  let isDone = false
  const end = () => {
    isDone = true
  }
  work.then(end, end)
  while (!isDone) {
    const began = performance.now()
    const { status } = await stage.witan.call('GET', '/healthz')
    assert.equal(status, 200)
    const took = performance.now() - began
    assert.ok(took < 1000, `/healthz took ${Math.round(took)} ms`)
  }
  return work
}

const hidden = { name: 'held', type: 'any', sendToModel: false, secret: true }

/** A root hands a text to a child that holds a hidden value; gives what the child's model read. */
async function readBelow(id: string, value: unknown, text: string): Promise<string> {
  await stage.save(agent(id, { subAgents: [sub(`${id}-child`)] }), agent(`${id}-child`, { parameters: [hidden] }))
  stage.model.script(id, { calls: [{ name: `${id}-child`, args: { message: text } }] }, { text: 'done' })
  stage.model.script(`${id}-child`, { text: 'read' })
  const run = await whileAlive(stage.ask(id, 'go', { parameters: { held: value } }))
  assert.equal(run.status, 'completed', JSON.stringify(run.error))
  return (
    stage.model
      .of(`${id}-child`)[0]
      ?.body.messages.map(({ content }) => content)
      .join('\n') ?? ''
  )
}

test('[P24] [D15] no value and no text hold the server while the one is looked for in the other', async () => {
  const slashes = '\\'.repeat(10)
  const attacks = [
    [`${slashes}x`, '\\'.repeat(40), '\\'.repeat(40)],
    ['"'.repeat(200), '"'.repeat(100_000), '[hidden]'],
    ['"'.repeat(200), `so: ${'\\"'.repeat(20_000)}.`, 'so: [hidden].'],
    [`${'a\u200b'.repeat(1_000)}b`, 'a\u200b\u200b'.repeat(10_000), 'a\u200b\u200b'],
  ] as const
  for (const [index, [value, text, wanted]] of attacks.entries()) {
    const read = await readBelow(`slow-${index}`, value, text)
    assert.ok(read.includes(wanted), `${index}: ${read.slice(-200)}`)
  }
})

test('[P24] [D15] values of 20,000 characters and lists of 1,000 items stay hidden, and no line of the log holds one', async () => {
  const piece = 'cny_long_value_7f3a '
  const long = piece.repeat(1_000)
  const list = Array.from({ length: 1_000 }, (_, index) => `cny_item_${index}_of_a_list`)
  const url = await readBelow('long', long, `see ${encodeURIComponent(long)} and ${long}!`)
  assert.match(url, /see \[hidden\] and \[hidden\]!$/)
  const items = await readBelow('items', list, `one ${list[7]}, another ${JSON.stringify(list[999])}.`)
  assert.match(items, /one \[hidden\], another "\[hidden\]"\.$/)
  const values = { held: piece.repeat(5_001) }
  const refused = await stage.witan.call('POST', '/api/v1/conversations', {
    body: { agent: 'long', parameters: values },
  })
  assertProblem(refused, { status: 422, code: 'PARAM_TYPE', names: ['held', '100000'] })
  assert.doesNotMatch(refused.text, /cny_/)
  assert.doesNotMatch(stage.witan.output, /cny_/)
})

const looping = { $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] } } }
const power = { properties: { word: { type: 'string', pattern: '^(a+)+$' } } }
const word = `${'a'.repeat(60)}!`

test('no pattern and no schema of an agent hold the server while arguments are checked', async () => {
  const Power = { name: 'Power', description: 'Takes a word.', parametersSchema: { type: 'object', ...power } }
  const Loop = {
    name: 'Loop',
    description: 'Takes what cannot be checked.',
    parametersSchema: { properties: { x: looping.$defs.a }, ...looping, $ref: undefined },
  }
  await stage.save(agent('schemas', { actions: [Power, Loop] }))
  const calls = [
    { name: 'Power', args: { word } },
    { name: 'Loop', args: { x: 1 } },
  ]
  stage.model.script('schemas', { calls }, { text: 'done' })
  const run = await whileAlive(stage.ask('schemas', 'go'))
  assert.equal(run.status, 'completed', JSON.stringify(run))
  const [pattern, loop] = toolContents(stage.model.of('schemas')[1])
  assert.match(pattern ?? '', /`word`: must match pattern/)
  assert.match(loop ?? '', /the value cannot be checked: /)
})

test('[Fb06] conditions and answers are checked within bounds; a condition that is not decided asks', async () => {
  const act = {
    name: 'Say',
    description: 'Says.',
    parametersSchema: { type: 'object', properties: { word: {}, x: {} } },
  }
  const when = { properties: { x: looping.$defs.a }, $defs: looping.$defs }
  await stage.save(agent('condition', { actions: [act], approvals: [{ tool: 'Say', when }] }))
  stage.model.script('condition', { calls: [{ name: 'Say', args: { word, x: 1 } }] })
  const run = await whileAlive(stage.ask('condition', 'go'))
  assert.equal(run.status, 'waiting')
  assert.equal(run.interruptions[0]?.kind, 'approval')
  await stage.save(agent('shaped', { outputSchema: { type: 'object', ...power } }))
  const said = { text: JSON.stringify({ word }) }
  stage.model.script('shaped', said, said)
  const shaped = await whileAlive(stage.ask('shaped', 'go'))
  assert.equal(shaped.error?.code, 'MODEL_REPLY_INVALID')
})

test('a pattern that has no linear search is refused when it is saved, with its place and what to do', async () => {
  const broken = { type: 'object', properties: { word: { pattern: '(?=a)b' } } }
  const refused = [
    [
      { actions: [{ name: 'Say', description: 'Says.', parametersSchema: broken }] },
      'actions.0.parametersSchema.properties.word',
    ],
    [{ outputSchema: broken }, 'outputSchema.properties.word'],
    [
      { actions: [{ name: 'Say', description: 'Says.' }], approvals: [{ tool: 'Say', when: broken }] },
      'approvals.0.when.properties.word',
    ],
  ] as const
  for (const [more, path] of refused) {
    const answer = await stage.witan.call('PUT', '/api/v1/agents/refused', { body: agent('refused', more) })
    assertProblem(answer, { status: 422, code: 'AGENT_INVALID', names: [path, '(?='] })
    assert.match(answer.text, /Patterns are those of RE2/)
  }
})
