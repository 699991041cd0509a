/** Parameters that are passed again when a conversation continues. */
import { type ConversationRequest, WitanError } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import { reachable } from '../agent/check/graph.ts'
import { makeEntry } from '../conversation/entry.ts'
import type { ConversationLog } from '../conversation/log.ts'
import { type Person, present, storedPeople } from '../parameter/person.ts'
import { type ConversationValues, readConversationValues, refuseLongHidden } from '../parameter/parameter.ts'
import { pinRoot, refusalError } from '../command/accept.ts'
import { isRepeat } from './people.ts'
import { checkConversationValues } from './new-conversation.ts'
import type { Scope } from './scope.ts'
import type { Parts } from './wiring.ts'
import type { ConversationRow } from '../store/store.ts'

/**
 * Compares them with the values of the conversation's start, which never change. `sendToModel: false` applies from the next
 * run on, permanently [E19]. Throws `PARAM_FIXED` for a different value or one that was not passed at the start, and
 * `PARAM_UNKNOWN`; then no flag changes.
 */
export async function holdValues(
  scope: Scope,
  row: ConversationRow,
  input: Readonly<Record<string, unknown>>,
): Promise<void> {
  const again = readConversationValues(input)
  if (again.size === 0) return
  refuseNew(scope, row, again)
  const hide: string[] = []
  for (const [name, { value, hidden }] of again) {
    const [stored, isHidden] = row.parameters[name] ?? []
    if (JSON.stringify(stored) !== JSON.stringify(value)) throw fixedError(name, 'differs from its value at')
    if (hidden && isHidden === false) hide.push(name)
  }
  if (hide.length === 0) return
  const { parts } = scope
  const hidden = Object.entries(row.parameters).filter(([name, [, isHidden]]) => isHidden || hide.includes(name))
  refuseLongHidden(hidden.map(([name, [value]]) => [name, value]))
  const { database, id } = row
  const log = await parts.warm.get(database, id)
  const entries = [hiddenEntry(parts, log, hide)]
  const stored = await log.propose(() => ({ append: { database, conversation: id, entries, hide } }))
  if (!stored.ok) throw refusalError(stored.reason, id)
}

/** The entry that reports hidden parameters to everybody who has already read the conversation. */
function hiddenEntry({ env }: Parts, { state }: ConversationLog, hidden: readonly string[]): Entry {
  const { id, rootAgent } = state
  const call = env.ids.call()
  const place = {
    call,
    parentCall: null,
    run: call,
    document: id,
    author: 'user',
    agentPath: rootAgent,
    invocation: call,
  }
  const detail = `From here on ${hidden.map((name) => `\`${name}\``).join(', ')} is not shown to any model.`
  const body = { code: 'PARAMETERS_HIDDEN', detail, hidden } as const
  const head = { place, job: call, epoch: 0, appendNo: 1, at: env.clock.now() }
  return makeEntry({ type: 'notice', kind: null, body }, head)
}

function refuseNew({ parts, database }: Scope, row: ConversationRow, again: ConversationValues): void {
  const fresh = new Map([...again].filter(([name]) => !Object.hasOwn(row.parameters, name)))
  const [first] = fresh.keys()
  if (first === undefined) return
  const agents = new Map([...parts.registry.current(database).agents].map(([id, { data }]) => [id, data]))
  const root = pinRoot(parts, row).data
  checkConversationValues(fresh, root, reachable(root, agents))
  throw fixedError(first, 'was not passed at')
}

/**
 * The people of a start, named again: they must be those of the start, or those who take part now. Null changes nothing. Throws
 * `PARAM_FIXED`.
 */
export async function holdUsers(
  { parts, database }: Scope,
  row: ConversationRow,
  users: ConversationRequest['users'],
): Promise<void> {
  if (users === null) return
  const { people } = (await parts.warm.latest(database, row.id)).state
  const wanted = users.map((user) => (typeof user === 'string' ? { id: user } : user))
  const isSame = (known: readonly Person[]) =>
    new Set(wanted.map(({ id }) => id)).size === known.length &&
    wanted.every((one) => known.some((other) => other.id === one.id && isRepeat(one, other)))
  const [atStart, now] = [storedPeople(row.parameters), present(people)]
  if ((people.isListed && isSame(atStart)) || (now.length > 0 && isSame(now))) return
  const who = now.length === 0 ? 'nobody in particular' : now.map(({ id }) => id).join(', ')
  throw new WitanError('PARAM_FIXED', `\`users\` differs from who takes part in this conversation: ${who}.`, {
    path: 'users',
    hint: `Leave \`users\` out. POST /api/v1/conversations/${row.id}/participants adds a person.`,
  })
}

/** Names the parameter, and never its value. */
function fixedError(name: string, how: string): WitanError {
  return new WitanError('PARAM_FIXED', `\`${name}\` ${how} the start of this conversation.`, {
    path: `parameters.${name}`,
    hint: 'Omit it, or start a new conversation with the new value.',
  })
}
