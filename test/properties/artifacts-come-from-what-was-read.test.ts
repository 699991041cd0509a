/** Random agents that save and read files: the lineage has no circle and names only what was read, and moves with its store. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { memoryStore, sqliteStore, type Store } from '@witan/core'
import { exportStore, exportText, importInto, readExport } from '@witan/core/export'
import type { Rule } from '@witan/core/testing'
import fc from 'fast-check'
import { artifactsOf, assertArtifacts, withoutIds } from '../support/made.ts'
import {
  givenTo,
  note,
  randomPlay,
  type RandomSystem,
  randomSystem,
  toTheEnd,
  definedBy,
} from '../support/random-system.ts'
import { outliving } from '../support/reopen.ts'
import { holds } from '../support/seeds.ts'
import { createStage } from '../support/stage.ts'

/** Every agent saves and reads, and has time for both. */
const savingSystem = randomSystem.map(
  ({ agents, ...rest }): RandomSystem => ({
    ...rest,
    agents: agents.map((draft) =>
      draft.workflow
        ? draft
        : {
            ...draft,
            artifacts: true,
            outputSchema: null,
            guardrails: {},
            limits: { ...draft.limits, maxIterations: 6, maxModelCalls: 60, maxModelIterationsPerCall: null },
          },
    ),
  }),
)

/** Saves and reads most of the time, several files at once; else it does whatever random agents do. */
function busyPlay(seed: number): Rule {
  const otherwise = randomPlay(seed)
  return (request, turn) => {
    const text = JSON.stringify(request.messages)
    const dice = createHash('sha256')
      .update(`${seed} ${withoutIds(text)}`)
      .digest()
    if ((dice[0] ?? 0) % 8 > 4 || !request.tools.some(({ name }) => name === 'save_artifact'))
      return otherwise(request, turn)
    const known = [...new Set(text.match(/art_[0-9a-v]{26}/g))]
    const callAt = (at: number) => {
      const die = dice[1 + at] ?? 0
      const id = known[(die >> 1) % known.length]
      if (id !== undefined && die % 2 === 0) return { name: 'read_artifact', arguments: { artifact_id: id } }
      const file = { name: `file-${die % 5}.txt`, media_type: 'text/plain', text: `text ${die}` }
      return { name: 'save_artifact', arguments: file }
    }
    return { toolCalls: Array.from({ length: 1 + ((dice[9] ?? 0) % 3) }, (_, at) => callAt(at)) }
  }
}

function stageOf(system: RandomSystem, store: Store) {
  const play = busyPlay(system.seed)
  const plays = Object.fromEntries(system.agents.map(({ id }) => [id, play]))
  const options = { store: outliving(store), tools: [note], ...definedBy(system) }
  return createStage({ agents: system.agents, plays, options })
}

async function moved(from: Store, to: Store): Promise<void> {
  const lines: string[] = []
  for await (const line of exportStore(from, await from.listDatabases())) lines.push(exportText(line))
  for await (const item of readExport(
    (async function* () {
      yield* lines
    })(),
  ))
    await importInto(to)(item)
}

describe('the artifacts of random agents', () => {
  const folder = mkdtempSync(join(tmpdir(), 'witan-made-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  let files = 0

  test('[T31] [Tb30] are what the log says, come from what was read before, and are the same in another store', async (context) => {
    const sum = { made: 0, inputs: 0, most: 0 }
    const property = fc.asyncProperty(savingSystem, async (system) => {
      const store = memoryStore()
      const stage = stageOf(system, store)
      await stage.runtime.start({ agent: 'a', id: 'chats/1', parameters: givenTo(system) })
      for (const prompt of ['go', 'again', 'once more'])
        await toTheEnd(stage.runtime, await stage.run('chats/1', { prompt }))
      const found = await assertArtifacts(stage.runtime, 'chats/1')
      const artifacts = await artifactsOf(stage.runtime, 'chats/1')
      await stage.runtime.close()
      assert.deepEqual(stage.reports, [])
      const other = sqliteStore({ file: join(folder, `${++files}.db`), synchronous: 'normal' })
      await other.open()
      await moved(store, other)
      const there = stageOf(system, other)
      assert.deepEqual(await artifactsOf(there.runtime, 'chats/1'), artifacts)
      assert.deepEqual(await assertArtifacts(there.runtime, 'chats/1'), found)
      await there.runtime.close()
      await other.close()
      sum.made += found.made
      sum.inputs += found.inputs
      sum.most = Math.max(sum.most, ...artifacts.map(({ inputs }) => inputs.length))
    })
    const expected = await holds(context, property, 60)
    context.diagnostic(`${sum.made} artifacts, ${sum.inputs} inputs, at most ${sum.most} of one`)
    assert.ok(sum.made > expected(200) && sum.inputs > expected(50) && sum.most > expected(1), JSON.stringify(sum))
  })
})
