/** What the agent `meetings` can do with the calendar: list meetings, and find times at which several people are free. */
import { defineTool, type FunctionTool } from '@witan/core'
import { z } from 'zod'
import { readApart } from '../files/apart.ts'
import type { Found } from '../files/calendar.ts'
import { freeTimes, shownSpan } from '../files/free.ts'
import { atTime, dayAfter } from '../files/zones.ts'
import { owner, people } from '../world.ts'

const maxDays = 31
const maxListed = 50
const day = z.iso.date().describe('A day, such as 2026-10-26.')
const person = z.enum(people.map(({ id }) => id) as [string, ...string[]])

/** The tools over an iCalendar file. */
export function meetingTools(calendar: string): readonly FunctionTool[] {
  return [listMeetings(calendar), findFreeTimes(calendar)]
}

function listMeetings(calendar: string): FunctionTool {
  return defineTool({
    name: 'list_meetings',
    description: `The meetings from the first day to the last one, at most ${maxDays} days, in the time zone of the person, else of ${owner.zone}.`,
    parameters: z.object({ from: day, to: day, person: person.optional().describe('Only meetings of this person.') }),
    effect: 'none',
    timeoutMs: 30_000,
    async execute({ from, to, person: id }, { signal }) {
      const whose = people.find((one) => one.id === id) ?? owner
      const found = await readDays({ calendar, from, to }, signal)
      const [fromMs, toMs] = [atTime(from, '0:00', whose.zone), atTime(dayAfter(to), '0:00', whose.zone)]
      const inDays = found.meetings.filter(({ startMs, endMs }) => startMs < toMs && endMs > fromMs)
      const theirs = inDays.filter(({ who }) => id === undefined || who.includes(whose.email))
      const shown = theirs.slice(0, maxListed).map((meeting) => ({
        ...{ title: meeting.title, at: shownSpan(meeting, whose.zone), place: meeting.place },
        who: meeting.who.slice(0, 20).map((email) => people.find((one) => one.email === email)?.name ?? email),
      }))
      const more = theirs.length - shown.length
      return {
        meetings: shown,
        ...(more > 0 || found.isCut ? { more: 'ask for fewer days to see all' } : {}),
        ...left(found),
      }
    },
  })
}

function findFreeTimes(calendar: string): FunctionTool {
  return defineTool({
    name: 'find_free_times',
    description: `When all these people are free for so long, in the working hours of each: Monday to Friday, 9 to 17 by their own clocks. At most ${maxDays} days.`,
    parameters: z.object({
      people: z.array(person).min(1).max(people.length),
      from: day,
      to: day,
      minutes: z.number().int().min(5).max(480),
    }),
    effect: 'none',
    timeoutMs: 30_000,
    async execute({ people: ids, from, to, minutes }, { signal }) {
      const who = people.filter(({ id }) => ids.includes(id))
      const found = await readDays({ calendar, from, to }, signal)
      if (found.isCut)
        throw new Error('there are too many meetings in these days to say who is free: ask for fewer days')
      return { free: freeTimes({ who, from, to, minutes }, found.meetings, 10), ...left(found) }
    },
  })
}

/** The meetings of some days, and a day around them, since the days of other zones begin earlier and end later. */
async function readDays(
  { calendar, from, to }: { readonly calendar: string } & DaysAsked,
  signal: AbortSignal,
): Promise<Found> {
  if (to < from) throw new Error('the last day is before the first one')
  if (to > dayAfter(from, maxDays - 1)) throw new Error(`these are more than ${maxDays} days`)
  const { zone } = owner
  const fromMs = atTime(dayAfter(from, -1), '0:00', zone)
  const toMs = atTime(dayAfter(to, 2), '0:00', zone)
  return readApart({ kind: 'calendar', file: calendar, fromMs, toMs, zone }, signal)
}

interface DaysAsked {
  readonly from: string
  readonly to: string
}

function left({ leftOut, leftOutTotal }: Found): object {
  return leftOutTotal === 0 ? {} : { left_out: { total: leftOutTotal, some: leftOut } }
}
