/** Addresses in the access lists and the demands of an agent: read when it is saved, and kept in the form in which they are compared. */
import { type AgentData, WitanError } from '@witan/protocol'
import { readAddress, readDomain, shownName } from '@witan/protocol/names'
import type { Pausable } from '../identity/pausable.ts'

type Access = AgentData['access']
type Entries = NonNullable<Access['call']>

/** The lists with every address in canonical form, and each entry that should be an address or a domain and is none. */
interface ReadAccess {
  readonly access: Access
  readonly demands: AgentData['demands']
  readonly problems: readonly WitanError[]
}

/** Names between two pauses: reading a domain in another alphabet takes some ten microseconds. */
const pieceNames = 100

/** Reads the lists in pieces. */
export function* readingAccess(
  { access, demands: all }: Pick<AgentData, 'access' | 'demands'>,
  who: string,
): Pausable<ReadAccess> {
  const { call, tools } = access
  const problems: WitanError[] = []
  let looked = 0
  const aloneAt = (path: string): WitanError => {
    const detail = `${who}: \`${path}\` needs an address beside it in a list: any server can claim to act for anybody.`
    return new WitanError('AGENT_INVALID', detail, {
      path,
      hint: 'Such as `["@*@b.example", "for:mailto:a@b.example"]`.',
    })
  }
  function* readName(name: string, path: string): Pausable<string> {
    looked += 1
    if (looked % pieceNames === 0) yield
    const [canonical, problem] = readEntry(name)
    if (problem !== null) {
      const detail = `${who}: \`${path}\` is \`${shownName(name.slice(0, 80))}\`, which is no address: ${problem}.`
      problems.push(
        new WitanError('AGENT_INVALID', detail, { path, hint: 'Such as `@a@b.example`, `@*@b.example` or `@*`.' }),
      )
    }
    return canonical
  }
  function* readList(entries: Entries, path: string): Pausable<Entries> {
    const list: Entries = []
    for (const [index, entry] of entries.entries()) {
      if (typeof entry === 'string') {
        if (aboutPattern.test(entry)) problems.push(aloneAt(`${path}.${index}`))
        list.push(yield* readName(entry, `${path}.${index}`))
        continue
      }
      const about = entry.findIndex((name) => aboutPattern.test(name))
      if (about >= 0 && !entry.some(isAddressEntry)) problems.push(aloneAt(`${path}.${index}.${about}`))
      const all: string[] = []
      for (const [at, name] of entry.entries()) all.push(yield* readName(name, `${path}.${index}.${at}`))
      list.push(all)
    }
    return list
  }
  const callers = call === null ? null : yield* readList(call, 'access.call')
  const demands: AgentData['demands'] = []
  for (const [index, demand] of all.entries())
    demands.push({ ...demand, of: yield* readList(demand.of, `demands.${index}.of`) })
  if (tools === undefined) return { access: { call: callers }, demands, problems }
  const guarded: Record<string, Entries> = {}
  for (const [tool, entries] of Object.entries(tools)) guarded[tool] = yield* readList(entries, `access.tools.${tool}`)
  return { access: { call: callers, tools: guarded }, demands, problems }
}

const anyOfDomain = '@*@'

const aboutPattern = /^(?:for|from):/

/** An address, or all of a domain. `@*` says nothing of who it is. */
function isAddressEntry(name: string): boolean {
  return name.startsWith('@') && name !== '@*'
}

/** The entry in canonical form, and what is wrong with it. */
function readEntry(name: string): readonly [canonical: string, problem: string | null] {
  const [mark = ''] = aboutPattern.exec(name) ?? []
  if (mark !== '') return readAbout(mark, name.slice(mark.length))
  if (!name.startsWith('@') || name === '@*') return [name, null]
  if (name.startsWith(anyOfDomain)) {
    const { value, problem } = readDomain(name.slice(anyOfDomain.length))
    return [value === null ? name : `${anyOfDomain}${value}`, problem]
  }
  const read = readAddress(name)
  return read.ok ? [read.address.text, null] : [name, read.problem]
}

/** A principal is an address, or any other URI as it is. */
function readAbout(mark: string, uri: string): readonly [canonical: string, problem: string | null] {
  if (!uri.startsWith('@'))
    return [`${mark}${uri}`, uriPattern.test(uri) ? null : 'a URI begins with its scheme, such as `mailto:`']
  const read = readAddress(uri)
  return read.ok ? [`${mark}${read.address.text}`, null] : [`${mark}${uri}`, read.problem]
}

const uriPattern = /^[A-Za-z][A-Za-z0-9+.-]*:./
