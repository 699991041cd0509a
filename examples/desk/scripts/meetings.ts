/** The script of the agent `meetings`. */
import { today } from '../world.ts'
import { lines, one, playing, type Result, type Steps } from './play.ts'
import { daysIn, minutesIn, peopleIn } from './words.ts'

/** Finds free times if the words ask for them; else it lists meetings. */
export const meetingsScript = playing(function* ({ message }): Steps {
  const days = daysIn(message) ?? { from: today, to: today }
  const who = peopleIn(message)
  const when = days.from === days.to ? `on ${days.from}` : `from ${days.from} to ${days.to}`
  if (/\b(free|available|find (a|some) time|slot|can .* meet|could .* meet)\b/i.test(message)) {
    const minutes = minutesIn(message)
    const ids = (who.length > 0 ? who : peopleIn('me')).map(({ id }) => id)
    const found = yield* one('find_free_times', { people: ids, ...days, minutes })
    const free = listIn(found, 'free').map(({ shown }) => String(shown))
    const names = ids.map((id) => id.replace(/^./, (letter) => letter.toUpperCase())).join(' and ')
    if (found.error !== null) return `The calendar gave no answer: ${found.error}`
    if (free.length === 0 && ids.length === 1)
      return `${names} has no ${minutes} minutes free ${when}.${leftOut(found)}`
    if (free.length === 0) return `${names}: no ${minutes} minutes ${when} in which all are free.${leftOut(found)}`
    return `${names} ${ids.length === 1 ? 'is' : 'are'} free ${when} for ${minutes} minutes or more:\n${lines(free, (line) => line)}${leftOut(found)}`
  }
  if (/\b(move|cancel|book|create|add|invite|accept|decline)\b/i.test(message))
    return 'I can look into the calendar, and change nothing in it.'
  const [person] = who.length === 1 ? who : []
  const found = yield* one('list_meetings', { ...days, ...(person === undefined ? {} : { person: person.id }) })
  if (found.error !== null) return `The calendar gave no answer: ${found.error}`
  const meetings = listIn(found, 'meetings')
  if (meetings.length === 0) return `There are no meetings ${when}.${leftOut(found)}`
  return `Meetings ${when}:\n${lines(meetings, (meeting) => `${meeting['at']}: ${meeting['title']} (${[meeting['who']].flat().join(', ')})`)}${leftOut(found)}`
})

function leftOut({ value }: Result): string {
  const { left_out: left } = Object(value) as { left_out?: { total: number; some: { title: string; why: string }[] } }
  if (left === undefined) return ''
  return `\n${left.total} could not be read: ${left.some
    .slice(0, 3)
    .map(({ title, why }) => `“${title}” ${why}`)
    .join('; ')}.`
}

function listIn({ value }: Result, key: string): readonly Readonly<Record<string, unknown>>[] {
  const list: unknown = Object(value)[key]
  return Array.isArray(list) ? list : []
}
