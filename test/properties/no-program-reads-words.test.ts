/** O8: what notices and errors say is for people. Of a log in other words every view is the same but for them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConversationFold } from '@witan/client'
import { createRuntime, memoryStore } from '@witan/core'
import { exportStore, exportText, importInto, readExport } from '@witan/core/export'
import type { Event } from '@witan/protocol'
import { createDiagram } from '@witan/protocol/protocols'
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
import { rewordedText, unworded, type Words } from '../support/reworded.ts'
import { holds } from '../support/seeds.ts'
import { createStage } from '../support/stage.ts'
import { viewsOf } from '../support/views.ts'

/** The lines of the export of a system that was asked twice. */
async function exported(system: RandomSystem): Promise<string[]> {
  const play = randomPlay(system.seed)
  const store = memoryStore()
  const stage = createStage({
    agents: system.agents,
    plays: Object.fromEntries(system.agents.map(({ id }) => [id, play])),
    options: { store, tools: [note], ...definedBy(system), clock: fakeClock() },
  })
  await toTheEnd(stage.runtime, await stage.ask('a', 'go', { id: 'chats/1', parameters: givenTo(system) }))
  await toTheEnd(stage.runtime, await stage.run('chats/1', { prompt: 'and again' }))
  const lines: string[] = []
  for await (const line of exportStore(store, ['default'])) lines.push(exportText(line))
  await stage.runtime.close()
  return lines
}

/** Every view of a conversation after its import, by name. */
async function viewsAfter(lines: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const store = memoryStore({ now: fakeClock().now })
  for await (const item of readExport(ReadableStream.from(lines))) await importInto(store)(item)
  const runtime = createRuntime({ store, clock: fakeClock(), tools: [note] })
  const views = new Map(await viewsOf(runtime))
  await runtime.close()
  const events = JSON.parse(views.get('verbose') ?? '[]') as Event[]
  const fold = createConversationFold()
  const diagram = createDiagram(events[0]?.rootCallId ?? '')
  for (const event of events) {
    fold.take(event)
    diagram.take(event)
  }
  return views
    .set('client', JSON.stringify(fold.view))
    .set('diagram', JSON.stringify([diagram.participants, diagram.arrows]))
}

test('[O8] a log whose notices and errors say something else has the same views', async (context) => {
  let said = 0
  const property = fc.asyncProperty(randomSystem, async (system) => {
    const lines = await exported(system)
    const words: Words = new Map()
    const [before, after] = [await viewsAfter(lines), await viewsAfter(lines.map((line) => rewordedText(line, words)))]
    said += words.size
    for (const [name, view] of before) assert.equal(unworded(after.get(name) ?? '', words), unworded(view, words), name)
  })
  await holds(context, property, 60)
  assert.ok(said > 60, `only ${said} notices and errors`)
})
