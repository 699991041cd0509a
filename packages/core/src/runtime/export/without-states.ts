/** Takes the states of the conditions of remotes out of an export: they are for this server alone [E65]. */
import { authorKindOf, type Entry } from '@witan/protocol/entries'
import { withoutStates } from '../../federation/remote-note.ts'
import { mapped } from '../../store/open-snapshot.ts'
import type { OpenSnapshot } from '../../store/store.ts'

/** The same conversation without them. A replay gives a call what the log has of it, so it needs none. */
export function withoutRemoteStates(snapshot: OpenSnapshot): OpenSnapshot {
  return { ...snapshot, entries: mapped(snapshot.entries, stateless) }
}

function stateless(entry: Entry): Entry {
  const { type, place, body } = entry
  if (type !== 'checkpoint' || body.note === undefined || authorKindOf(place.author) !== 'remote') return entry
  return { ...entry, body: { ...body, note: withoutStates(body.note) } }
}
