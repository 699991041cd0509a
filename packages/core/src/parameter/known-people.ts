/** The people that an agent may ask, as its model knows them: by id, by role, or by another name [C36, Tb06]. */
import type { AgentData, User } from '@witan/protocol'
import { readJson } from '@witan/protocol/schemas'
import { isThere, nobody, type People } from './person.ts'

/** What a model may know of a person. */
export interface KnownPerson {
  /** The name that it writes to ask this person: the id, or an alias. */
  readonly handle: string
  /** The name that stands before the person's words. */
  readonly called: string
  readonly roles: readonly string[]
  /** Who it is. No model reads it where the handle is an alias. */
  readonly id: string
  /** Whether the person can be asked: nobody can be who does not take part. */
  readonly isThere: boolean
}

/** What an agent says of the people that it knows. */
export type Naming = Pick<AgentData, 'users' | 'anonymizeUsers'>

/** Whether an agent may ask people. */
export function asksPeople({ users }: Pick<AgentData, 'users'>): boolean {
  return users === 'participants' || users.length > 0
}

/** The built-in tools of an agent that asks people. What they say of people the runtime has written. */
export const peopleTools: ReadonlySet<string> = new Set(['ask_user', 'ask_all_users'])

/** The people of an agent as its model knows them: in the order of its definition, or of their appearance in the conversation. */
export function knownPeople(of: Naming, people: People = nobody): readonly KnownPerson[] {
  const { users, anonymizeUsers } = of
  const entries: readonly Listed[] = users === 'participants' ? people.all.map(participant) : users.map(listed(people))
  if (anonymizeUsers === null) return entries
  return entries.map(({ id, isThere: there }, index) => {
    const alias = aliasAt(anonymizeUsers, index)
    return { handle: alias, called: alias, roles: [], id, isThere: there }
  })
}

type Listed = KnownPerson

function participant({ id, name, roles, presence }: People['all'][number]): Listed {
  return { handle: id, called: name ?? id, roles, id, isThere: presence === 'there' }
}

function listed(people: People): (entry: Exclude<AgentData['users'], string>[number]) => Listed {
  return (entry) => {
    if ('role' in entry) {
      const id = `${roleMark}${entry.role}`
      return { handle: id, called: id, roles: [], id, isThere: true }
    }
    const { id, name = people.all.find((one) => one.id === id)?.name ?? id, roles } = entry
    return { handle: id, called: name, roles, id, isThere: isThere(people, id) }
  }
}

const roleMark = 'role:'

/** Whether somebody is any person in a role. */
export function isRole({ id }: Pick<KnownPerson, 'id'>): boolean {
  return id.startsWith(roleMark)
}

/** The role in the id of any person in a role. */
export function roleIn(id: string): string {
  return id.slice(roleMark.length)
}

/** The people of an agent that are listed by id. */
export function peopleOf({ users }: Pick<AgentData, 'users'>): readonly User[] {
  return users === 'participants' ? [] : users.flatMap((entry) => ('role' in entry ? [] : [entry]))
}

/**
 * The name by which models of an agent know a person of the conversation: the id, or an alias. An alias counts the people of the
 * agent's list first, then everybody else in the order of their appearance, so it never changes and nobody else ever gets it. Null
 * for a stranger who must stay unnamed.
 */
export function aliasOrId({ users, anonymizeUsers }: Naming, people: People, id: string): string | null {
  if (anonymizeUsers === null) return id
  const ids = listedIds({ users })
  const index = ids.indexOf(id)
  if (index >= 0) return aliasAt(anonymizeUsers, index)
  const others = people.all.filter((one) => !ids.includes(one.id))
  const place = others.findIndex((one) => one.id === id)
  return place < 0 ? null : aliasAt(anonymizeUsers, ids.length + place)
}

/** Who is counted first for aliases, in this order: ids, or null for any person in a role. Empty for those who take part. */
export function listedIds({ users }: Pick<AgentData, 'users'>): readonly (string | null)[] {
  return users === 'participants' ? [] : users.map((entry) => ('role' in entry ? null : entry.id))
}

/** What stands before the number of an alias; null if models of the agent read names. */
export function aliasPrefix({ anonymizeUsers }: Pick<AgentData, 'anonymizeUsers'>): string | null {
  return anonymizeUsers === null ? null : slug(anonymizeUsers)
}

function aliasAt(prefix: string, index: number): string {
  return `${slug(prefix)}-${index}`
}

/** Whether a name could be an alias of an agent's people. */
export function isAlias({ anonymizeUsers }: Naming, name: string): boolean {
  if (anonymizeUsers === null) return false
  const start = `${slug(anonymizeUsers)}-`
  return name.startsWith(start) && /^\d+$/.test(name.slice(start.length))
}

function slug(prefix: string): string {
  return prefix.toLowerCase().replace(/\s+/g, '-')
}

const keys = new WeakMap<Naming, string>()

/** What distinguishes the aliases of an agent from those of another; null if its models read names. */
export function aliasKey(of: Naming): string | null {
  if (of.anonymizeUsers === null) return null
  const known = keys.get(of)
  if (known !== undefined) return known
  const key = JSON.stringify([slug(of.anonymizeUsers), of.users])
  keys.set(of, key)
  return key
}

/** Whose names stand in a text, and for whom it is read. */
interface Translation {
  readonly from: Naming
  readonly to: Naming
  readonly people: People
  /** Ids of people whom the text certainly names. They decide between two people of the same name. */
  readonly more: readonly string[]
}

/**
 * Where a text names people: in the `user` fields of JSON, before the words of a reply, or anywhere in an error. What people and models
 * say themselves stays as it is.
 */
type NamesIn = 'fields' | 'start' | 'error'

/** A text that the runtime wrote for one agent, with people named as another agent knows them [C36]. */
export function translated(text: string, where: NamesIn, translation: Translation): string {
  if (aliasKey(translation.from) === aliasKey(translation.to)) return text
  const names = renamed(translation, where)
  if (where === 'fields') return inFields(text, names)
  return where === 'start' ? atStart(text, names) : inError(text, names)
}

/**
 * Every name by which an agent knows somebody, and a name for another agent: before a reply the one that stands before words, else the
 * one that a model writes to ask the person.
 */
function renamed({ from, to, people, more }: Translation, where: NamesIn): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  const put = (name: string | null | undefined, other: string): void => {
    if (name != null && !names.has(name)) names.set(name, other)
  }
  const known = byId(knownPeople(from, people))
  const theirs = byId(knownPeople(to, people))
  const all = byId(people.all)
  for (const id of new Set([...more, ...known.keys(), ...all.keys()])) {
    const handle = theirs.get(id)?.handle ?? aliasOrId(to, people, id) ?? 'somebody'
    const called = theirs.get(id)?.called ?? (to.anonymizeUsers === null ? (all.get(id)?.name ?? handle) : handle)
    const other = where === 'start' ? called : handle
    put(known.get(id)?.called, other)
    put(known.get(id)?.handle ?? aliasOrId(from, people, id), other)
  }
  return names
}

function byId<One extends { readonly id: string }>(people: readonly One[]): ReadonlyMap<string, One> {
  return new Map(people.map((one) => [one.id, one]))
}

const userField = /("user"\s*:\s*)("(?:[^"\\]|\\.)*")/g

/** Inside a string of JSON the quotes of a field are escaped, so words that look like one are none. */
function inFields(text: string, names: ReadonlyMap<string, string>): string {
  return text.replace(userField, (field: string, key: string, written: string) => {
    const read = readJson(written)
    const name = read.ok ? names.get(String(read.value)) : undefined
    return name === undefined ? field : `${key}${JSON.stringify(name)}`
  })
}

function atStart(text: string, names: ReadonlyMap<string, string>): string {
  const [name, other] = [...names]
    .filter(([name]) => text.startsWith(`${name}: `))
    .reduce((longest, one) => (one[0].length > longest[0].length ? one : longest), ['', ''])
  return name === '' ? text : `${other}${text.slice(name.length)}`
}

function inError(text: string, names: ReadonlyMap<string, string>): string {
  const read = readJson(text)
  const error = read.ok ? (read.value as { readonly error?: unknown } | null)?.error : undefined
  return typeof error === 'string' ? JSON.stringify({ error: anywhere(error, names) }) : anywhere(text, names)
}

function anywhere(text: string, names: ReadonlyMap<string, string>): string {
  // Only names that occur: an alternative of a thousand names would be tried at every place of a long text.
  const found = [...names.keys()].filter((name) => text.includes(name))
  if (found.length === 0) return text
  const all = found.sort((a, b) => b.length - a.length).map(escaped)
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_-])(?:${all.join('|')})(?![\\p{L}\\p{N}_-])`, 'gu')
  return text.replace(pattern, (name) => names.get(name) ?? name)
}

function escaped(name: string): string {
  return name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
