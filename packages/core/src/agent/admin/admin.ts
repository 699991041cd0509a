/** Agents, protocols and knowledge bases as data: read, delete, check. Every revision is kept. */
import {
  type AgentData,
  type CheckReport,
  type Finding,
  type StoredAgent,
  isWitanError,
  WitanError,
} from '@witan/protocol'
import { type KnowledgeBase, knowledgeUses } from '@witan/protocol/knowledge'
import type { Protocol, StoredProtocol } from '@witan/protocol/protocols'
import { withoutStored } from '@witan/protocol/schemas'
import { withWholeAddress } from '../address.ts'
import { type CheckContext, checkAll } from '../check/check.ts'
import { listedBy } from '../check/graph.ts'
import { protocolUses, unspoken } from '../check/peers.ts'
import { type Changed, shownChange } from '../../identity/changed.ts'
import { runWithPauses, type Pausable } from '../../identity/pausable.ts'
import { readingOnce } from '../../identity/read-once.ts'
import { type Inspected, inspectingAgent } from '../inspect.ts'
import type { AgentRecords, AgentRow, AnyDefinition, BaseRow, ProtocolRow } from '../records.ts'
import { idOfNamed, type Registry } from '../registry.ts'
import { frozen } from '../../identity/frozen.ts'
import { notFound } from '../../identity/not-found.ts'
import { type PatternAllowance, patternAllowance } from '../../model/pattern.ts'
import { doubleError, readBase, readProtocol, staleError } from './read.ts'

/** What the admin of one database works with. */
export interface AdminContext {
  readonly database: string
  readonly registry: Registry
  readonly records: AgentRecords
  /** Who changes something, and when: now. */
  changed(): Changed
  readonly check: CheckContext
  /** The kind of the model with that name; null if this process has no such model. */
  modelKind(name: string): StoredAgent['modelKind']
  /** Whether a person with that id takes part in a conversation of the database. */
  takesPart(database: string, person: string): Promise<boolean>
  /** The domains of the database, in canonical form; the first is that of a local part alone. */
  readonly domains: readonly string[]
  /** The id of the API key of the database with this address; null for none. */
  keyWithAddress(database: string, address: string): Promise<string | null>
}

/** An agent in the form that readers get. */
export function toStored(admin: Pick<AdminContext, 'modelKind'>, row: AgentRow): StoredAgent {
  const { data, revision, source, warnings, changed } = row
  const modelKind = admin.modelKind(data.model)
  return { ...frozen(data), revision, source, warnings: warnings.map(frozen), modelKind, ...shownChange(changed) }
}

/** A protocol in the form that readers get. Its warnings are those of the agents as they are now. */
export function toStoredProtocol(admin: AdminContext, row: ProtocolRow): StoredProtocol {
  const { data, revision, source, changed } = row
  const warnings = unspoken(protocolUses(currentAgents(admin), new Map([[data.name, data]])))
  return { ...frozen(data), revision, source, warnings, ...shownChange(changed) }
}

/** The stored protocol. Throws `NOT_FOUND`. */
export async function getProtocol(admin: AdminContext, name: string): Promise<ProtocolRow> {
  await admin.registry.ensure(admin.database)
  return lookingAgain(admin, async () => {
    const row = admin.registry.current(admin.database).protocols.get(name)
    if (row === undefined) throw notFound('protocol', name)
    return row
  })
}

/** The stored knowledge base. Throws `NOT_FOUND`. */
export async function getBase(admin: AdminContext, id: string): Promise<BaseRow> {
  await admin.registry.ensure(admin.database)
  return lookingAgain(admin, async () => {
    const row = admin.registry.current(admin.database).bases.get(id)
    if (row === undefined) throw notFound('knowledge base', id)
    return row
  })
}

/** The stored agent. Throws `NOT_FOUND`. */
export async function getAgent(admin: AdminContext, id: string): Promise<AgentRow> {
  const known = await idOfNamed(admin.registry, admin.database, id)
  const row = known === id ? admin.registry.current(admin.database).agents.get(id) : undefined
  if (row === undefined) throw notFound('agent', id)
  return row
}

const mostLooks = 5

/** The cached agents of this process may be stale. A refusal is final only after the agents are reloaded and refused again. */
export async function lookingAgain<Result>(admin: AdminContext, work: () => Promise<Result>): Promise<Result> {
  for (let looks = 1; ; looks += 1) {
    try {
      return await work()
    } catch (error) {
      if (!isRefusal(error) || looks === mostLooks || !(await admin.registry.refresh(admin.database))) throw error
    }
  }
}

/** A store that failed has refused nothing: what it left unknown would be found and taken for done. */
function isRefusal(error: unknown): boolean {
  return isWitanError(error) && !/^(?:STORE|SCHEMA)_/.test(error.code)
}

/** Deletes an agent. Throws `AGENT_REFERENCED` while others list it, unless forced. Active runs keep their revision [C8]. */
export async function deleteAgent(
  admin: AdminContext,
  id: string,
  options: { force?: boolean; ifRevision?: number | null } = {},
): Promise<void> {
  await admin.registry.ensure(admin.database)
  await lookingAgain(admin, () => remove(admin, id, options))
}

async function remove(
  admin: AdminContext,
  id: string,
  options: { force?: boolean; ifRevision?: number | null },
): Promise<void> {
  const row = await getAgent(admin, id)
  const { ifRevision = null, force = false } = options
  if (ifRevision !== null && ifRevision !== row.revision) throw staleError(`Agent \`${id}\``, row.revision, ifRevision)
  const parents = listedBy(id, currentAgents(admin))
  if (parents.length > 0 && !force) {
    throw new WitanError(
      'AGENT_REFERENCED',
      `Agent \`${id}\` is listed by ${parents.map((one) => `\`${one}\``).join(', ')}.`,
      { hint: 'Take it out of those agents first, or delete with ?force=true.' },
    )
  }
  await drop(admin, row, `Agent \`${id}\``)
}

/** Deletes a protocol. Throws `PROTOCOL_REFERENCED` while an agent speaks it. Active runs keep their revision [C8]. */
export async function deleteProtocol(
  admin: AdminContext,
  name: string,
  { ifRevision = null }: { ifRevision?: number | null } = {},
): Promise<void> {
  await admin.registry.ensure(admin.database)
  await lookingAgain(admin, async () => {
    const row = await getProtocol(admin, name)
    if (ifRevision !== null && ifRevision !== row.revision)
      throw staleError(`Protocol \`${name}\``, row.revision, ifRevision)
    const speakers = [...currentAgents(admin).values()].filter(({ speaks }) =>
      speaks.some(({ protocol }) => protocol === name),
    )
    if (speakers.length > 0) {
      const list = speakers.map(({ id }) => `\`${id}\``).join(', ')
      throw new WitanError('PROTOCOL_REFERENCED', `Protocol \`${name}\` is spoken by ${list}.`, {
        hint: 'Take it out of `speaks` of those agents first.',
      })
    }
    await drop(admin, row, `Protocol \`${name}\``)
  })
}

/** Deletes a knowledge base. Throws `KNOWLEDGE_REFERENCED` while an agent lists it, unless forced. Its documents are the caller's to delete. */
export async function deleteBase(
  admin: AdminContext,
  id: string,
  { force = false, ifRevision = null }: { force?: boolean; ifRevision?: number | null } = {},
): Promise<void> {
  await admin.registry.ensure(admin.database)
  await lookingAgain(admin, async () => {
    const row = await getBase(admin, id)
    const called = `Knowledge base \`${id}\``
    if (ifRevision !== null && ifRevision !== row.revision) throw staleError(called, row.revision, ifRevision)
    const users = [...currentAgents(admin).values()].filter((agent) =>
      knowledgeUses(agent).some((use) => use.id === id),
    )
    if (users.length > 0 && !force) {
      const list = users.map((agent) => `\`${agent.id}\``).join(', ')
      throw new WitanError('KNOWLEDGE_REFERENCED', `${called} is listed by ${list}.`, {
        hint: 'Take it out of `knowledgeBases` of those agents first, or delete with ?force=true.',
      })
    }
    await drop(admin, row, called)
  })
}

async function drop(admin: AdminContext, { id, revision }: AnyDefinition, called: string): Promise<void> {
  const changes = [{ id, ifRevision: revision, row: null }]
  if (!(await admin.records.changeAgents(admin.database, changes, admin.changed()))) {
    throw new WitanError('REVISION_MISMATCH', `${called} was changed meanwhile.`, {
      hint: 'Read it again and repeat the change.',
    })
  }
  admin.registry.put(admin.database, id, null)
}

/** The agents of the database as this process knows them. */
export function currentAgents(admin: AdminContext): Map<string, AgentData> {
  return new Map([...admin.registry.current(admin.database).agents].map(([id, row]) => [id, row.data]))
}

/** The protocols of the database as this process knows them, by name. */
export function currentProtocols(admin: AdminContext): Map<string, Protocol> {
  return new Map([...admin.registry.current(admin.database).protocols].map(([name, row]) => [name, row.data]))
}

/** The knowledge bases of the database as this process knows them, by id. */
export function currentBases(admin: AdminContext): Map<string, KnowledgeBase> {
  return new Map([...admin.registry.current(admin.database).bases].map(([id, row]) => [id, row.data]))
}

/** What to check together with what is stored. */
interface ToCheck {
  readonly agents?: readonly unknown[] | undefined
  readonly protocols?: readonly unknown[] | undefined
  readonly knowledge?: readonly unknown[] | undefined
}

/**
 * Checks these definitions together with the stored ones; without any, checks the stored ones. An error of form is a
 * finding too, and the rest is still checked. Agents that name one of these protocols or bases are checked with it.
 */
export async function checkTogether(admin: AdminContext, inputs: ToCheck = {}): Promise<CheckReport> {
  return (await inspectTogether(admin, inputs)).report
}

/** Checks as `checkTogether` does; also returns the given agents that could be read, by id. */
export async function inspectTogether(
  admin: AdminContext,
  inputs: ToCheck,
): Promise<{ readonly report: CheckReport; readonly agents: ReadonlyMap<string, AgentData> }> {
  await admin.registry.ensure(admin.database)
  const patterns = patternAllowance()
  const all = currentAgents(admin)
  const { checked, looks, bad } = await runWithPauses(inspectAgents(inputs.agents ?? [], admin.domains))
  const given = new Map(checked)
  const protocols = await runWithPauses(inspectOthers(protocolKind(patterns), inputs.protocols))
  const bases = await runWithPauses(inspectOthers(baseKind, inputs.knowledge))
  const isAll = Object.values(inputs).every((list) => list === undefined)
  for (const [id, agent] of all) {
    const isSpeaker = agent.speaks.some(({ protocol }) => protocols.read.has(protocol))
    const isSearcher = knowledgeUses(agent).some((use) => bases.read.has(use.id))
    if ((isAll || isSpeaker || isSearcher) && !checked.has(id)) checked.set(id, agent)
  }
  for (const [id, agent] of checked) all.set(id, agent)
  const report = await checkAll([...checked.values()], all, {
    ...admin.check,
    protocols: new Map([...currentProtocols(admin), ...protocols.read]),
    bases: new Map([...currentBases(admin), ...bases.read]),
    patterns,
  })
  const isNews = (finding: Finding) => looks.get(finding.agent)?.isReported(finding) !== true
  const errors = [...bad, ...protocols.bad, ...bases.bad, ...report.errors.filter(isNews)]
  return { report: { ...report, errors, warnings: report.warnings.filter(isNews) }, agents: given }
}

/** Definitions of one kind that were given: those that could be read, by name, and what is wrong with the others. */
interface InspectedOthers<Data> {
  readonly read: ReadonlyMap<string, Data>
  readonly bad: readonly Finding[]
}

/** How a kind of definition is read: `path` is the key of its list, `key` that of its name. */
interface OtherKind<Data> {
  readonly path: string
  readonly key: string
  readonly what: string
  read(input: unknown): Pausable<{ readonly data: Data; readonly name: string } | readonly WitanError[]>
}

function protocolKind(patterns: PatternAllowance): OtherKind<Protocol> {
  return {
    path: 'protocols',
    key: 'name',
    what: 'Protocol',
    *read(input) {
      const read = yield* readProtocol(input, patterns)
      return read.ok ? { data: read.protocol, name: read.protocol.name } : read.problems
    },
  }
}

const baseKind: OtherKind<KnowledgeBase> = {
  path: 'knowledge',
  key: 'id',
  what: 'Knowledge base',
  *read(input) {
    const read = yield* readBase(input)
    return read.ok ? { data: read.base, name: read.base.id } : read.problems
  },
}

function* inspectOthers<Data>(kind: OtherKind<Data>, inputs: readonly unknown[] = []): Pausable<InspectedOthers<Data>> {
  const read = new Map<string, Data>()
  const bad: Finding[] = []
  for (const [index, input] of inputs.entries()) {
    const path = `${kind.path}.${index}`
    const found = yield* kind.read(input)
    if (!('data' in found)) {
      bad.push(...found.map((problem) => ({ ...formFinding('', problem), path: `${path}.${problem.path ?? ''}` })))
      continue
    }
    const { name, data } = found
    if (read.has(name)) bad.push(formFinding('', doubleError({ name, what: kind.what, path: `${path}.${kind.key}` })))
    read.set(name, data)
  }
  return { read, bad }
}

interface Inspection {
  readonly checked: Map<string, AgentData>
  readonly looks: ReadonlyMap<string, Inspected>
  readonly bad: readonly Finding[]
}

function* inspectAgents(inputs: readonly unknown[], domains: readonly string[]): Pausable<Inspection> {
  const checked = new Map<string, AgentData>()
  const looks = new Map<string, Inspected>()
  const bad: Finding[] = []
  for (const [index, given] of inputs.entries()) {
    yield
    const input = yield* readingOnce(withoutStored(given))
    const look = yield* inspectingAgent(input)
    const id = (input as { id?: unknown } | null)?.id
    const agent = typeof id === 'string' ? id.slice(0, 80) : `agents.${index}`
    bad.push(...look.problems.map((problem) => formFinding(agent, problem)))
    if (look.agent === null) continue
    if (checked.has(look.agent.id))
      bad.push(formFinding(agent, doubleError({ name: look.agent.id, what: 'Agent', path: `agents.${index}.id` })))
    else {
      const [placed, problem] = inspectAddress(look.agent, domains)
      if (problem !== null) bad.push(formFinding(agent, problem))
      checked.set(placed.id, placed)
      looks.set(placed.id, look)
    }
  }
  return { checked, looks, bad }
}

/** The agent with its whole address; without one, and the error, if it cannot have it. */
function inspectAddress(agent: AgentData, domains: readonly string[]): readonly [AgentData, WitanError | null] {
  try {
    return [withWholeAddress(agent, domains), null]
  } catch (error) {
    if (!isWitanError(error)) throw error
    return [{ ...agent, address: null }, error]
  }
}

function formFinding(agent: string, { code, message, path, hint }: WitanError): Finding {
  return { code, severity: 'error', agent, path: path ?? '', detail: message, hint: hint ?? '' }
}
