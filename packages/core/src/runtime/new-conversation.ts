/** A new conversation: its id, its agent, and the parameters that its hierarchy declares. */
import {
  type AgentData,
  type ConversationRequest,
  conversationIdPattern,
  conversationPrefixPattern,
  type Parameter,
  WitanError,
} from '@witan/protocol'
import { agentEdgesOf, mappedName } from '@witan/protocol/edges'
import { looksLike } from '@witan/protocol/names'
import { takersOf } from '../agent/check/takers.ts'
import { reachable } from '../agent/check/graph.ts'
import { nearest } from '../identity/nearest.ts'
import { idOfNamed } from '../agent/registry.ts'
import { type Person, storedParticipants } from '../parameter/person.ts'
import {
  checkValueType,
  type ConversationValue,
  type ConversationValues,
  readConversationValues,
  refuseLongHidden,
} from '../parameter/parameter.ts'
import { pinRoot } from '../command/accept.ts'
import { notFound } from '../identity/not-found.ts'
import { alikeError, isRepeat, peopleNamedBy, requestedPerson, refuseTakenName } from './people.ts'
import { reached, refuseStarting } from './reach.ts'
import type { Scope } from './scope.ts'
import type { Parts } from './wiring.ts'
import type { ConversationRow } from '../store/store.ts'

/**
 * The row of a new conversation, or the existing one with its id. With `direct`, hidden trusted values are required too
 * [E20].
 */
export async function newConversation(
  scope: Scope,
  request: ConversationRequest,
  { direct = false }: { readonly direct?: boolean } = {},
): Promise<{ row: ConversationRow; exists: boolean }> {
  const { parts, principal, database } = scope
  const agent = await idOfNamed(parts.registry, database, request.agent)
  refuseStarting(scope, agent, request.agent)
  const at = parts.store.now(database)
  const path = direct ? 'conversationId' : 'id'
  const id = wholeId(request.id, { path, fresh: () => parts.env.ids.conversation(at) })
  const pinned = pinRoot(parts, { database, agent })
  const known = id === request.id ? await parts.store.getConversation(database, id) : null
  if (known !== null) {
    const isPlain = Object.keys(request.parameters).length === 0 && request.users === null
    if ((await reached(scope, id, isPlain ? 'speak' : 'own')) === null) throw foreignIdError(id, path)
    if (known.agent === agent) return { row: known, exists: true }
    throw mismatchError(known, agent, path)
  }
  const { given, parameters } = startingValues(scope, request, {
    root: pinned.data,
    below: () => agentsBelow(parts, database, pinned.data),
  })
  // A run that comes over A2A begins without them, and fails: its caller reads the state of a task.
  if (principal.incoming === undefined) requireValues(pinned.data, neededBy(pinned.data, direct), given)
  const { maxModelIterationsPerCall, expiresInSeconds } = request
  const row = {
    database,
    id,
    agent,
    createdBy: principal.id,
    createdAt: at,
    lastMessageAt: at,
    lastSeq: 0,
    parameters,
    maxModelIterationsPerCall,
    expiresAt: expiresInSeconds === null ? null : at + expiresInSeconds * 1000,
  }
  return { row, exists: false }
}

/** The values with which a conversation of `root` starts, as they are stored, and those that were given for parameters. */
export function startingValues(
  scope: Scope,
  { parameters: input, users }: Pick<ConversationRequest, 'parameters' | 'users'>,
  { root, below }: { readonly root: AgentData; readonly below: () => readonly AgentData[] },
): { readonly given: ConversationValues; readonly parameters: ConversationRow['parameters'] } {
  const given = readConversationValues(input)
  if (given.size > 0) checkConversationValues(given, root, below())
  const people = users === null ? null : startingPeople(scope, users, below())
  const parameters: Record<string, readonly [value: unknown, hidden: boolean]> = storedParticipants(people)
  for (const [name, { value, hidden }] of given) parameters[name] = [value, hidden]
  return { given, parameters }
}

/** The parameters that a conversation of an agent cannot start without. */
export function neededBy({ parameters }: AgentData, direct = false): readonly Parameter[] {
  return parameters.filter(({ sendToModel, policy }) => sendToModel || (direct && policy === 'forbidModelGeneration'))
}

/** The error for the id of a new conversation that a conversation out of reach has. That it is taken cannot be hidden. */
export function foreignIdError(id: string, path: string): WitanError {
  return notFound('conversation', id, { path, hint: 'Choose another id for a new conversation.' })
}

/** The error for a conversation of another agent than the requested one. */
export function mismatchError({ id, agent }: ConversationRow, asked: string, path: string): WitanError {
  return new WitanError(
    'CONVERSATION_AGENT_MISMATCH',
    `Conversation \`${id}\` belongs to agent \`${agent}\`, not \`${asked}\`.`,
    { path, hint: 'Use another id, or the agent it belongs to.' },
  )
}

/** A complete id; a prefix gets a fresh second half. Throws `ID_INVALID`. */
export function wholeId(
  id: string,
  { path = 'id', fresh }: { readonly path?: string; readonly fresh: () => string },
): string {
  if (conversationPrefixPattern.test(id)) return id + fresh()
  if (conversationIdPattern.test(id)) return id
  throw new WitanError(
    'ID_INVALID',
    `Conversation id \`${id.slice(0, 80)}\`: use \`name/rest\` with letters, digits, \`_\`, \`-\` and, in the rest, single \`.\`.`,
    { path, hint: 'With `chats/` the server generates the rest.' },
  )
}

/** The root and every agent that it reaches, in their current revisions. */
export function agentsBelow(parts: Parts, database: string, root: AgentData): readonly AgentData[] {
  return reachable(root, new Map([...parts.registry.current(database).agents].map(([id, row]) => [id, row.data])))
}

/** Refuses values that no agent declares, or whose type does not fit a declaration that takes them [R32, Rb14]. */
export function checkConversationValues(
  given: ConversationValues,
  root: AgentData,
  agents: readonly AgentData[],
): void {
  const known = knownNames(agents)
  const takers = takersOf(root, new Map(agents.map((agent) => [agent.id, agent])))
  for (const [name, value] of given) {
    if (!known.has(name)) throw unknown(name, root, [...known])
    for (const taker of takers.get(name) ?? []) checkValueType(name, value, taker)
  }
  const isHidden = ([name, { hidden }]: readonly [string, ConversationValue]) =>
    hidden || takers.get(name)?.some(({ parameter }) => parameter.secret || !parameter.sendToModel) === true
  refuseLongHidden([...given].filter(isHidden).map(([name, { value }]) => [name, value]))
}

/** The people of a start. An id alone must be that of somebody whom an agent below the root names. Throws `USER_UNKNOWN`, `NAME_TAKEN`. */
function startingPeople(
  scope: Scope,
  users: NonNullable<ConversationRequest['users']>,
  agents: readonly AgentData[],
): readonly Person[] {
  const named = peopleNamedBy(agents)
  const people = new Map<string, Person>()
  const looks = new Map<string, string>()
  for (const [index, user] of users.entries()) {
    const request = typeof user === 'string' ? { id: user } : user
    refuseTakenName(scope, request.id, `users.${index}`)
    if (typeof user === 'string' && !named.some(({ id }) => id === user)) throw strangerError(user, index, named)
    const person = requestedPerson(request, named)
    const same = people.get(person.id)
    if (same !== undefined && !isRepeat(request, same)) throw twiceError(person.id, index)
    for (const look of looksLike(person.id)) {
      const other = looks.get(look) ?? person.id
      if (other !== person.id) throw alikeError(person.id, other, `users.${index}`)
      looks.set(look, person.id)
    }
    people.set(person.id, same ?? person)
  }
  return [...people.values()]
}

function strangerError(id: string, index: number, named: readonly Person[]): WitanError {
  const known = named.map((one) => one.id)
  const near = nearest(id, known)
  const list = known.length === 0 ? 'No agent names anybody.' : `Known: ${known.join(', ')}.`
  return new WitanError('USER_UNKNOWN', `No agent here names \`${id.slice(0, 100)}\`. ${list}`, {
    path: `users.${index}`,
    hint:
      near === null ? 'Send `{ "id": …, "name": … }` for somebody whom no agent names.' : `Did you mean \`${near}\`?`,
  })
}

function twiceError(id: string, index: number): WitanError {
  return new WitanError('NAME_TAKEN', `\`${id}\` is listed twice, with different names or roles.`, {
    path: `users.${index}`,
    hint: 'List each person once.',
  })
}

/** Refuses the first of these parameters without a value. Throws `PARAM_MISSING`. */
export function requireValues(
  root: AgentData,
  needed: readonly Parameter[],
  given: { has(name: string): boolean },
): void {
  const missing = needed.find(({ name }) => !given.has(name))
  if (missing === undefined) return
  throw new WitanError('PARAM_MISSING', `Agent \`${root.id}\` needs \`${missing.name}\`.`, {
    path: `parameters.${missing.name}`,
    hint: 'Pass it when starting the conversation.',
  })
}

/** Every declared name, and the names that edges map a child's parameters to. */
function knownNames(agents: readonly AgentData[]): Set<string> {
  const known = new Set<string>()
  for (const agent of agents) {
    for (const { name } of agent.parameters) known.add(name)
    for (const edge of agentEdgesOf(agent)) {
      const child = agents.find((one) => one.id === edge.agent)
      for (const { name } of child?.parameters ?? []) {
        const mapped = mappedName(edge, name)
        if (mapped !== null) known.add(mapped)
      }
    }
  }
  return known
}

function unknown(name: string, root: AgentData, known: readonly string[]): WitanError {
  const near = nearest(name, known)
  const list = known.length === 0 ? 'None is declared.' : `Known: ${known.join(', ')}.`
  return new WitanError(
    'PARAM_UNKNOWN',
    `\`${name.slice(0, 80)}\` is declared by no agent under \`${root.id}\`. ${list}`,
    {
      path: `parameters.${name.slice(0, 80)}`,
      hint: near === null ? 'Leave it out, or declare it on the agent that needs it.' : `Did you mean \`${near}\`?`,
    },
  )
}
