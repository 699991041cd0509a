/** What a process learns of the others on the same store: for its jobs, for its readers, and for whoever waits for a run here. */
import { type RunResult, WitanError } from '@witan/protocol'
import { createRelay, type Hearing } from '../event/relay.ts'
import { channelOf } from '../identity/channel.ts'
import type { Parts } from './wiring.ts'
import type { TrackedJob } from '../task/tracker.ts'

interface Place {
  readonly database: string
  readonly conversation: string
}

type Hearers = Pick<Parts, 'store' | 'warm' | 'hub' | 'tracker' | 'worker' | 'registry' | 'env'>

/** How many looks go by before agents are read again that nobody told of. */
const refreshEvery = 20

/** Begins to listen. */
export function startHearing(parts: Hearers): Hearing {
  const { store, warm, hub, worker, env, registry } = parts
  const relay = createRelay({
    hub,
    clock: env.clock,
    say(channel, text) {
      const [database = '', conversation = ''] = channel.split('\n')
      store.say(database, conversation, text)
    },
  })
  const readers = new Catching(parts)
  const report = (error: unknown) => env.report(error)
  const leave = store.listen({
    appended(at) {
      const log = warm.peek(at.database, at.conversation)
      if (log !== null && log.watchers.size > 0 && log.state.seq < at.lastSeq) log.catchUp().catch(report)
      readers.catchUp(at, at.lastSeq).catch(report)
      tellRested(parts, parts.tracker.awaited(at)).catch(report)
    },
    due: () => void worker.look().catch(report),
    gone(at) {
      warm.drop(at.database, at.conversation)
      hub.gone(channelOf(at.database, at.conversation))
    },
    said(at, text) {
      if (at.conversation === '') registry.refresh(at.database).catch(report)
      else relay.said(channelOf(at.database, at.conversation), text)
    },
  })
  let looks = 0
  return {
    async look() {
      looks += 1
      await tellRested(parts, parts.tracker.awaited())
      if (looks % refreshEvery === 0) await registry.refresh()
    },
    close() {
      leave()
      relay.close()
    },
  }
}

/** A run that somebody waits for here has come to rest elsewhere: its result is in the store. */
async function tellRested({ store, tracker }: Hearers, jobs: readonly TrackedJob[]): Promise<void> {
  for (const { database, id, epoch } of jobs) {
    const row = await store.getJob(database, id)
    if (row === null) tracker.fail(id, Number.POSITIVE_INFINITY, goneError(id))
    const rests = row === null || row.endedAt !== null || (row.status === 'waiting' && !row.wake)
    if (row !== null && rests && row.epoch >= epoch) tracker.tell(id, row.epoch, row.result as RunResult)
  }
}

function goneError(id: string): WitanError {
  const hint = 'Its conversation was deleted, or its time was over.'
  return new WitanError('NOT_FOUND', `Run \`${id}\` is gone.`, { hint })
}

/** How many entries are read at once. */
const readAtOnce = 500
/** How many of the last ones are read when the first notice comes; whoever lacks more reads for itself. */
const firstRead = 50

/** Gives the readers of this process what others stored; one read for all of them. */
class Catching {
  readonly #parts: Hearers
  readonly #told = new Map<string, number>()
  readonly #reading = new Set<string>()

  constructor(parts: Hearers) {
    this.#parts = parts
  }

  async catchUp(at: Place, lastSeq: number): Promise<void> {
    const { hub, store } = this.#parts
    const channel = channelOf(at.database, at.conversation)
    if (!hub.channels.has(channel)) return void this.#told.delete(channel)
    if (this.#reading.has(channel)) return
    this.#reading.add(channel)
    try {
      const after = this.#told.get(channel) ?? Math.max(0, lastSeq - firstRead)
      const entries = await store.readEntries(at.database, at.conversation, { after, limit: readAtOnce })
      this.#told.set(channel, entries.at(-1)?.seq ?? after)
      if (entries.length > 0) hub.entries(channel, entries)
    } finally {
      this.#reading.delete(channel)
    }
    if ((this.#told.get(channel) ?? 0) < lastSeq) await this.catchUp(at, lastSeq)
  }
}
