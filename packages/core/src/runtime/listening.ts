/**
 * Receives what other processes on the same store do: for this process's jobs, its readers, and its callers that wait for a
 * run.
 */
import type { WitanError } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import { createRelay, type Listening } from '../event/relay.ts'
import { channelOf, placeOf } from '../identity/channel.ts'
import type { StoredResult, TrackedJob } from '../task/tracker.ts'
import type { Parts } from './wiring.ts'
import { jsonLength } from '../identity/json-length.ts'
import { notFound } from '../identity/not-found.ts'
import { readBound } from '../identity/row-page.ts'

interface Place {
  readonly database: string
  readonly conversation: string
}

type ListeningParts = Pick<
  Parts,
  'store' | 'warm' | 'hub' | 'tracker' | 'worker' | 'registry' | 'env' | 'preparing' | 'stranded'
>

/** Agents are reloaded after this many polls, even without a notification about them. */
const refreshEvery = 20

/** Starts to listen. */
export function startListening(parts: ListeningParts, changed?: (problem: WitanError | null) => void): Listening {
  const { store, warm, hub, worker, env, registry, preparing, tracker, stranded } = parts
  const relay = createRelay({
    hub,
    clock: env.clock,
    send(channel, text) {
      const { database, conversation } = placeOf(channel)
      store.notify(database, conversation, text)
    },
  })
  const readers = new ReaderFeed(parts)
  const report = (error: unknown) => env.report(error)
  const state: { problem: WitanError | null } = { problem: null }
  const leave = store.listen({
    appended(at) {
      const log = warm.peek(at.database, at.conversation)
      if (log !== null && log.watchers.size > 0 && log.state.seq < at.lastSeq) log.catchUp().catch(report)
      readers.feed(at, at.lastSeq).catch(report)
      resolveStoppedRuns(parts, parts.tracker.awaited(at)).catch(report)
    },
    due: () => void worker.claim().catch(report),
    gone(at) {
      warm.drop(at.database, at.conversation)
      hub.gone(channelOf(at.database, at.conversation))
    },
    historyChanged() {
      preparing.again()
      stranded.again()
      hub.historyChanged()
      tracker.forgetEpochs()
      worker.epochs.again(worker.live.values())
      for (const { log } of worker.live.values()) log.sync.known.confirm().catch(report)
    },
    received(at, text) {
      if (at.conversation === '') registry.refresh(at.database).catch(report)
      else relay.received(channelOf(at.database, at.conversation), text)
    },
    *watched() {
      for (const [channel, { lastSeq }] of hub.channels) yield { ...placeOf(channel), lastSeq }
    },
    listening(problem) {
      state.problem = problem
      if (changed !== undefined) changed(problem)
      else if (problem !== null) report(problem)
    },
    ignored: (count) => report(ignoredError(count)),
  })
  let polls = 0
  return {
    problem: () => state.problem,
    async poll() {
      polls += 1
      await resolveStoppedRuns(parts, parts.tracker.awaited())
      if (polls % refreshEvery === 0) await registry.refresh()
    },
    close() {
      leave()
      relay.close()
    },
  }
}

/** Resolves waits for runs that have ended or parked in another process; rejects those whose run is missing (`NOT_FOUND`). */
async function resolveStoppedRuns({ store, tracker }: ListeningParts, jobs: readonly TrackedJob[]): Promise<void> {
  for (const { database, id, epoch } of jobs) {
    const row = await store.getJob(database, id)
    if (row === null) tracker.fail(id, Number.POSITIVE_INFINITY, notFound('run', id))
    const rests = row === null || row.endedAt !== null || (row.status === 'waiting' && !row.wake)
    if (row !== null && rests && row.epoch >= epoch) tracker.report(id, row.epoch, row.result as StoredResult)
  }
}

/** An unknown sender uses the channel of the store, or a program of a version before or after an upgrade. */
function ignoredError(count: number): Error {
  const notifications = count === 1 ? '1 notification was' : `${count} notifications were`
  const why = 'not sealed with the key of this store, or repeated'
  const hint = 'This is usual while programs of two versions run; otherwise check who else can connect to the database.'
  return new Error(`${notifications} ignored: ${why}. ${hint}`)
}

/** How many entries are read at once. */
const readAtOnce = 500
/** How many of the latest entries are read if no reader has read the history yet. A reader that needs more reads it itself. */
const firstRead = 50
/** The maximum number of characters passed on, so that a stalled reader holds no long copy of the history. */
const firstCharacters = 500_000

/** Passes the entries of other processes to the readers of this one; one read serves all readers. */
class ReaderFeed {
  readonly #parts: ListeningParts
  /** The highest seq that is wanted, by conversation that is being read. */
  readonly #wanted = new Map<string, number>()

  constructor(parts: ListeningParts) {
    this.#parts = parts
  }

  /** Reads what the readers lack up to `lastSeq`. A failed read is repeated at the next notification or poll. */
  async feed(at: Place, lastSeq: number): Promise<void> {
    const channel = channelOf(at.database, at.conversation)
    const wanted = this.#wanted.get(channel)
    if (wanted !== undefined) return void this.#wanted.set(channel, Math.max(wanted, lastSeq))
    this.#wanted.set(channel, lastSeq)
    try {
      while (await this.#readMore(at, channel));
    } finally {
      this.#wanted.delete(channel)
    }
  }

  /** False if there is nothing more to read, or no reader. */
  async #readMore(at: Place, channel: string): Promise<boolean> {
    const { hub, store } = this.#parts
    const known = hub.channels.get(channel)
    const wanted = this.#wanted.get(channel) ?? 0
    if (known === undefined || (known.lastSeq ?? -1) >= wanted) return false
    const after = known.lastSeq ?? Math.max(0, wanted - firstRead)
    // The first read must reach the end: what a bounded one left out would be passed on whole.
    const upTo = known.lastSeq === null ? { limit: readAtOnce } : { limit: readAtOnce, bound: readBound }
    const entries = await store.readEntries(at.database, at.conversation, { after, ...upTo })
    const handedOn = known.lastSeq === null ? lastOf(entries, firstCharacters) : entries
    if (handedOn.length > 0) hub.entries(channel, handedOn)
    return entries.length > 0
  }
}

/** The last entries that fit into `characters`; at least one. */
function lastOf(entries: readonly Entry[], characters: number): readonly Entry[] {
  let left = characters
  const tooMany = entries.findLastIndex(({ body }) => {
    left -= jsonLength(body)
    return left < 0
  })
  return entries.slice(Math.min(tooMany + 1, entries.length - 1))
}
