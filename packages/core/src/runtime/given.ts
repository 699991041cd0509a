/** Parameters that are given again where a conversation goes on. */
import { WitanError } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import { reachable } from '../agent/check/graph.ts'
import type { ConversationLog } from '../conversation/log.ts'
import type { Principal } from '../identity/principal.ts'
import { storedOf } from '../conversation/given.ts'
import { participantsOf } from '../parameter/participants.ts'
import { type GivenParameters, readGiven } from '../parameter/parameter.ts'
import { pinRoot, refusalError } from '../command/accept.ts'
import { checkGiven } from './start.ts'
import type { Parts } from './wiring.ts'
import type { ConversationRow } from '../store/store.ts'

interface Door {
  readonly parts: Parts
  readonly principal: Principal
}

/**
 * Holds them against what the conversation was started with: the values of its start stand, and `sendToModel: false` holds from
 * its next run on and for good [E19]. Throws `PARAM_FIXED` for another value or one that was not given at the start, and
 * `PARAM_UNKNOWN`; then no flag is changed.
 */
export async function holdGiven(
  { parts, principal }: Door,
  row: ConversationRow,
  input: Readonly<Record<string, unknown>>,
): Promise<void> {
  const again = readGiven(input)
  if (again.size === 0) return
  refuseNew({ parts, principal }, row, again)
  const hide: string[] = []
  for (const [name, { value, hidden }] of again) {
    const [stored, isHidden] = row.parameters[name] ?? []
    if (JSON.stringify(stored) !== JSON.stringify(value)) throw fixedError(name, 'has another value since')
    if (hidden && isHidden === false) hide.push(name)
  }
  if (hide.length === 0) return
  const { database, id } = row
  const log = await parts.warm.get(database, id)
  const stored = await log.propose({ database, conversation: id, entries: [hiddenEntry(parts, log, hide)], hide })
  if (!stored.ok) throw refusalError(stored.reason, id)
}

/** What everybody else learns it from who has read the conversation already. */
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
  return { type: 'notice', kind: null, body, seq: 0, at: env.clock.now(), place, job: call, epoch: 0, appendNo: 1 }
}

function refuseNew({ parts, principal }: Door, row: ConversationRow, again: GivenParameters): void {
  const fresh = new Map([...again].filter(([name]) => !Object.hasOwn(row.parameters, name)))
  const [first] = fresh.keys()
  if (first === undefined) return
  const agents = new Map([...parts.registry.rows(principal.database)].map(([id, { data }]) => [id, data]))
  const root = pinRoot(parts, row).data
  checkGiven(fresh, root, reachable(root, agents))
  throw fixedError(first, 'was not given at')
}

/** Who takes part stands since the start too; null says nothing. Throws `PARAM_FIXED`. */
export function holdUsers(row: ConversationRow, users: readonly string[] | null): void {
  if (users === null) return
  const known = participantsOf(storedOf(row.parameters).given)
  const same = known !== null && known.size === new Set(users).size && users.every((id) => known.has(id))
  if (same) return
  const who = known === null ? 'everybody whom its agents name' : [...known].join(', ')
  throw new WitanError('PARAM_FIXED', `The people of a conversation stand since its start: ${who}.`, {
    path: 'users',
    hint: 'Leave `users` out, or start a new conversation.',
  })
}

/** Says which parameter, and never what it is. */
function fixedError(name: string, how: string): WitanError {
  return new WitanError('PARAM_FIXED', `\`${name}\` ${how} the start of this conversation.`, {
    path: `parameters.${name}`,
    hint: 'Leave it out, or start a new conversation with what you want to give.',
  })
}
