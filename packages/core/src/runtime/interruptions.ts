/**
 * Interruptions as one principal sees them: only those that it may answer or read, and the values that its answer needs.
 * Also answers them.
 */
import {
  type Conversation,
  type Interruption,
  type InterruptionKind,
  type RunResult,
  type Task,
  WitanError,
} from '@witan/protocol'
import { answerOne } from '../command/answer-interruption.ts'
import { frozen, ownCopy } from '../identity/frozen.ts'
import { jsonLength } from '../identity/json-length.ts'
import { isOutside, type Principal } from '../identity/principal.ts'
import { addresseesOf, hasRole, type Involvement, readLimitOf } from '../identity/rights.ts'
import { mayAnswer, mayKnow } from '../interruption/may-answer.ts'
import { commonLength, cutTogether } from '../parameter/scrub.ts'
import { plainBody } from './body.ts'
import type { Page, PageOptions } from './contract.ts'
import { taskOf } from './jobs.ts'
import { errorFor } from './reader-errors.ts'
import type { Scope } from './scope.ts'
import type { StoredResult } from '../task/tracker.ts'
import { traceIdOf } from '../identity/trace.ts'
import { involvementOf, involvements } from '../store/involvement.ts'
import type { ReadBound, RowPage } from '../identity/row-page.ts'
import type { ConversationRow, InterruptionRow } from '../store/store.ts'
import type { InterruptionReader } from '../store/list-filters.ts'
import { rowPage } from './page.ts'
import { refuseForeignCursor } from './reach.ts'
import type { Answer } from '../tool/tool.ts'

/**
 * The asking agent's bound values are merged into an action's arguments for everybody who may answer it; a model's
 * arguments never win [Rb09].
 */
function presentInterruption(principal: Principal, row: InterruptionRow, involvement: Involvement): Interruption {
  const createdAt = new Date(row.createdAt).toISOString()
  const view: Interruption = { ...frozen(row.view), conversationId: row.conversation, createdAt }
  if (view.kind !== 'action' || !mayAnswer(principal, { ...view, ...involvement }) || isOutside(principal)) return view
  return { ...view, arguments: { ...view.arguments, ...frozen(row.bound) } }
}

/** The current state of a run's tasks. What they answered is cut if it is too long in all; each has its own in whole. */
async function freshTasks({ parts, database, principal }: Scope, { tasks }: RunResult): Promise<Task[]> {
  const rows = tasks.map(async (task) => {
    const job = await parts.store.getJob(database, task.taskId)
    return errorFor(principal, job === null ? task : taskOf(job))
  })
  const fresh = await Promise.all(rows)
  const texts = cutTogether(fresh.map(({ text }) => text))
  const lengths = fresh.map(({ output }) => jsonLength(output))
  const most = commonLength(lengths)
  return fresh.map((task, at) => {
    const output = (lengths[at] ?? 0) > most ? null : task.output
    return { ...task, text: texts[at] ?? '', output }
  })
}

/** A result as it is stored, or as an earlier version stored it: without the agent that spoke. */
type OldResult = Omit<StoredResult, 'agent'> & Partial<Pick<StoredResult, 'agent'>>

/** Without hand-overs the root spoke. */
async function rootOf({ parts, database }: Scope, { conversationId }: OldResult): Promise<string> {
  return (await parts.store.getConversation(database, conversationId))?.agent ?? ''
}

/** A result as its caller sees it: a copy, since the store and whoever else awaits the run have the same. */
export async function shownResult(scope: Scope, stored: OldResult): Promise<RunResult> {
  const { parts, principal, database } = scope
  const traceId = traceIdOf(database, stored.runId)
  const whole: RunResult = { ...ownCopy(stored), agent: stored.agent ?? (await rootOf(scope, stored)), traceId }
  const known = errorFor(principal, whole)
  const result = known.tasks.length === 0 ? known : { ...known, tasks: await freshTasks(scope, known) }
  if (result.interruptions.length === 0) return result
  const involvement = await involvementIn(scope, result.conversationId)
  const rows = await Promise.all(result.interruptions.map(({ id }) => parts.store.getInterruption(database, id)))
  return {
    ...result,
    interruptions: result.interruptions.map((one, index) => {
      const row = rows[index]
      return row ? presentInterruption(principal, row, involvement) : one
    }),
  }
}

/** The open interruptions of a conversation, in the order of their creation: the first page of them. */
export async function openOf(
  { parts, principal, database }: Scope,
  of: Pick<ConversationRow, 'database' | 'id' | 'createdBy'>,
): Promise<Conversation['interruptions']> {
  let involvement: Promise<Involvement> | null = null
  const { items } = await rowPage(
    { limit: 200 },
    (page) =>
      parts.store.listInterruptions(database, { state: 'open', conversation: of.id, addressees: null, ...page }),
    {
      async item(row) {
        involvement ??= involvementOf(parts.store, principal, of)
        return presentInterruption(principal, row, await involvement)
      },
      id: ({ view }) => view.id,
    },
  )
  return [...items]
}

/** Selects interruptions: by state, and by addressee: a person's id, `role:<name>`, `me` or `none`. */
interface InterruptionFilter extends PageOptions {
  readonly state?: string
  readonly addressee?: string
}

/** A page of what the principal may answer or read, in the order of creation. */
export async function listInterruptions(scope: Scope, options: InterruptionFilter): Promise<Page<Interruption>> {
  const { parts, principal, database } = scope
  const involved = involvements(parts.store, principal, database)
  await refuseForeignCursor(scope, options, async (id) => {
    const row = await parts.store.getInterruption(database, id)
    if (row === null) return false
    await involved.learn([row.conversation])
    return mayKnow(principal, { ...row.view, ...involved.of(row.conversation) })
  })
  const wanted = {
    ...{ state: options.state ?? null, conversation: null },
    ...{ addressees: wantedOf(options.addressee, principal), reader: readerOf(principal) },
  }
  const read = async (page: Omit<RowPage, 'bound'> & { readonly bound: ReadBound }) => {
    const rows = await parts.store.listInterruptions(database, { ...page, ...wanted })
    await involved.learn(rows.map(({ conversation }) => conversation))
    return rows
  }
  return rowPage(options, read, {
    item: (row) => presentInterruption(principal, row, involved.of(row.conversation)),
    id: ({ view }) => view.id,
  })
}

/** Whom a list is for: `me` is the principal as a person and in its roles, `none` nobody in particular. Null: everybody. */
function wantedOf(wanted: string | undefined, principal: Principal): readonly (string | null)[] | null {
  if (wanted === undefined) return null
  if (wanted === 'none') return [null]
  return wanted === 'me' ? addresseesOf(principal).filter((one) => one !== null) : [wanted]
}

/** What the principal may see of the interruptions of its database; null for all [D11]. */
function readerOf(principal: Principal): InterruptionReader | null {
  const reading = readLimitOf(principal)
  if (reading === null) return null
  return { ...reading, addressees: hasRole(principal, 'answer') ? addresseesOf(principal) : [] }
}

const stranger: Involvement = { isCreator: false, takesPart: false }

async function involvementIn({ parts, principal, database }: Scope, conversation: string): Promise<Involvement> {
  const row = await parts.store.getConversation(database, conversation)
  return row === null ? stranger : involvementOf(parts.store, principal, row)
}

/** Answers an interruption by its id. Throws `NOT_FOUND`, `ANSWER_INVALID`. */
export async function answer(
  scope: Scope,
  to: { readonly id: string; readonly kind?: InterruptionKind },
  body: unknown,
): Promise<Interruption> {
  const { parts, principal, database } = scope
  await parts.registry.ensure(database)
  const row = await answerOne(parts, database, { ...to, answer: readAnswer(body), by: principal })
  return presentInterruption(principal, row, await involvementIn(scope, row.conversation))
}

function readAnswer(body: unknown): Answer {
  const plain = plainBody(body)
  const given = (typeof plain === 'object' && plain !== null ? plain : {}) as Record<string, unknown>
  const keys = Object.keys(given)
  if (keys.length === 1 && Object.hasOwn(given, 'answer')) return { value: given['answer'] }
  if (keys.length === 1 && typeof given['error'] === 'string') return { error: given['error'] }
  throw new WitanError(
    'ANSWER_INVALID',
    'An answer is `{ "answer": … }`, or `{ "error": "…" }` with the error in words.',
    { path: 'answer', hint: 'Send exactly one of the two keys.' },
  )
}
