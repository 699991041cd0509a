/**
 * Takes out of an export what conditions say, how they are met and under which state, and for whom evidence proved that somebody acts: that is
 * for the people and the servers concerned [E65, M03]. Each text has one name for it wherever it stands, so that a replay comes to the same.
 */
import type { AgentData } from '@witan/protocol'
import {
  type AgentStartBody,
  authorKindOf,
  type Entry,
  type IncomingCall,
  type ProvenEvidence,
  type RequiredBody,
  type ResolvedBody,
} from '@witan/protocol/entries'
import { withoutStates } from '../../federation/remote-note.ts'
import type { OutsideCaller } from '@witan/protocol/schemas'
import type { MovingOf } from '../../store/export-lines.ts'
import { mapped } from '../../store/open-snapshot.ts'
import type { OpenSnapshot } from '../../store/store.ts'

type Definition = MovingOf<'agent'>

/** The definitions and the conversation without them. A replay gives a call what the log has of it, so it needs none. */
export function withoutConditions(
  definitions: readonly Definition[],
  snapshot: OpenSnapshot,
): { readonly definitions: readonly Definition[]; readonly snapshot: OpenSnapshot } {
  const names = new Names(snapshot.row.createdBy)
  return {
    definitions: definitions.map((one) => definitionOf(one, names)),
    snapshot: {
      ...snapshot,
      entries: mapped(snapshot.entries, (entry) => entryOf(entry, names)),
      jobs: mapped(snapshot.jobs, (job) => ({ ...job, about: aboutOf(job.about, names) })),
    },
  }
}

/** What stands for the words of conditions and for people, in the order in which they were met. */
class Names {
  readonly #words = new Map<unknown, string>()
  readonly #people = new Map<string, string>()
  /** The ids of conditions. */
  readonly conditions = new Set<string>()
  /** Who owns the conversation: the address of that one stays, because it is the author of what it said. */
  readonly #owner: string

  constructor(owner: string) {
    this.#owner = owner
  }

  words(message: unknown): string {
    const name = this.#words.get(message) ?? `condition ${this.#words.size + 1}`
    this.#words.set(message, name)
    return name
  }

  /** An address that evidence may be about: of anybody but the owner. */
  address(text: string): string {
    return text === this.#owner ? text : this.person(text)
  }

  /** An address stays one, of its domain. */
  person(uri: string): string {
    const number = this.#people.size + 1
    const [, domain] = /^@[^@]+@(.+)$/.exec(uri) ?? []
    const name = domain === undefined ? `urn:pseudonym:${number}` : `@pseudonym-${number}@${domain}`
    const known = this.#people.get(uri) ?? name
    this.#people.set(uri, known)
    return known
  }
}

function definitionOf(definition: Definition, names: Names): Definition {
  return { ...definition, revisions: definition.revisions.map((one) => ({ ...one, data: dataOf(one.data, names) })) }
}

function dataOf<Data extends object>(data: Data, names: Names): Data {
  const { demands = [], access } = data as Partial<Pick<AgentData, 'demands' | 'access'>>
  const more: Record<string, unknown> = {}
  const entriesOf = (all: unknown) => peopleIn(all, names)
  if (demands.length > 0)
    more['demands'] = demands.map((one) => ({ ...one, message: names.words(one.message), of: entriesOf(one.of) }))
  if (access !== undefined)
    more['access'] = Object.fromEntries(Object.entries(access).map(([key, value]) => [key, entriesOf(value)]))
  return { ...data, ...more }
}

/** Access entries, in lists at any depth. */
function peopleIn(entries: unknown, names: Names): unknown {
  if (Array.isArray(entries)) return entries.map((one) => peopleIn(one, names))
  if (typeof entries === 'object' && entries !== null)
    return Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, peopleIn(value, names)]))
  if (typeof entries === 'string' && /^@[^*@]/.test(entries)) return names.address(entries)
  const [, mark, uri] = typeof entries === 'string' ? (/^(for:|from:)(.+)$/.exec(entries) ?? []) : []
  return mark === undefined || uri === undefined ? entries : mark + names.person(uri)
}

function entryOf(entry: Entry, names: Names): Entry {
  const { type, place } = entry
  if (type === 'checkpoint' && entry.body.note !== undefined && authorKindOf(place.author) === 'remote')
    return { ...entry, body: { ...entry.body, note: withoutStates(entry.body.note) } }
  if (type === 'policy_required') names.conditions.add(entry.body.id)
  if (type === 'start' && entry.kind === 'agent') return { ...entry, body: startOf(entry.body, names) }
  if (type === 'resolved') return { ...entry, body: resolvedOf(entry.body, names) }
  if (!type.endsWith('_required')) return entry
  return { ...entry, body: requiredOf(entry.body as RequiredBody, names) } as Entry
}

function startOf(body: AgentStartBody, names: Names): AgentStartBody {
  const { incoming, principal } = body
  if (incoming === undefined) return body
  const { evidence, renewed } = incoming
  const more: { -readonly [Key in keyof IncomingCall]?: IncomingCall[Key] } = {}
  if (evidence !== undefined) more.evidence = evidence.map((piece) => provenOf(piece, names, principal?.id))
  if (renewed !== undefined) more.renewed = provenOf(renewed, names, principal?.id)
  return { ...body, incoming: { ...incoming, ...more } }
}

/** A piece about somebody else than the caller, for nobody else, says for whom the caller acts. Its subject has one name with entries of access. */
function provenOf(piece: ProvenEvidence, names: Names, caller: string | undefined): ProvenEvidence {
  const { subject, onBehalfOf } = piece
  const whom = onBehalfOf.length === 0 && subject !== caller ? [subject] : onBehalfOf
  return {
    ...piece,
    subject: names.address(subject),
    onBehalfOf: whom.map((one) => names.person(one)),
  }
}

function requiredOf(body: RequiredBody, names: Names): RequiredBody {
  const { policy = {} } = body as { readonly policy?: Readonly<Record<string, unknown>> }
  const shown = body.kind === 'policy' ? { ...body, policy: policyOf(policy, names) } : body
  return withCaller(shown, names)
}

function aboutOf(about: unknown, names: Names): unknown {
  return typeof about === 'object' && about !== null ? withCaller(about, names) : about
}

/** What names a caller, with those for whom it acts. */
function withCaller<About extends { readonly caller?: OutsideCaller | undefined }>(about: About, names: Names): About {
  const { caller } = about
  if (caller?.onBehalfOf === undefined) return about
  return { ...about, caller: { ...caller, onBehalfOf: caller.onBehalfOf.map((one) => names.person(one)) } }
}

function policyOf({ kind, message }: Readonly<Record<string, unknown>>, names: Names): Record<string, unknown> {
  return { kind, message: names.words(message) }
}

function resolvedOf(body: ResolvedBody, names: Names): ResolvedBody {
  const { id, answer, evidence } = body
  const proven = evidence === undefined ? {} : { evidence: provenOf(evidence, names, undefined) }
  if (!names.conditions.has(id) || answer === null || typeof answer !== 'object' || !('value' in answer))
    return { ...body, ...proven }
  const { decision } = answer.value as { readonly decision?: string }
  return { ...body, ...proven, answer: { value: decision === undefined ? { resolution: {} } : { decision } } }
}
