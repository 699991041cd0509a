/** A changed export is refused at a line that is named, or everything that can be asked of what was imported has an answer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, memoryStore, type Runtime, type Store } from '@witan/core'
import { importInto, readExport } from '@witan/core/export'
import { scriptedModel } from '@witan/core/testing'
import { isWitanError } from '@witan/protocol'
import { diagramMermaid, diagramText } from '@witan/protocol/protocols'
import fc from 'fast-check'
import { exportAgain, fixtureSystem, leave } from '../fixtures/logs.ts'
import { fakeClock } from '../support/clock.ts'
import { note, randomPlay, type RandomSystem, toTheEnd } from '../support/random-system.ts'
import { holds } from '../support/seeds.ts'
import { allEvents } from '../support/stage.ts'

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
type Line = { kind: string; [name: string]: Json }

/** What is done to a file: where, and what; both are taken modulo what there is. */
interface Change {
  readonly kind: 'drop' | 'repeat' | 'swap' | 'move' | 'field' | 'type'
  readonly at: number
  readonly other: number
  readonly field: number
}

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('drop', 'repeat', 'swap', 'move', 'field', 'type'),
  at: fc.nat(),
  other: fc.nat(),
  field: fc.nat(),
})

/** The same file with one change, and with numbers and counts that fit: what is left to find is the change itself. */
function changed(left: readonly string[], { kind, at, other, field }: Change): Line[] {
  const lines = left.map((line) => JSON.parse(line) as Line)
  const from = lines.findIndex((line) => line.kind === 'conversation')
  const logged = lines.flatMap((line, index) => (line.kind === 'entry' ? [index] : []))
  const pick = (number: number) => logged[number % logged.length] as number
  const [one, two] = [pick(at), pick(other)]
  const line = lines[one] as Line
  if (kind === 'field' || kind === 'type') {
    // Any line behind the definitions: its conversation, an entry, a job, an interruption or a person.
    const where = from + (at % (lines.length - 1 - from))
    replaceIn(lines[where] as Line, kind === 'field' ? (lines[two] as Line) : odd[other % odd.length], field)
    return lines
  }
  if (kind === 'drop') lines.splice(one, 1)
  if (kind === 'repeat') lines.splice(two, 0, structuredClone(line))
  if (kind === 'swap') [lines[one], lines[two]] = [lines[two] as Line, line]
  if (kind === 'move') lines.splice(two, 0, ...lines.splice(one, 1))
  return renumbered(lines)
}

const odd: readonly Json[] = [null, true, 0, -1, 7, '', 'a', 'chats/1/x', [], {}]

/** Replaces one value by that of the same name in another line, or by `by` itself. */
function replaceIn(line: Line, by: Line | Json | undefined, field: number): void {
  const places = placesIn(line)
  const place = places[field % places.length]
  if (place === undefined || by === undefined) return
  const isLine = typeof by === 'object' && by !== null && 'kind' in by && 'entry' in by
  const same = isLine ? placesIn(by as Line).find(({ name }) => name === place.name) : undefined
  place.of[place.name] = structuredClone(isLine ? (same?.of[same.name] ?? null) : by) as Json
}

interface Place {
  readonly of: { [name: string]: Json }
  readonly name: string
}

function placesIn(value: Json): Place[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'kind' && value === inner ? [] : [{ of: value as Place['of'], name }, ...placesIn(inner as Json)],
  )
}

function renumbered(lines: Line[]): Line[] {
  let seq = 0
  for (const line of lines) if (line.kind === 'entry') (line['entry'] as { seq: number }).seq = ++seq
  for (const line of lines) if (line.kind === 'conversation') (line['row'] as { lastSeq: number }).lastSeq = seq
  return lines
}

async function imported(lines: readonly Line[]): Promise<Store> {
  const store = memoryStore({ now: fakeClock().now })
  const text = async function* () {
    for (const line of lines) yield JSON.stringify(line)
  }
  for await (const item of readExport(text())) await importInto(store)(item)
  return store
}

/** What a request comes to: an error that a client caused is an answer too. */
async function answered(name: string, ask: () => unknown): Promise<void> {
  try {
    await ask()
  } catch (error) {
    if (!isWitanError(error) || error.code === 'INTERNAL') throw new Error(`${name} has no answer`, { cause: error })
  }
}

async function assertAnswers(system: RandomSystem, store: Store): Promise<void> {
  const reports: unknown[] = []
  const runtime = createRuntime({
    store,
    clock: fakeClock(),
    models: { 'play/model': scriptedModel(randomPlay(system.seed)) },
    tools: [note],
    retry: { tries: 1 },
    report: (error) => reports.push(error),
  })
  try {
    for (const { id } of (await runtime.listConversations()).items) await assertConversation(runtime, id)
    assert.deepEqual(
      reports.filter((one) => !isWitanError(one)),
      [],
    )
  } finally {
    await runtime.close()
  }
}

async function assertConversation(runtime: Runtime, id: string): Promise<void> {
  await assertReads(runtime, id)
  await answered('fork', async () => {
    const { lastSeq } = await runtime.getConversation(id)
    await runtime.forkConversation(id, { seq: lastSeq, id: 'forks/1' })
  })
  await answered('live run', async () => {
    const live = await runtime.liveRun(id)
    if (live !== null) await toTheEnd(runtime, await live.result)
  })
  for (const one of [id, 'forks/1'])
    await answered('next run', async () =>
      toTheEnd(runtime, await (await runtime.run(one, { prompt: 'again' })).result),
    )
  await assertReads(runtime, id)
}

async function assertReads(runtime: Runtime, id: string): Promise<void> {
  const paths = new Set([id])
  await answered('events', async () => {
    for (const { document } of await allEvents(runtime, id)) paths.add(document)
  })
  await answered('terse events', () => allEvents(runtime, id, { verbose: false }))
  for (const path of paths)
    await answered(`document ${path}`, () => runtime.getDocument(path, { limit: 200, detail: 'detailed' }))
  await answered('conversation', () => runtime.getConversation(id))
  await answered('runs', async () => {
    for (const { runId } of (await runtime.listRuns(id)).items) {
      await answered('run', () => runtime.getRun(runId))
      await answered('exchanges', () => runtime.getExchanges(runId))
      await answered('diagram', async () => {
        const diagram = await runtime.getDiagram(runId)
        assert.ok(diagramText(diagram) + diagramMermaid(diagram))
      })
    }
  })
  await answered('tasks', () => runtime.tasks.list())
  await answered('artifacts', () => runtime.artifacts.list(id))
  await answered('interruptions', () => runtime.listInterruptions())
  await answered('people', () => runtime.listParticipants(id))
  await answered('usage', () => runtime.usage({ groupBy: ['agent'] } as never))
  await answered('export', async () => {
    for await (const line of runtime.exportConversation(id)) assert.ok(line)
  })
}

test('[P19] [P23] a changed export is refused with the line, or whatever is asked of it has an answer', async (context) => {
  const counts = { refused: 0, taken: 0 }
  const property = fc.asyncProperty(
    fixtureSystem,
    fc.option(fc.integer({ min: 2, max: 12 })),
    fc.array(change, { minLength: 6, maxLength: 6 }),
    async (system, appends, changes) => {
      const left = await leave(system, { appends })
      for (const one of changes) {
        const lines = changed(left, one)
        let store: Store
        try {
          store = await imported(lines)
        } catch (error) {
          assert.ok(isWitanError(error), `${JSON.stringify(one)}: ${String((error as Error).stack)}`)
          assert.match(error.message, /^line \d+|^Conversation `[^`]*` cannot be stored/)
          counts.refused += 1
          continue
        }
        counts.taken += 1
        await assertAnswers(system, store)
      }
    },
  )
  const expected = await holds(context, property, 60)
  context.diagnostic(JSON.stringify(counts))
  assert.ok(counts.refused > expected(100) && counts.taken > expected(30), JSON.stringify(counts))
})

for (const appends of [1, 2, 3, null])
  test(`[P23] a store that is left after ${appends ?? 'all'} appends is exported and imported`, {
    timeout: 60_000,
  }, async () => {
    const [system] = fc.sample(fixtureSystem, { seed: 1, numRuns: 1 })
    const left = await leave(system as RandomSystem, { appends })
    assert.ok(left.length > 0)
    assert.deepEqual(await exportAgain(left), left)
  })
