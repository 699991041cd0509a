/** Lets a person join a conversation or leave it: one entry, the person's row, and the end of what waits for one who leaves. */
import type { CallPlace, Entry } from '@witan/protocol/entries'
import { makeEntry } from '../conversation/entry.ts'
import type { ConversationLog } from '../conversation/log.ts'
import type { ConversationState, ToolCall } from '../conversation/state.ts'
import type { Person } from '../parameter/person.ts'
import type { ParticipantRow } from '../store/store.ts'
import type { CommandContext } from './accept.ts'
import { deliver, settlement } from './deliver.ts'

/** A change of who takes part. */
export interface Participation {
  readonly person: Person
  readonly change: 'joined' | 'left'
  /** The principal that asked for it. */
  readonly by: string
  /** When a person who leaves had joined. */
  readonly joinedAt?: number
}

/**
 * Stores the change, if nobody has written to the conversation since `log` was read; null if somebody has. When a person leaves, what
 * waits for that person is cancelled in the same append, and its calls go on.
 */
export async function participate(
  context: CommandContext,
  log: ConversationLog,
  { person, change, by, joinedAt }: Participation,
): Promise<ParticipantRow | null> {
  const at = context.env.clock.now()
  const times = change === 'joined' ? { joinedAt: at, leftAt: null } : { joinedAt: joinedAt ?? at, leftAt: at }
  const row: ParticipantRow = { user: person.id, name: person.name, roles: person.roles, ...times }
  const entry = participantEntry(context, log, { person, change, by, at })
  const stored = await deliver(context, log, () => {
    const waiting = change === 'left' ? waitingFor(log.state, person.id) : []
    const closed = waiting.map((one) =>
      settlement(context, one, { state: 'cancelled', answer: null, by: null, left: true }),
    )
    return {
      jobs: [...new Set(waiting.map(({ toolCall }) => toolCall.owner.job))],
      entries: [entry, ...closed.map((one) => one.entry)],
      settle: closed.map((one) => one.settle),
      participants: [row],
      ifLastSeq: log.sync.expectedSeq,
    }
  })
  if (stored.ok) return row
  await log.catchUp()
  return null
}

/** It belongs to no call: its place names one of its own. */
function participantEntry(
  { env }: CommandContext,
  { state: { id, rootAgent } }: ConversationLog,
  { person, change, by, at }: Omit<Participation, 'joinedAt'> & { readonly at: number },
): Entry {
  const call = env.ids.call()
  const place: CallPlace = {
    ...{ call, parentCall: null, run: call, document: id },
    ...{ author: 'user', agentPath: rootAgent, invocation: call },
  }
  const { id: user, name, roles } = person
  const body = { user, name, roles, change, by }
  return makeEntry({ type: 'participant', kind: null, body }, { place, job: call, epoch: 0, appendNo: 1, at })
}

/** The calls that wait for this person by name, in the run and in tasks. */
function waitingFor({ run, tasks }: ConversationState, user: string): readonly { toolCall: ToolCall; id: string }[] {
  const jobs = [...(run === null ? [] : [run]), ...tasks.values()]
  const toolCalls = jobs.flatMap((job) => [...job.toolCalls.values()])
  return toolCalls.flatMap((toolCall) =>
    toolCall.interruptions.flatMap(({ id, addressee }) => (addressee === user ? [{ toolCall, id }] : [])),
  )
}
