/** Group commit: appends of one turn of the event loop to one database share a transaction, each conversation in its order. */
import { WitanError } from '@witan/protocol'
import { apartFromRequests, DeadlineMissed, inTime } from '../../../identity/request-deadline.ts'
import { pause } from '../../../identity/turn.ts'
import { entryText } from '../../entry-text.ts'
import { isCopy, piecesOf } from '../../pieces.ts'
import type { Append, AppendResult } from '../../store.ts'
import { inDoubt, isServerAway } from './error.ts'
import type { GroupMember } from './working.ts'

interface Waiting extends GroupMember {
  readonly bytes: number
  readonly resolve: (result: AppendResult) => void
  readonly reject: (error: unknown) => void
}

/** The waiting appends of one database, and its conversations that are being written. */
interface Lane {
  readonly database: string
  waiting: Waiting[]
  readonly busy: Set<string>
  groups: number
  isScheduled: boolean
}

/** Options of group commit. */
interface GroupSettings {
  /** Stores a group and returns the result of each member, in order. */
  readonly store: (database: string, members: readonly GroupMember[]) => Promise<readonly AppendResult[]>
  /** Called for each stored member, before its promise resolves. */
  readonly stored: (append: Append, result: AppendResult & { readonly ok: true }) => void
  /** How many groups of one database may be under way at once. */
  readonly groupsAtOnce: number
}

const maxMembers = 500
const maxBytes = 8_000_000

/** Stores appends in groups and settles them; those of one conversation in order. */
export class GroupCommit {
  readonly #settings: GroupSettings
  readonly #lanes = new Map<string, Lane>()
  #isClosed = false
  #idle: (() => void)[] = []

  constructor(settings: GroupSettings) {
    this.#settings = settings
  }

  /**
   * Resolves once the append is durable or refused. An entry that JSON cannot hold fails here, without the group. A request leaves at its
   * deadline, unless it copies a long log; the group goes on, and may store the append.
   */
  async append(append: Append): Promise<AppendResult> {
    const texts = isCopy(append)
      ? copiedTexts(append)
      : append.entries.map((one) => entryText(one, append.conversation))
    if (texts instanceof Promise) return this.#add(append, await texts)
    try {
      return await inTime(() => this.#add(append, texts))
    } catch (error) {
      throw error instanceof DeadlineMissed ? inDoubt(error) : error
    }
  }

  #add(append: Append, texts: readonly string[]): Promise<AppendResult> {
    const bytes = texts.reduce((sum, text) => sum + text.length, 0)
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new WitanError('STORE_UNAVAILABLE', 'The store is closed.'))
      const lane = this.#laneOf(append.database)
      lane.waiting.push({ append, texts, bytes, resolve, reject })
      this.#schedule(lane)
    })
  }

  #laneOf(database: string): Lane {
    const known = this.#lanes.get(database)
    if (known !== undefined) return known
    const lane: Lane = { database, waiting: [], busy: new Set(), groups: 0, isScheduled: false }
    this.#lanes.set(database, lane)
    return lane
  }

  #schedule(lane: Lane): void {
    if (lane.isScheduled) return
    lane.isScheduled = true
    setImmediate(() => {
      lane.isScheduled = false
      this.#start(lane)
    })
  }

  /** A group takes complete queues. A conversation that is being written is skipped, to keep its order. */
  #start(lane: Lane): void {
    while (lane.groups < this.#settings.groupsAtOnce) {
      const members = take(lane)
      if (members.length === 0) break
      lane.groups += 1
      apartFromRequests(() => this.#run(lane, members)).catch(() => {}) // every member was rejected
    }
    if (lane.groups > 0 || lane.waiting.length > 0) return
    this.#lanes.delete(lane.database)
    if (this.#lanes.size === 0) for (const one of this.#idle.splice(0)) one()
  }

  async #run(lane: Lane, members: readonly Waiting[]): Promise<void> {
    try {
      await storeMembers(this.#settings, lane, members)
    } finally {
      for (const { append } of members) lane.busy.delete(append.conversation)
      lane.groups -= 1
      this.#schedule(lane)
    }
  }

  /** Stores the waiting appends and accepts no more. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#lanes.size === 0) return
    await new Promise<void>((resolve) => this.#idle.push(resolve))
  }
}

/** The texts of a log: at once if it is short, so that the append takes its turn among the others; else piece by piece. */
function copiedTexts(append: Append): readonly string[] | Promise<readonly string[]> {
  const pieces = piecesOf(eachText(append), (text) => text.length)
  const first: readonly string[] = pieces.next().value ?? []
  return first.length === append.entries.length ? first : withRest(first, pieces)
}

function* eachText({ entries, conversation }: Append): Generator<string> {
  for (const entry of entries) yield entryText(entry, conversation)
}

async function withRest(first: readonly string[], pieces: Iterable<readonly string[]>): Promise<readonly string[]> {
  const texts = [...first]
  await pause()
  for (const piece of pieces) {
    texts.push(...piece)
    await pause()
  }
  return texts
}

/** Takes the next group from the waiting appends, in order. */
function take(lane: Lane): Waiting[] {
  const members: Waiting[] = []
  const left: Waiting[] = []
  const held = new Set<string>()
  let bytes = 0
  let looked = 0
  for (const one of lane.waiting) {
    if (members.length === maxMembers) break
    looked += 1
    const { conversation } = one.append
    const isFull = members.length > 0 && bytes + one.bytes > maxBytes
    if (isFull || lane.busy.has(conversation) || held.has(conversation)) {
      held.add(conversation)
      left.push(one)
      continue
    }
    bytes += one.bytes
    members.push(one)
  }
  lane.waiting = looked === lane.waiting.length ? left : [...left, ...lane.waiting.slice(looked)]
  for (const { append } of members) lane.busy.add(append.conversation)
  return members
}

/** Rejects these and, as the contract says, all waiting appends of the same conversations, since this failure was not reported yet. */
function fail(lane: Lane, members: readonly Waiting[], error: unknown): void {
  const conversations = new Set(members.map(({ append }) => append.conversation))
  const isTaken = ({ append }: Waiting) => conversations.has(append.conversation)
  const failed = [...members, ...lane.waiting.filter(isTaken)]
  lane.waiting = lane.waiting.filter((one) => !isTaken(one))
  for (const { reject } of failed) reject(error)
}

async function storeMembers(settings: GroupSettings, lane: Lane, members: readonly Waiting[]): Promise<void> {
  try {
    const results = await settings.store(lane.database, members)
    for (const [index, member] of members.entries()) notify(settings, member, results[index] as AppendResult)
  } catch (error) {
    if (members.length === 1 || isServerAway(error)) return fail(lane, members, error)
    await storeAlone(settings, lane, members)
  }
}

/** Stores the members one by one, so that a member that cannot be stored does not fail the others. */
async function storeAlone(settings: GroupSettings, lane: Lane, members: readonly Waiting[]): Promise<void> {
  let rest = members
  for (let member = rest[0]; member !== undefined; member = rest[0]) {
    rest = rest.slice(1)
    try {
      const [result] = await settings.store(lane.database, [member])
      notify(settings, member, result as AppendResult)
    } catch (error) {
      const { conversation } = member.append
      const isLater = (one: Waiting) => one.append.conversation === conversation
      fail(lane, [member, ...rest.filter(isLater)], error)
      rest = rest.filter((one) => !isLater(one))
    }
  }
}

function notify({ stored }: GroupSettings, { append, resolve }: Waiting, result: AppendResult): void {
  if (result.ok) {
    append.entries.forEach((entry, index) => {
      entry.seq = result.before + 1 + index
    })
    stored(append, result)
  }
  resolve(result)
}
