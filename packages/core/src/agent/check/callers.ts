/** Who may call an agent, and which of its tools each may use: the access lists, read from the side of the callers [C31, M24]. */
import type { AgentData } from '@witan/protocol'
import type { CallerRow } from '@witan/protocol/access'
import type { Pausable } from '../../identity/pausable.ts'

type Access = AgentData['access']
type Entry = NonNullable<Access['call']>[number]

/** The most callers that a check lists for one agent, since each is compared with every list of its `access`. */
const mostOfOne = 500

/** A row for each entry of the lists of an agent that has some, or an address; at most 500 for one agent. */
export function* callersOf(agents: readonly AgentData[], most: number): Pausable<CallerRow[]> {
  const rows: CallerRow[] = []
  for (const { id, access, address } of agents) {
    const { call, tools = {} } = access
    if (call === null && address == null && Object.keys(tools).length === 0) continue
    const [called, guarded] = [call, Object.entries(tools)] as const
    for (const caller of entriesOf(access).slice(0, mostOfOne)) {
      if (rows.length === most) return rows
      const implied = impliedBy(caller)
      const isInside = caller.every((name) => !name.startsWith('@') && name !== 'anonymous')
      const calls = called === null ? isInside : yield* admits(called, implied)
      const usable: string[] = []
      for (const [tool, entries] of guarded) if (yield* admits(entries, implied)) usable.push(tool)
      rows.push({ agent: id, caller: [...caller], calls, tools: usable })
    }
  }
  return rows
}

/** The entries of all lists, each once. Without a list of callers everybody of the database stands before them. */
function entriesOf({ call, tools = {} }: Access): readonly (readonly string[])[] {
  const all = [...(call ?? []), ...Object.values(tools).flat()].map((entry) => [entry].flat())
  const known = new Map(all.map((names) => [JSON.stringify([...names].sort()), names]))
  return call === null ? [[], ...known.values()] : [...known.values()]
}

/** The names that hold for a caller for whom these do. */
function impliedBy(names: readonly string[]): ReadonlySet<string> {
  return new Set(
    names.flatMap((name) => {
      if (!name.startsWith('@') || name === '@*') return [name]
      return [name, '@*', `@*${name.slice(name.lastIndexOf('@'))}`]
    }),
  )
}

/** Entries between two pauses. */
const pieceEntries = 1_000

function* admits(entries: readonly Entry[], implied: ReadonlySet<string>): Pausable<boolean> {
  for (const [index, entry] of entries.entries()) {
    if (index % pieceEntries === 0) yield
    if (typeof entry === 'string' ? implied.has(entry) : entry.every((name) => implied.has(name))) return true
  }
  return false
}
