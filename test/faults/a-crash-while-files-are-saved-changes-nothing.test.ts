/** The process dies at its n-th append while agents save and read files, for every n: each file is there once, whole, with where it came from. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { defineTool, memoryStore, sqliteStore, type Store } from '@witan/core'
import { call, type Rule, toolResults } from '@witan/core/testing'
import { z } from 'zod'
import { assertSound } from '../support/claims.ts'
import { fakeClock } from '../support/clock.ts'
import { type CrashMoment, crashingStore } from '../support/crashing-store.ts'
import { artifactsOf, assertArtifacts, lineageOf } from '../support/made.ts'
import { outliving } from '../support/reopen.ts'
import { createStage, settle } from '../support/stage.ts'

const idsIn = (text: string) => text.match(/art_[0-9a-v]{26}/g) ?? []
const file = (name: string) => ({ name, media_type: 'text/plain', text: `text of ${name}` })

/** Has files mined, and a drawing made of two; then reads that and writes a report. */
const lead: Rule = (request, turn) => {
  if (turn === 0) return call('miner', { message: 'Mine.' })
  const ids = idsIn(toolResults(request).join(' '))
  if (turn === 1) return call('draw', { ids: ids.slice(0, 2) })
  if (turn === 2) return call('read_artifact', { artifact_id: ids.at(-1) })
  return turn === 3 ? call('save_artifact', file('report.md')) : 'Reported.'
}
/** Saves two files in one reply, reads one of them, and saves a third beside a read of the other. */
const miner: Rule = (request, turn) => {
  const ids = idsIn(request.messages.map(({ role, content }) => (role === 'tool' ? content : '')).join(' '))
  const save = (name: string) => ({ name: 'save_artifact', arguments: file(name) })
  const read = (at: number) => ({ name: 'read_artifact', arguments: { artifact_id: ids[at] } })
  if (turn === 0) return { toolCalls: [save('log-1.csv'), save('log-2.csv')] }
  if (turn === 1) return { toolCalls: [read(0)] }
  if (turn === 2) return { toolCalls: [read(1), save('joined.csv')] }
  return `Mined ${ids.at(-1)} and ${ids[0]}.`
}

/** A tool that waits for a person between two files, and so runs again from its beginning. */
const draw = defineTool({
  name: 'draw',
  description: 'Draws files.',
  parameters: z.object({ ids: z.array(z.string()) }),
  effect: 'none',
  async execute({ ids }, { artifacts, ask }) {
    for (const id of ids) await artifacts.read(id)
    const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7) % 256)
    await artifacts.save({ name: 'sketch.bin', mediaType: 'application/octet-stream', bytes })
    const { colour } = await ask([{ id: 'colour', text: 'Which colour?' }])
    return (
      await artifacts.save({ name: 'drawing.svg', mediaType: 'image/svg+xml', text: `<svg>${colour?.text}</svg>` })
    ).id
  },
})

const leaseMs = 15_000

function stageOn(store: Store, clock: ReturnType<typeof fakeClock>) {
  return createStage({
    agents: [
      { id: 'lead', artifacts: true, tools: ['draw'], subAgents: [{ agent: 'miner' }] },
      { id: 'miner', artifacts: true },
    ],
    plays: { lead, miner },
    options: { store, clock, leaseMs, tools: [draw] },
  })
}

/** Lets the run go on, and answers what it asks, until it has ended. */
async function toTheEnd({ runtime }: ReturnType<typeof stageOn>, pass: () => void) {
  for (let round = 0; round < 3000; round += 1) {
    const { runs, interruptions } = await runtime.getConversation('chats/1')
    for (const { id } of interruptions)
      await runtime.answerInterruption(id, { answer: { colour: { text: 'red' } } }).catch(() => {})
    const { result, status } = await runtime.getRun(runs[0]?.runId ?? '')
    if (status !== 'running' && status !== 'waiting' && result !== null) return result
    if (round % 50 === 49) pass()
    await settle(1)
  }
  throw new Error('I9: the run does not come to its end')
}

async function tell(open: (now: () => number) => Store, at: number, moment: CrashMoment) {
  const clock = fakeClock()
  const pass = () => clock.advance(leaseMs + 1)
  const store = open(clock.now)
  const crashing = crashingStore(outliving(store), at, moment)
  const first = stageOn(crashing.store, clock)
  const begun = first.runtime.start({ agent: 'lead', id: 'chats/1', prompt: 'Go.' })
  const told = begun.then(() => toTheEnd(first, pass)).then(() => 'end' as const)
  const fired = (await Promise.race([told, crashing.crashed.then(() => 'crash' as const)])) === 'crash'
  let last = first
  if (fired) {
    pass()
    last = stageOn(outliving(store), clock)
    await last.runtime.ready
    // What was sent and not acknowledged is sent again.
    const { items } = await last.runtime.listConversations()
    if (items.length === 0) await last.runtime.start({ agent: 'lead', id: 'chats/1', prompt: 'Go.' })
  }
  const result = await toTheEnd(last, pass)
  assertSound(await last.events('chats/1'))
  const found = await assertArtifacts(last.runtime, 'chats/1')
  const files = lineageOf(await artifactsOf(last.runtime, 'chats/1'))
  await last.runtime.close()
  await store.close()
  return { files, found, result: [result.status, result.text], appends: crashing.appends(), fired }
}

describe('a crash while files are saved', () => {
  const folder = mkdtempSync(join(tmpdir(), 'witan-files-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  let made = 0
  const stores = {
    memory: (now: () => number) => memoryStore({ now }),
    sqlite: (now: () => number) => sqliteStore({ file: join(folder, `${++made}.db`), synchronous: 'normal', now }),
  }

  for (const [name, open] of Object.entries(stores)) {
    test(`[T31] [Tb30] [I2] [I6] [I9] [I16] at any append, ${name}`, async (context) => {
      const calm = await tell(open, 0, 'before')
      assert.deepEqual(calm.result, ['completed', 'Reported.'])
      assert.deepEqual(
        calm.files.map((one) => one.replace(/ .*/, '')),
        [
          'lead/drawing.svg',
          'lead/report.md',
          'lead/sketch.bin',
          'lead/miner/joined.csv',
          'lead/miner/log-1.csv',
          'lead/miner/log-2.csv',
        ].sort(),
      )
      assert.deepEqual(calm.found, { made: 6, inputs: 8 })
      let fired = 0
      for (const moment of ['before', 'after'] as const) {
        for (let at = 1; at <= calm.appends; at += 1) {
          const told = await tell(open, at, moment)
          assert.deepEqual(told.files, calm.files, `append ${at}, ${moment}`)
          assert.deepEqual(told.result, calm.result, `append ${at}, ${moment}`)
          if (told.fired) fired += 1
        }
      }
      context.diagnostic(`${name} ${calm.appends * 2} trials, ${fired} faults fired, 0 violations`)
      assert.equal(fired, calm.appends * 2, 'I17: a fault did not fire')
      assert.ok(calm.appends >= 8, `only ${calm.appends} appends`)
    })
  }
})
