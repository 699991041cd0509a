/** Replaces hidden values in an export by pseudonyms: each value by its own, everywhere, so that a replay meets the same texts. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type AgentData, WitanError } from '@witan/protocol'
import { agentEdgesOf } from '@witan/protocol/edges'
import type { Entry } from '@witan/protocol/entries'
import { jsonLength } from '../../identity/json-length.ts'
import { type Pausable, runWithoutPause, runWithPauses } from '../../identity/pausable.ts'
import { type Scrubber, scrubbed, scrubberOfValues } from '../../parameter/scrub.ts'
import { listed, mapped } from '../../store/open-snapshot.ts'
import type { ConversationRow, InterruptionRow, OpenSnapshot } from '../../store/store.ts'
import type { StoredContent } from '../../store/stored-content.ts'
import { callDigest } from '../../tool/digest.ts'

/** How much of a file is searched at once, in characters. */
const pieceLength = 65_536

/** A hidden value, and what stands for it. */
interface Replaced {
  readonly value: unknown
  readonly pseudonym: string
  /** Takes the value out of a text, in every form that a scrubber knows; null if it is too short to be looked for. */
  readonly replace: ((text: string) => Pausable<string>) | null
}

type Replacements = readonly Replaced[]

/**
 * The same conversation without the values that its start or an agent hides, or that are secret, and without the rows that a replay
 * makes anew. A pseudonym is a text: of a value it shows only whether it is long enough to be looked for. Throws `BODY_INVALID` if a file
 * holds such a value.
 */
export async function withPseudonyms(snapshot: OpenSnapshot, agents: readonly AgentData[]): Promise<OpenSnapshot> {
  const hidden = hiddenNames(snapshot, agents)
  const all = replacementsOf(snapshot, hidden)
  const jobs = mapped(snapshot.jobs, (job) => ({ ...job, result: null }))
  const bare = { ...snapshot, jobs, interruptions: listed<InterruptionRow>([]) }
  if (all.length === 0) return bare
  for await (const content of snapshot.contents) await refuseHidden(content, all)
  const given: Record<string, unknown> = {}
  for (const [name, [value, ...flags]] of Object.entries(snapshot.row.parameters))
    given[name] = [await runWithPauses(hidden.has(name) ? exactly(value, all) : clean(value, all)), ...flags]
  const parameters = given as ConversationRow['parameters']
  const entries = mapped(
    snapshot.entries,
    async (entry) => ({ ...entry, body: await runWithPauses(cleanBody(entry, all)) }) as Entry,
  )
  return { ...bare, row: { ...snapshot.row, parameters }, entries }
}

/** The values of the conversation that somebody must not see: by its start, or by the declaration of an agent. */
function hiddenNames({ row }: OpenSnapshot, agents: readonly AgentData[]): ReadonlySet<string> {
  const declared = new Set<string>()
  for (const { parameters } of agents)
    for (const { name, secret, sendToModel } of parameters) if (secret || !sendToModel) declared.add(name)
  // A chain of edges may rename a value more than once.
  for (let size = -1; size < declared.size; ) {
    size = declared.size
    for (const agent of agents)
      for (const { map } of agentEdgesOf(agent))
        for (const [child, own] of Object.entries(map)) if (own !== null && declared.has(child)) declared.add(own)
  }
  const names = Object.entries(row.parameters).filter(([name, [, isHidden]]) => isHidden || declared.has(name))
  return new Set(names.flatMap(([name]) => (name === '$users' ? [] : [name])))
}

function replacementsOf({ row }: OpenSnapshot, hidden: ReadonlySet<string>): Replacements {
  const all = new Map<unknown, Replaced>()
  for (const name of hidden) {
    for (const value of [row.parameters[name]?.[0]].flat()) {
      if (value === null || value === undefined || all.has(value)) continue
      const scrub = scrubberOfValues([value])
      const pseudonym = scrub === null ? `~${all.size + 1}` : `pseudonym-${all.size + 1}`
      all.set(value, { value, pseudonym, replace: scrub && ((text) => substituted(text, scrub, pseudonym)) })
    }
  }
  return [...all.values()]
}

/** A character of no language, in the place of marks that stand in the text already. */
const standIn = '\ue000'

function* substituted(text: string, scrub: NonNullable<Scrubber>, pseudonym: string): Pausable<string> {
  const marked = text.replaceAll(scrubbed, standIn)
  const without = yield* scrub.inPauses(marked)
  return without === marked ? text : without.replaceAll(scrubbed, pseudonym).replaceAll(standIn, scrubbed)
}

/** A file has up to 16 MiB: it is searched a piece at a time. */
async function refuseHidden({ bytes, name }: StoredContent, all: Replacements): Promise<void> {
  const scrub = scrubberOfValues(all.flatMap(({ value, replace }) => (replace === null ? [] : [value])))
  if (scrub === null) return
  await scrub.prepared()
  for (const encoding of ['utf8', 'latin1'] as const) {
    await nextTurn()
    const text = Buffer.from(bytes).toString(encoding).replaceAll(scrubbed, standIn)
    const pieces = scrub.inPieces()
    let clean = ''
    for (let from = 0; from < text.length; from += pieceLength) {
      await nextTurn()
      clean += pieces.push(text.slice(from, from + pieceLength))
    }
    if (clean + pieces.flush() !== text) throw holdsHidden(name)
  }
}

function holdsHidden(name: string | null): WitanError {
  return new WitanError('BODY_INVALID', `The file \`${name ?? 'without a name'}\` holds a value that is hidden.`, {
    hint: 'A conversation with such a file cannot be exported for a replay; `witan export` moves it with its values.',
  })
}

/** A hidden value, or a list of such values. */
function* exactly(value: unknown, all: Replacements): Pausable<unknown> {
  if (Array.isArray(value)) return yield* each(value, (one) => exactly(one, all))
  return all.find((one) => one.value === value)?.pseudonym ?? (yield* clean(value, all))
}

/** Fields of bodies that hold names and ids of the runtime. */
const structural: ReadonlySet<string> = new Set([
  ...['id', 'agent', 'author', 'authorKind', 'revision', 'revisions', 'toolCallId', 'callId', 'taskId', 'originRunId'],
  ...[
    'name',
    'code',
    'finishReason',
    'model',
    'status',
    'kind',
    'state',
    'path',
    'addressee',
    'by',
    'digest',
    'mediaType',
  ],
  ...[
    'document',
    'reader',
    'map',
    'history',
    'hiddenParameters',
    'bound',
    'principal',
    'caller',
    'tool',
    'user',
    'roles',
    'change',
  ],
  ...['handedFrom', 'heard', 'tasks', 'backgroundTasks', 'hidden', 'purpose', 'from', 'to', 'handsTo', 'held', 'read'],
])

/** The body of an entry. The names and ids in it stay; what anybody wrote is cleaned. */
function* cleanBody({ type, kind, body }: Entry, all: Replacements): Pausable<unknown> {
  const made: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(body)) {
    // It is made of texts that models read, and some of them may hold a value that was hidden later.
    if (name === 'digest' && kind === 'model') continue
    if (structural.has(name)) made[name] = value
    else if (name === 'parameters' && kind === 'agent') made[name] = yield* cleanFields(value, all)
    else if (name === 'toolCalls' || name === 'initial' || name === 'artificialActions')
      made[name] = yield* each(value as readonly Call[], (one) => cleanCall(one, all))
    else if (name === 'exchange') made[name] = yield* cleanExchange(value, all)
    else made[name] = yield* clean(value, all)
  }
  // The digest is that of the arguments as they are now.
  if (type === 'approval_required' && 'digest' in made)
    return { ...made, digest: callDigest(String(made['tool']), made['arguments'] as Record<string, unknown>) }
  return made
}

function* cleanFields(value: unknown, all: Replacements): Pausable<unknown> {
  const made: [string, unknown][] = []
  for (const [name, one] of Object.entries((value ?? {}) as object)) made.push([name, yield* exactly(one, all)])
  return Object.fromEntries(made)
}

interface Call {
  readonly id: string
  readonly name: string
}

function* cleanCall({ id, name, ...rest }: Call, all: Replacements): Pausable<unknown> {
  return { id, name, ...((yield* clean(rest, all)) as object) }
}

function* cleanExchange(value: unknown, all: Replacements): Pausable<unknown> {
  const { body, soFar, ...rest } = (value ?? {}) as { readonly body?: unknown; readonly soFar?: unknown }
  return {
    ...rest,
    ...(body === undefined ? {} : { body: yield* clean(body, all) }),
    ...(soFar === undefined ? {} : { soFar: yield* clean(soFar, all) }),
  }
}

/** What is cleaned in one piece, in characters of JSON. */
const shortValue = 4_096

/** The same JSON with every text cleaned, names of fields included. */
function* clean(value: unknown, all: Replacements): Pausable<unknown> {
  if (jsonLength(value, shortValue) <= shortValue) return cleanShort(value, all)
  if (typeof value === 'string') return yield* cleanText(value, all)
  if (Array.isArray(value)) return yield* each(value, (one) => clean(one, all))
  const fields = yield* each(Object.entries(value as object), function* ([name, one]) {
    return [yield* cleanText(name, all), yield* clean(one, all)] as const
  })
  return Object.fromEntries(fields)
}

function cleanShort(value: unknown, all: Replacements): unknown {
  if (typeof value === 'string') return runWithoutPause(cleanText(value, all))
  if (typeof value === 'number')
    return all.find((one) => one.replace !== null && one.value === value)?.pseudonym ?? value
  if (Array.isArray(value)) return value.map((one) => cleanShort(one, all))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [cleanShort(name, all), cleanShort(one, all)] as const),
  )
}

function* cleanText(text: string, all: Replacements): Pausable<string> {
  let cleaned = text
  for (const { replace } of all) if (replace !== null) cleaned = yield* replace(cleaned)
  return cleaned
}

/** So many values are cleaned between two pauses. */
const atOnce = 100

function* each<Item, Made>(list: readonly Item[], make: (item: Item) => Pausable<Made>): Pausable<readonly Made[]> {
  const made: Made[] = []
  for (const item of list) {
    if (made.length % atOnce === atOnce - 1) yield
    made.push(yield* make(item))
  }
  return made
}
