/** The ids of a replay: those of the log, in the order in which its entries are recorded. */
import type { Entry } from '@witan/protocol/entries'
import { type Ids, randomIds } from '../../identity/ids.ts'
import type { Script } from './script.ts'

/** The ids that entries introduce, and the first one that was not given out yet. */
interface Queue {
  readonly ids: readonly { readonly at: number; readonly id: string }[]
  next: number
}

/** The ids of a script. */
export interface ScriptIds extends Ids {
  /** Takes ids back that were given out for entries that were refused. */
  takeBack(): void
}

/** The ids of the entries from the position of the script on. Once the log has no more, an id is one that it cannot hold. */
export function idsOf(script: Script): ScriptIds {
  const { entries, at } = script
  const seen = new Set(entries.slice(0, at).map(({ place }) => place.call))
  const calls = queueOf(entries, (entry) => newCalls(entry, seen))
  const interruptions = queueOf(entries, ({ type, body }) =>
    type.endsWith('_required') ? [(body as { readonly id: string }).id] : [],
  )
  const appends = queueOf(entries, ({ appendNo }) => (appendNo < 0 ? [String(appendNo)] : []))
  const fresh = randomIds()
  return {
    call: () => (script.isOpen ? fresh.call() : take(calls, script.at)),
    append: () => (script.isOpen ? fresh.append() : Number(take(appends, script.at))),
    interruption: () => (script.isOpen ? fresh.interruption() : take(interruptions, script.at)),
    conversation: () => 'replay',
    owner: () => 'w_replay',
    takeBack() {
      for (const queue of [calls, interruptions, appends]) {
        while (queue.next > 0 && (queue.ids[queue.next - 1]?.at ?? script.at) >= script.at) queue.next -= 1
      }
    },
  }
}

function queueOf(entries: readonly Entry[], idsIn: (entry: Entry) => readonly string[]): Queue {
  return { ids: entries.flatMap((entry, at) => idsIn(entry).map((id) => ({ at, id }))), next: 0 }
}

function take(queue: Queue, at: number): string {
  while ((queue.ids[queue.next]?.at ?? at) < at) queue.next += 1
  const found = queue.ids[queue.next]?.id
  queue.next += 1
  return found ?? `-${queue.next}`
}

/** The call ids that an entry introduces: of the calls that a message brings, and its own. `seen` are those known so far. */
function newCalls({ type, place, body }: Entry, seen: Set<string>): readonly string[] {
  const brought = type === 'message' ? (body.artificialActions ?? []).map(({ id }) => id) : []
  const own = seen.has(place.call) ? [] : [place.call]
  seen.add(place.call)
  return [...brought, ...own]
}
