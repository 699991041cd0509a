/** The entries that begin a run: what was said, and the start of its root call. */
import type { CallPlace, Entry, EntryContent, MessageBody } from '@witan/protocol/entries'
import type { ConversationState } from '../conversation/state.ts'
import { bind } from '../parameter/bind.ts'
import { visibleValues } from '../parameter/visibility.ts'
import type { Environment, PinnedAgent } from './environment.ts'
import { initialCalls } from './initial.ts'

/** How a run begins. */
export interface Begin {
  readonly pinned: PinnedAgent
  /** What the start itself says. */
  readonly message: string
  /** What stands before it, the last one just before it. */
  readonly messages: readonly MessageBody[]
  /** Nobody asked for it: the runtime tells the root's model something [F22]. */
  readonly hidden: boolean
  readonly originRunId: string | null
}

/** The entries of a new run, written by whoever makes its job; and the place of its root call. */
export function runEntries(
  { env, state }: { readonly env: Environment; readonly state: ConversationState },
  begin: Begin,
): { readonly entries: readonly Entry[]; readonly place: CallPlace } {
  const { database, id } = state
  const agent = begin.pinned.data
  const call = env.ids.call()
  const root = { call, parentCall: null, run: call, document: id }
  const place: CallPlace = { ...root, author: agent.id, agentPath: agent.id, invocation: call }
  const { bound } = bind(agent.parameters, { parent: null, given: state.stored.given, map: {} })
  const { messages, message, hidden, originRunId } = begin
  const start: EntryContent = {
    type: 'start',
    kind: 'agent',
    body: {
      agent: agent.id,
      revision: begin.pinned.revision,
      toolCallId: null,
      message,
      parameters: visibleValues(agent.parameters, bound),
      generated: null,
      map: {},
      history: 'agent',
      revisions: env.reach(database, agent.id),
      initial: initialCalls(agent, state.documents.size === 0),
      hidden,
      originRunId,
    },
  }
  const at = env.clock.now()
  const entries = messages.map((body, index): Entry => {
    const said = { ...place, author: body.author }
    return { type: 'message', kind: null, body, seq: 0, at, place: said, job: call, epoch: 0, appendNo: 1 + index }
  })
  const first = { ...start, seq: 0, at, place, job: call, epoch: 1, appendNo: 1 + messages.length } as Entry
  return { entries: [...entries, first], place }
}
