/** The roster of the agents that an agent can hand over to, as its model reads it in the system message [Kb18]. */
import { displayName } from '../identity/display-name.ts'
import { type Description, listWithin, longestDescription, oneLine } from '../tool/description.ts'

/** An agent of a roster. */
export interface RosterEntry {
  readonly id: string
  readonly name?: string | undefined
  readonly description: string
}

/** The most characters of a roster. Each run of its agent reads it whole. */
const longest = 16_384
/** Lines are tried in these lengths until all fit; the last one stands for ids alone. */
const lineLengths = [longestDescription, 160, 80, 0]

/** A line for each agent, with its display name and its description. Lines are shorter where there are many. */
export function rosterOf(entries: readonly RosterEntry[]): Description {
  const isEachWhole = entries.every((entry) => line(entry, longestDescription).isWhole)
  const forms = lineLengths.map((room) => () => entries.map((entry) => line(entry, room).text))
  const { text, isWhole } = listWithin(longest, forms, { before: '', between: '\n', after: '' })
  return { text, isWhole: isWhole && isEachWhole }
}

function line(entry: RosterEntry, room: number): Description {
  const { id, description } = entry
  if (room === 0) return { text: `- ${id}`, isWhole: false }
  const name = displayName(entry)
  const who = name === null ? `- ${id}` : `- ${id} (${name})`
  return oneLine(description.trim() === '' ? who : `${who}: ${description}`, room)
}
