/**
 * A process that ingests and dies: before or after the n-th thing that it asks of its store, by `KILL_AT` and `KILL_MOMENT`. Says `accepted` when the
 * request got its reply, and `done` when all is read.
 */
import { createRuntime, type Store } from '@witan/core'
import { createReaders } from '@witan/readers'
import { leaseMs, type Place, storeAt } from './held-loop.ts'
import { ingested, knowledge } from './ingested.ts'

const at = Number(process.env['KILL_AT'] ?? 0)
const moment = process.env['KILL_MOMENT']
const [place = '{}', version = ''] = process.argv.slice(2)
let steps = 0

function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => {})
}

type Step = (...values: unknown[]) => Promise<unknown>

function watched(records: Store['knowledge']): Store['knowledge'] {
  return new Proxy(records, {
    get(target, name) {
      const step = Reflect.get(target, name) as Step
      return async (...values: unknown[]) => {
        steps += 1
        const isLast = steps === at
        if (isLast && moment === 'before') await die()
        const result = await step.apply(target, values)
        if (isLast) await die()
        return result
      }
    },
  })
}

function watchedStore(store: Store): Store {
  const records = watched(store.knowledge)
  return new Proxy(store, {
    get: (target, name) => (name === 'knowledge' ? records : Reflect.get(target, name, target)),
  })
}

const store = watchedStore(storeAt(JSON.parse(place) as Place))
const runtime = createRuntime({ store, leaseMs, knowledge, readers: createReaders() })
await runtime.ready
const { id } = await runtime.knowledge.documents.ingest('b', { ...ingested(version), wait: false })
process.stdout.write(`accepted ${id}\n`)
for await (const _ of runtime.knowledge.documents.followIngest('b', id, new AbortController().signal));
process.stdout.write('done\n')
await runtime.close()
