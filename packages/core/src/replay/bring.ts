/** Delivers what came from outside, in the order of the log: messages that begin a run, and everything sent to a live job. */
import { WitanError } from '@witan/protocol'
import type { Entry, MessageBody } from '@witan/protocol/entries'
import { acceptFirst, acceptNext, type Message } from '../command/accept.ts'
import { deliver, type Delivery } from '../command/deliver.ts'
import { makeEntry } from '../conversation/entry.ts'
import { principalOf } from '../identity/principal.ts'
import type { Append, ConversationRow, ParticipantRow, Settlement } from '../store/store.ts'
import type { Parts } from '../runtime/wiring.ts'
import { isLate } from './late.ts'
import { isBrought } from './lookahead.ts'
import { ahead, nextIn, type Script, stopScript, takeStored } from './script.ts'
import type { ReplayStage } from './stage.ts'
import { doesOnePark, moved } from './turns.ts'

/** The conversation that is replayed: its row as it began, and its people as the export has them. */
export interface Replayed {
  readonly row: ConversationRow
  readonly participants: readonly ParticipantRow[]
}

/** Delivers the next entries of the log that one request from outside brought together. */
export async function bring(stage: ReplayStage, of: Replayed): Promise<void> {
  const { parts, script, turns } = stage
  const first = nextIn(script) as Entry
  if (first.appendNo > 0 && first.type === 'message') {
    if (!(await beginRun(parts, script, of.row))) stopScript(script)
    return
  }
  const { database, id } = of.row
  const log = await parts.warm.get(database, id)
  const together = broughtTogether(script)
  const live = together.filter((entry) => entry.type !== 'participant' && !isLateNotice(entry))
  const message = together.find(({ type }) => type === 'message')
  const hide = together.flatMap(({ type, body }) =>
    type === 'notice' && body.code === 'PARAMETERS_HIDDEN' ? (body.hidden ?? []) : [],
  )
  const person = together.find(({ type }) => type === 'participant')
  const jobs = [...new Set(live.map(({ job }) => job))]
  while (doesOnePark(turns, jobs)) await moved(turns)
  const delivery = (): Delivery => ({
    jobs,
    entries: together.map((entry) => makeEntry(entry, entry)),
    settle: together.flatMap(settlementsOf),
    ...(message?.type === 'message' ? messageRows(message.body, message.at) : {}),
    ...(hide.length === 0 ? {} : { hide }),
    ...(person?.type === 'participant' ? { participants: [participantRow(person, of)] } : {}),
  })
  const isElsewhere = live.some((entry) => isLate(turns, entry))
  const delivered = await (isElsewhere ? storeElsewhere(stage, of, delivery()) : deliver(parts, log, delivery))
  if (!delivered.ok) stopScript(script)
}

/** Stores a delivery as another process does: the one here folds it later. */
async function storeElsewhere({ parts, turns, options, script }: ReplayStage, { row }: Replayed, delivery: Delivery) {
  const { jobs: ids, ifLastSeq: _, note: __, ...rest } = delivery
  const { owner, leaseMs } = parts.env
  const jobs = ids.map((id) => ({ kind: 'wake', id, owner, leaseMs }) as const)
  const stored = await options.store.append({ ...rest, database: row.database, conversation: row.id, jobs })
  if (!stored.ok) return stored
  turns.late = [...turns.late, ...delivery.entries]
  for (const entry of delivery.entries) takeStored(script, entry)
  return stored
}

/** The entries that one request brought, or several at once: their numbers are consecutive. */
function broughtTogether(script: Script): readonly Entry[] {
  const together: Entry[] = []
  for (const entry of ahead(script)) {
    if (!isBrought(script, entry) || !follows(entry, together.at(-1))) break
    together.push(entry)
  }
  return together
}

function follows({ type, appendNo }: Entry, before: Entry | undefined): boolean {
  if (before === undefined) return true
  if (type === 'participant' || before.type === 'message' || appendNo > 0) return false
  return before.type === 'participant' ? type === 'resolved' : appendNo === before.appendNo - 1
}

/** A notice that changes the values of the conversation reaches no job. */
function isLateNotice({ type, body }: Entry): boolean {
  return type === 'notice' && body.code === 'PARAMETERS_HIDDEN'
}

function settlementsOf(entry: Entry): readonly Settlement[] {
  if (entry.type !== 'resolved') return []
  const { id, state, answer, by } = entry.body
  return state === 'open' ? [] : [{ id, state, answer, by, at: entry.at }]
}

function messageRows({ files }: MessageBody, at: number): Pick<Append, 'messageAt' | 'contents'> {
  return { messageAt: at, ...(files === undefined ? {} : { contents: files }) }
}

function participantRow(
  { at, body: { user, name, roles, change } }: Entry & { readonly type: 'participant' },
  { participants }: Replayed,
): ParticipantRow {
  const joinedAt = participants.find((one) => one.user === user)?.joinedAt ?? at
  return { user, name, roles, joinedAt, leftAt: change === 'left' ? at : null }
}

/** Brings an answer to a live job. */
export async function bringAnswer(parts: Parts, { row }: Replayed, entry: Entry): Promise<void> {
  const log = await parts.warm.latest(row.database, row.id)
  await deliver(parts, log, () => ({ jobs: [entry.job], entries: [entry], settle: settlementsOf(entry) }))
}

/** Accepts the message that begins a run, as the engine does for a person. False if the log has none there, or it was refused. */
export async function beginRun(parts: Parts, script: Script, row: ConversationRow): Promise<boolean> {
  const { database, id } = row
  const message = messageOf(script, database)
  if (message === null) return false
  const accepted =
    script.at === 0 ? await acceptFirst(parts, row, message) : await next(parts, { database, id, message })
  if (accepted === null || !('result' in accepted) || !('fromSeq' in accepted)) return false
  accepted.result.catch(() => {}) // the log says how it ends
  return true
}

async function next(
  parts: Parts,
  { database, id, message }: { readonly database: string; readonly id: string; readonly message: Message },
) {
  return acceptNext(parts, await parts.warm.latest(database, id), message)
}

/** The person's message of the run that begins next; null if the log does not begin one there. */
function messageOf(script: Script, database: string): Message | null {
  let said: MessageBody | null = null
  for (const entry of ahead(script)) {
    if (entry.type === 'message') said = entry.body
    else if (entry.type === 'start' && entry.kind === 'agent' && said !== null) {
      const { principal, overrides } = entry.body
      const { text, artificialActions = [], files, author, authorKind, traceparent } = said
      return {
        text,
        artificialActions: artificialActions.map(({ name, response }) => ({ name, response })),
        ifLastSeq: null,
        by: principalOf(database, principal),
        toolMode: overrides?.toolMode ?? null,
        ...(files === undefined ? {} : { files }),
        ...(authorKind === undefined ? {} : { author }),
        ...(traceparent === undefined ? {} : { traceparent }),
      }
    } else return null
  }
  return null
}

/** The error for what a replay cannot play again. Nothing was played yet. */
export function notReplayable(what: string, cause?: unknown): WitanError {
  return new WitanError('BODY_INVALID', `This conversation cannot be replayed: ${what}.`, {
    ...(cause === undefined ? {} : { cause }),
    hint: 'Export it with `witan conversations export`; the page on replay lists what is not played again.',
  })
}
