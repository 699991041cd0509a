/** `kill -9` between the first and the second request of a tool loop: the next worker sends what the first reply was marked with. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createRuntime, type Store } from '@witan/core'
import { exportStore, exportText, importInto, readExport } from '@witan/core/export'
import { freshSchema } from '../postgres/support/stores.ts'
import { killedAtEnd, leaveChildren } from '../support/child.ts'
import { programOf } from '../support/one-piece.ts'
import { assertSound } from '../support/claims.ts'
import { allEvents } from '../support/stage.ts'
import { openVendor, type Vendor } from '../support/vendors/tape.ts'
import { prompt, type Way, ways, weatherAgent } from '../support/vendors/weather.ts'
import { openLoop, type Place, storeAt } from './support/held-loop.ts'

const folder = mkdtempSync(join(tmpdir(), 'witan-marks-'))
after(() => {
  leaveChildren()
  rmSync(folder, { recursive: true, force: true })
})

const script = fileURLToPath(new URL('support/held-loop.ts', import.meta.url))
const look = async (city: string) => `rain in ${city}`
/** A process and a lease take that long on a busy machine. */
const timeout = 240_000

/** What a vendor is asked by a loop that nobody interrupts. */
async function uninterrupted({ dialect, model }: Way): Promise<readonly unknown[]> {
  const vendor = await openVendor(dialect)
  const { agent, tool } = weatherAgent(model(vendor.baseUrl), look)
  const runtime = createRuntime({ agents: [agent], tools: [tool], retry: { tries: 1 } })
  assert.equal((await runtime.conversation('root').run(prompt)).text, 'Rain everywhere.')
  await Promise.all([runtime.close(), vendor.close()])
  return vendor.bodies.map((body) => dialect.history(body))
}

/** Starts all loops in one process and kills it in the calls of each one's first reply. */
async function startAndKill(loops: readonly { readonly place: Place; readonly way: Way; readonly vendor: Vendor }[]) {
  const told = loops.map(({ place, way, vendor }) => ({ place, way: way.dialect.name, baseUrl: vendor.baseUrl }))
  const words = ['--conditions=witan-source', '--no-warnings', await programOf(script), JSON.stringify(told)]
  const child = killedAtEnd(spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] }))
  const ended = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout })) if (line === 'held') break
  for (const { vendor } of loops) assert.equal(vendor.bodies.length, 1)
  child.kill('SIGKILL')
  assert.deepEqual(await ended, [null, 'SIGKILL'])
}

async function copy(from: Store, to: Store): Promise<void> {
  await Promise.all([from.open(), to.open()])
  async function* lines() {
    for await (const line of exportStore(from, await from.listDatabases())) yield exportText(line)
  }
  for await (const item of readExport(lines())) assert.equal(await importInto(to)(item), true)
  await Promise.all([from.close(), to.close()])
}

let files = 0
async function freshFile(): Promise<Place> {
  files += 1
  return { file: join(folder, `${files}.db`) }
}

type Places = (context: TestContext) => Promise<{ readonly first: Place; readonly next: Place }>

const onOne = (fresh: (context: TestContext) => Promise<Place>) => async (context: TestContext) => {
  const place = await fresh(context)
  return { first: place, next: place }
}

const stores: Readonly<Record<string, Places>> = {
  SQLite: onOne(freshFile),
  PostgreSQL: onOne((context) => freshSchema(context)),
  'SQLite, moved to PostgreSQL': async (context) => ({ first: await freshFile(), next: await freshSchema(context) }),
  'PostgreSQL, moved to SQLite': async (context) => ({ first: await freshSchema(context), next: await freshFile() }),
}

for (const [name, places] of Object.entries(stores)) {
  test(`on ${name}`, { timeout }, async (context) => {
    const loops = await Promise.all(
      ways.map(async (way) => {
        const { first, next } = await places(context)
        const vendor = await openVendor(way.dialect)
        context.after(() => vendor.close())
        return { way, vendor, place: first, next }
      }),
    )
    await startAndKill(loops)
    for (const { way, vendor, place, next } of loops) {
      await context.test(
        `[I1] [D2] ${way.dialect.name}: the next worker’s requests are those of a loop that nobody killed`,
        async () => {
          if (next !== place) await copy(storeAt(place), storeAt(next))
          const runtime = openLoop({ place: next, way: way.dialect.name, baseUrl: vendor.baseUrl }, look)
          try {
            const { runs } = await runtime.getConversation('chats/1')
            const { text } = await (await runtime.followRun(runs[0]?.runId ?? '')).result
            assert.deepEqual([text, vendor.refusals], ['Rain everywhere.', []])
            assertSound(await allEvents(runtime, 'chats/1'))
          } finally {
            // It must be closed before the schema is dropped.
            await runtime.close()
          }
          assert.deepEqual(
            vendor.bodies.map((body) => way.dialect.history(body)),
            await uninterrupted(way),
          )
        },
      )
    }
  })
}
