/** Addresses in the access lists of an agent: read when it is saved, and kept in the form in which they are compared. */
import { type AgentData, WitanError } from '@witan/protocol'
import { readAddress, readDomain, shownName } from '@witan/protocol/names'

type Access = AgentData['access']
type Entry = NonNullable<Access['call']>[number]

const anyOfDomain = '@*@'

/** Each entry that should be an address or a domain, and is none. */
export function* accessProblems({ call, tools = {} }: Access, who: string): Generator<WitanError> {
  const lists = { call: call ?? [], ...prefixed(tools) }
  for (const [list, entries] of Object.entries(lists))
    for (const [index, entry] of entries.entries())
      for (const [at, name] of typeof entry === 'string' ? [[null, entry] as const] : [...entry.entries()]) {
        const problem = problemOf(name)
        if (problem === null) continue
        const path = `access.${list}.${index}${at === null ? '' : `.${at}`}`
        const detail = `${who}: \`${path}\` is \`${shownName(name.slice(0, 80))}\`, which is no address: ${problem}.`
        yield new WitanError('AGENT_INVALID', detail, { path, hint: 'Such as `@a@b.example`, `@*@b.example` or `@*`.' })
      }
}

/** The lists with every address in canonical form. */
export function canonicalAccess({ call, tools }: Access): Access {
  const canonicalList = (entries: readonly Entry[]): Entry[] =>
    entries.map((entry) => (typeof entry === 'string' ? canonical(entry) : entry.map(canonical)))
  return {
    call: call === null ? null : canonicalList(call),
    ...(tools === undefined
      ? {}
      : { tools: Object.fromEntries(Object.entries(tools).map(([name, list]) => [name, canonicalList(list)])) }),
  }
}

function prefixed(tools: NonNullable<Access['tools']>): Record<string, readonly Entry[]> {
  return Object.fromEntries(Object.entries(tools).map(([tool, entries]) => [`tools.${tool}`, entries]))
}

const isAddress = (name: string): boolean => name.startsWith('@') && name !== '@*'

function problemOf(name: string): string | null {
  if (!isAddress(name)) return null
  if (name.startsWith(anyOfDomain)) return readDomain(name.slice(anyOfDomain.length)).problem
  const read = readAddress(name)
  return read.ok ? null : read.problem
}

function canonical(name: string): string {
  if (!isAddress(name)) return name
  if (name.startsWith(anyOfDomain)) return `${anyOfDomain}${readDomain(name.slice(anyOfDomain.length)).value}`
  const read = readAddress(name)
  return read.ok ? read.address.text : name
}
