/** Folding the stored log from the beginning gives the warm state: with restarts between, every model reads the same words. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, type ModelRequest, memoryStore, type Runtime, type Store } from '@witan/core'
import { countedIds, scriptedModel } from '@witan/core/testing'
import type { Document, RunResult } from '@witan/protocol'
import fc from 'fast-check'
import { fakeClock } from '../support/clock.ts'
import {
  givenTo,
  note,
  randomPlay,
  type RandomSystem,
  randomSystem,
  toTheEnd,
  definedBy,
} from '../support/random-system.ts'
import { isOfRandomHook } from '../support/random-hooks.ts'
import { artifactsOf, assertArtifacts, lineageOf, withoutIds } from '../support/made.ts'
import { outliving } from '../support/reopen.ts'
import { holds } from '../support/seeds.ts'
import { allEvents, written } from '../support/stage.ts'

/** Opens runtimes on one store, one after the other. */
function opener(system: RandomSystem) {
  const clock = fakeClock()
  const store: Store = outliving(memoryStore({ now: clock.now }))
  const model = scriptedModel(randomPlay(system.seed))
  const reports: unknown[] = []
  const ids = countedIds()
  let current: Runtime | null = null
  const open = async (): Promise<Runtime> => {
    await current?.close()
    current = createRuntime({
      store,
      clock,
      ids,
      models: { 'play/model': model },
      agents: system.agents.map(written),
      tools: [note],
      ...definedBy(system),
      retry: { tries: 1 },
      report: (error) => void (isOfRandomHook(error) || reports.push(error)),
    })
    return current
  }
  return { open, requests: model.requests, reports }
}

interface Told {
  readonly results: readonly Partial<RunResult>[]
  readonly requests: readonly (readonly ModelRequest[])[]
  readonly documents: readonly Document[]
  /** What each artifact is, and came from. */
  readonly files: readonly string[]
  readonly inputs: number
}

/** Three prompts; `restart` decides whether a new runtime takes each step. */
async function converse(system: RandomSystem, restart: boolean): Promise<Told> {
  const { open, requests, reports } = opener(system)
  let runtime = await open()
  const next = async () => {
    if (restart) runtime = await open()
    return runtime
  }
  const results: Partial<RunResult>[] = []
  const perPrompt: (readonly ModelRequest[])[] = []
  await runtime.start({ agent: 'a', id: 'chats/1', parameters: givenTo(system) })
  for (const prompt of ['go', 'again', 'once more']) {
    const before = requests.length
    const door = await next()
    const first = await (await door.run('chats/1', { prompt })).result
    const { status, text, output, finishReason, usage, error } = await toTheEnd(door, first, next)
    results.push({ status, text, output, finishReason, usage, error })
    perPrompt.push(requests.slice(before))
  }
  const paths = new Set((await allEvents(runtime, 'chats/1')).map(({ document }) => document))
  const documents: Document[] = []
  for (const path of [...paths].sort()) documents.push(await runtime.getDocument(path, { limit: 200 }))
  assert.deepEqual(reports, [])
  const { inputs } = await assertArtifacts(runtime, 'chats/1')
  const files = lineageOf(await artifactsOf(runtime, 'chats/1'))
  return { results, requests: perPrompt, documents, files, inputs }
}

const inOrder = (requests: readonly ModelRequest[]) =>
  requests.map((request) => withoutIds(JSON.stringify(request))).sort()
const plain = ({ messages, openCalls: _open, ...rest }: Document) =>
  withoutIds(JSON.stringify({ ...rest, messages: messages.map(({ seq: _seq, ...message }) => message) }))

test('[P19] [D3] [T31] a runtime that starts anew before every step tells and asks the same as one that never stops', async (context) => {
  let compared = 0
  let [saved, derived] = [0, 0]
  const property = fc.asyncProperty(randomSystem, async (system) => {
    const one = await converse(system, false)
    const two = await converse(system, true)
    assert.deepEqual(two.results, one.results)
    for (const [index, requests] of one.requests.entries())
      assert.deepEqual(inOrder(two.requests[index] ?? []), inOrder(requests), `requests of prompt ${index + 1}`)
    assert.deepEqual(two.documents.map(plain), one.documents.map(plain))
    assert.deepEqual(two.files, one.files)
    saved += one.files.length
    derived += one.inputs
    compared += one.requests.flat().length
  })
  const expected = await holds(context, property, 300)
  assert.ok(compared > expected(1000), `only ${compared} requests were compared`)
  assert.ok(saved > expected(100), `only ${saved} artifacts were compared`)
  assert.ok(derived > expected(3), `only ${derived} inputs were compared`)
  context.diagnostic(`${saved} artifacts, ${derived} inputs`)
})
