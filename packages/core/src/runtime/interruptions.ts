/** What waits, as one principal gets it: only what it may answer or read, and the values that its answer needs. */
import type { Conversation, Interruption, RunResult, Task } from '@witan/protocol'
import type { Principal } from '../identity/principal.ts'
import { mayAnswer, mayKnow } from '../interruption/access.ts'
import type { CommandContext } from '../command/accept.ts'
import type { Page, PageOptions } from './contract.ts'
import { taskOf } from './jobs.ts'
import type { InterruptionRow } from '../store/store.ts'

/** For whom. */
export interface InterruptionView {
  readonly parts: Pick<CommandContext, 'store'>
  readonly principal: Principal
}

/** The bound values of the asking agent are merged into an action's arguments for whoever may answer it; a model's own writing never wins [Rb09]. */
export function presentInterruption(principal: Principal, row: InterruptionRow, createdBy: string): Interruption {
  const { view } = row
  if (view.kind !== 'action' || !mayAnswer(principal, { addressee: view.addressee, createdBy })) return view
  return { ...view, arguments: { ...view.arguments, ...row.bound } }
}

/** The tasks of a run as they stand now. */
function freshTasks({ parts, principal }: InterruptionView, { tasks }: RunResult): Promise<Task[]> {
  const rows = tasks.map(async (task) => {
    const job = await parts.store.getJob(principal.database, task.taskId)
    return job === null ? task : taskOf(job)
  })
  return Promise.all(rows)
}

/** A result as its caller gets it. */
export async function present({ parts, principal }: InterruptionView, told: RunResult): Promise<RunResult> {
  const result = told.tasks.length === 0 ? told : { ...told, tasks: await freshTasks({ parts, principal }, told) }
  if (result.interruptions.length === 0) return result
  const { database } = principal
  const createdBy = await creatorOf({ parts, principal }, result.conversationId)
  const rows = await Promise.all(result.interruptions.map(({ id }) => parts.store.getInterruption(database, id)))
  return {
    ...result,
    interruptions: result.interruptions.map((one, index) => {
      const row = rows[index]
      return row ? presentInterruption(principal, row, createdBy) : one
    }),
  }
}

/** Open ones of a conversation, in the order they were asked. */
export async function openOf(
  { parts, principal }: InterruptionView,
  of: { readonly id: string; readonly createdBy: string },
): Promise<Conversation['interruptions']> {
  const rows = await parts.store.listInterruptions(principal.database, {
    state: 'open',
    conversation: of.id,
    addressees: null,
    limit: 200,
    after: null,
  })
  return rows.map((row) => presentInterruption(principal, row, of.createdBy))
}

/** Which interruptions: in one state, for one addressee. */
export interface InterruptionFilter extends PageOptions {
  readonly state?: string
  readonly addressee?: string
}

const chunk = 200

/** A page of what the principal may answer or read, in the order it was asked. */
export async function listInterruptions(
  view: InterruptionView,
  options: InterruptionFilter,
  limit: number,
): Promise<Page<Interruption>> {
  const { parts, principal } = view
  const creators = new Map<string, string>()
  const items: Interruption[] = []
  let after = options.cursor ?? null
  for (;;) {
    const rows = await parts.store.listInterruptions(principal.database, {
      limit: chunk,
      after,
      state: options.state ?? null,
      conversation: null,
      addressees: options.addressee === undefined ? null : [options.addressee],
    })
    for (const row of rows) {
      const createdBy = creators.get(row.conversation) ?? (await creatorOf(view, row.conversation))
      creators.set(row.conversation, createdBy)
      if (!mayKnow(principal, { addressee: row.view.addressee, createdBy })) continue
      if (items.length === limit) return { items, nextCursor: items.at(-1)?.id ?? null }
      items.push(presentInterruption(principal, row, createdBy))
    }
    if (rows.length < chunk) return { items, nextCursor: null }
    after = rows.at(-1)?.view.id ?? null
  }
}

async function creatorOf({ parts, principal }: InterruptionView, conversation: string): Promise<string> {
  return (await parts.store.getConversation(principal.database, conversation))?.createdBy ?? ''
}
