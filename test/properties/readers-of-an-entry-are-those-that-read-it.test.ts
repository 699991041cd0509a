/** Who read an entry: exactly the calls whose requests hold what it says, each by its first model call that did. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from '@witan/core'
import type { Rule, ScriptedAnswer } from '@witan/core/testing'
import type { ModelCall } from '@witan/protocol/schemas'
import fc from 'fast-check'
import { modelCallsOf } from '../support/asked.ts'
import { fakeClock } from '../support/clock.ts'
import { givenTo, note, randomPlay, type RandomSystem, randomSystem, definedBy } from '../support/random-system.ts'
import { playWithTasks, quiet, systemWithTasks } from '../support/random-tasks.ts'
import { holds } from '../support/seeds.ts'
import { createStage } from '../support/stage.ts'

/** Each text that a model says has a mark of its own. */
function marking(play: Rule): Rule {
  let count = 0
  const marked = (text: string) => {
    count += 1
    return text === '' || text.startsWith('{') ? text : `${text} mark${count}.`
  }
  return async (request, turn): Promise<ScriptedAnswer> => {
    const said = await play(request, turn)
    if (typeof said === 'string') return marked(said)
    if (said === undefined || said instanceof Error || said.text === undefined) return said
    return { ...said, text: marked(said.text) }
  }
}

/** The calls whose requests hold a text, each with its first model call that does. */
function readersOf(calls: readonly ModelCall[], text: string): readonly string[] {
  const first = new Map<string, string>()
  for (const { callId, id, request } of calls)
    if (!first.has(callId) && JSON.stringify(request?.messages ?? []).includes(text)) first.set(callId, id)
  return [...first].map(([callId, id]) => `${callId} ${id}`).sort()
}

async function assertReaders(system: RandomSystem, rule: typeof randomPlay): Promise<number> {
  const play = marking(rule(system.seed))
  // Whoever reports on a task is nobody of them.
  const plays = { ...Object.fromEntries(system.agents.map(({ id }) => [id, play])), '': () => 'It goes on.' }
  const options = { tools: [note], ...definedBy(system), store: memoryStore(), clock: fakeClock() }
  const stage = createStage({ agents: system.agents, plays, options })
  const { runtime } = stage
  await runtime.start({ agent: 'a', id: 'chats/1', parameters: givenTo(system) })
  for (const prompt of ['go said1.', 'again said2.']) {
    await runtime.run('chats/1', { prompt })
    await quiet(stage)
  }
  const calls = await modelCallsOf(runtime, 'chats/1')
  const events = await stage.events('chats/1')
  let found = 0
  const check = async (seq: number, text: string) => {
    const { items } = await runtime.modelCalls.readers('chats/1', seq)
    const told = items.map(({ callId, first }) => `${callId} ${first}`).sort()
    assert.deepEqual(told, readersOf(calls, text), `readers of entry ${seq}, which says ${text}`)
    found += items.length
  }
  for (const [at, text] of ['said1.', 'said2.'].entries()) {
    const message = events.find(({ type, content }) => type === 'message' && String(content['text']).includes(text))
    assert.ok(message?.seq !== undefined, `message ${at} is stored`)
    await check(message.seq, text)
  }
  for (const { id, reply, status, purpose } of calls) {
    const [mark] = /mark\d+\./.exec(reply?.text ?? '') ?? []
    if (mark !== undefined && status === 'completed' && purpose === 'answer') await check(Number(id), mark)
  }
  await runtime.close()
  return found
}

for (const [what, systems, rule] of [
  ['a random system', randomSystem, randomPlay],
  ['a random system with tasks', systemWithTasks, playWithTasks],
] as const)
  test(`the readers of what is said in ${what} are those whose models got it`, async (context) => {
    let found = 0
    const property = fc.asyncProperty(systems, async (system) => {
      found += await assertReaders(system, rule)
    })
    const expected = await holds(context, property, { all: 200, quick: 25 })
    assert.ok(found > expected(400), `only ${found} readers`)
  })
