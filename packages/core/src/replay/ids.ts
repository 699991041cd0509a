/** The ids of a replay. Each job gets the ids that its entries in the log introduce, in their order. */
import type { Entry } from '@witan/protocol/entries'
import { type Ids, randomIds } from '../identity/ids.ts'
import { nextIn, type FollowedLog } from './followed-log.ts'

/** The ids that the entries of one writer introduce, and the first one that was not given out yet. */
interface Queue {
  readonly ids: { readonly at: number; readonly id: string }[]
  next: number
}

/** The ids of a log that is followed. */
export interface FollowedIds extends Ids {
  /** Takes back the ids whose entries were not recorded. */
  takeBack(): void
}

/** The ids of the entries from the position of the replay on. After the last one, made-up ids that no log can hold. */
export function idsOf(followed: FollowedLog): FollowedIds {
  const { entries, came } = followed
  const seen = new Set(came.map(({ place }) => place.call))
  const calls = queuesOf(entries, (entry) => newCalls(entry, seen))
  const interruptions = queuesOf(entries, ({ type, body }) =>
    type.endsWith('_required') ? [(body as { readonly id: string }).id] : [],
  )
  const appends = queuesOf(entries, ({ appendNo }) => (appendNo < 0 ? [String(appendNo)] : []))
  const fresh = randomIds()
  let given: Queue[] = []
  let missing = 0
  const take = (queues: ReadonlyMap<string, Queue>): string => {
    const next = nextIn(followed)
    const own = next === null ? outside : writerOf(next)
    const queue = [queues.get(own), queues.get(outside)].find((one) => one !== undefined && hasMore(one, came.length))
    if (queue === undefined) return `-${++missing}`
    queue.next += 1
    given.push(queue)
    return queue.ids[queue.next - 1]?.id ?? ''
  }
  return {
    call: () => (followed.isOpen ? fresh.call() : take(calls)),
    append: () => (followed.isOpen ? fresh.append() : Number(take(appends))),
    interruption: () => (followed.isOpen ? fresh.interruption() : take(interruptions)),
    conversation: () => 'replay',
    owner: () => 'w_replay',
    takeBack() {
      for (const queue of given) while ((queue.ids[queue.next - 1]?.at ?? -1) >= came.length) queue.next -= 1
      given = []
    },
  }
}

/** The queue of what no job introduces for itself. */
const outside = ''

function writerOf({ type, job, epoch, place }: Entry): string {
  return epoch === 0 || (type === 'start' && place.call === place.run) ? outside : job
}

function queuesOf(entries: readonly Entry[], idsIn: (entry: Entry) => readonly string[]): ReadonlyMap<string, Queue> {
  const queues = new Map<string, Queue>()
  for (const [at, entry] of entries.entries()) {
    const writer = writerOf(entry)
    const queue = queues.get(writer) ?? { ids: [], next: 0 }
    queues.set(writer, queue)
    for (const id of idsIn(entry)) queue.ids.push({ at, id })
  }
  return queues
}

function hasMore(queue: Queue, at: number): boolean {
  while ((queue.ids[queue.next]?.at ?? at) < at) queue.next += 1
  return queue.next < queue.ids.length
}

/** The call ids that an entry introduces: of the calls that a message brings, and its own. `seen` are those known so far. */
function newCalls({ type, place, body }: Entry, seen: Set<string>): readonly string[] {
  const brought = type === 'message' ? (body.artificialActions ?? []).map(({ id }) => id) : []
  const own = seen.has(place.call) ? [] : [place.call]
  seen.add(place.call)
  return [...brought, ...own]
}
