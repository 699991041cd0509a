/** Reads an iCalendar file, in the thread apart: which meetings there are in a time, recurrences and moved ones included. */
import { readFileSync, statSync } from 'node:fs'
import ICAL from 'ical.js'
import { plainLine } from './plain.ts'
import { instantMs, isZone, offsetMs } from './zones.ts'

/** Which time to look at. */
export interface CalendarJob {
  readonly kind: 'calendar'
  readonly file: string
  readonly fromMs: number
  readonly toMs: number
  /** Times without a zone, and whole days, are in the zone of whose calendar it is. */
  readonly zone: string
}

/** A meeting at one time. */
export interface Meeting {
  readonly title: string
  readonly startMs: number
  readonly endMs: number
  readonly place: string
  /** Addresses of who takes part, in lower case. */
  readonly who: readonly string[]
}

/** What came of it, in order of time. `leftOut` are events that could not be read, at most 20 of all `leftOutTotal`. */
export interface Found {
  readonly meetings: readonly Meeting[]
  readonly isCut: boolean
  readonly leftOut: readonly { readonly title: string; readonly why: string }[]
  readonly leftOutTotal: number
}

const maxBytes = 10 * 1024 * 1024
const maxMeetings = 2_000
const maxSteps = 10_000
/** Rules that repeat more often than daily are no meetings, and could be followed for ever. */
const frequencies = new Set(['YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY'])

/** `begin` is called with the number of each event before it is read; the event is left out if that gives false. */
export function readCalendar(job: CalendarJob, begin: (item: number) => boolean): Found {
  if (statSync(job.file, { throwIfNoEntry: false })?.isFile() !== true) throw new Error('there is no calendar')
  if (statSync(job.file).size > maxBytes) throw new Error('the calendar is larger than 10 MB')
  const text = readFileSync(job.file, 'utf8')
  const meetings: Meeting[] = []
  const leftOut: { title: string; why: string }[] = []
  let total = 0
  const leave = (title: string, why: string) => {
    total += 1
    if (leftOut.length < 20) leftOut.push({ title: plainLine(title, 80), why })
  }
  const blocks = blocksOf(text, 'VEVENT')
  const events = new Map<string, ICAL.Component[]>()
  const zones = blocksOf(text, 'VTIMEZONE')
  for (const [item, block] of [...zones, ...blocks].entries()) {
    const title = /^SUMMARY[^:\n]*:(.*)$/m.exec(block.slice(0, 4_000))?.[1] ?? '(no title)'
    if (!begin(item)) leave(title, 'takes too long to read')
    else
      try {
        if (item < zones.length) registerZone(block)
        else addTo(events, new ICAL.Component(ICAL.parse(block)))
      } catch {
        leave(title, 'cannot be read')
      }
  }
  for (const [number, [uid, parts]] of [...events].entries()) {
    const title = String(parts[0]?.getFirstPropertyValue('summary') ?? uid)
    if (!begin(zones.length + blocks.length + number)) leave(title, 'takes too long to read')
    else
      try {
        const found = occurrences(parts, job)
        if (typeof found === 'string') leave(title, found)
        else meetings.push(...found)
      } catch {
        leave(title, 'cannot be read')
      }
  }
  meetings.sort((one, other) => one.startMs - other.startMs || (one.title < other.title ? -1 : 1))
  const isCut = meetings.length > maxMeetings
  return { meetings: meetings.slice(0, maxMeetings), isCut, leftOut, leftOutTotal: total }
}

/** The components of a name, each with its text. A line of a value never begins so: folded lines begin with a blank. */
function blocksOf(text: string, name: string): readonly string[] {
  const blocks: string[] = []
  for (let at = text.indexOf(`BEGIN:${name}`); at >= 0; ) {
    const end = text.indexOf(`END:${name}`, at)
    const next = text.indexOf(`BEGIN:${name}`, at + 1)
    const isWhole = end >= 0 && (next < 0 || end < next)
    blocks.push(text.slice(at, isWhole ? end + name.length + 4 : next < 0 ? undefined : next))
    at = next
  }
  return blocks
}

/** A zone that has no name of the IANA database, as the file describes it. */
function registerZone(block: string): void {
  const component = new ICAL.Component(ICAL.parse(block))
  const tzid = String(component.getFirstPropertyValue('tzid'))
  if (isZone(tzid)) return
  for (const part of component.getAllSubcomponents()) {
    const rule = part.getFirstPropertyValue('rrule')
    if (rule instanceof ICAL.Recur && rule.freq !== 'YEARLY') throw new Error('the zone changes too often')
  }
  ICAL.TimezoneService.register(new ICAL.Timezone(component), tzid)
}

/** Sorts moved instances to the event of their UID. Another event that says it has the same UID hides none. */
function addTo(events: Map<string, ICAL.Component[]>, component: ICAL.Component): void {
  for (const property of component.getAllProperties()) knowZone(property.getFirstParameter('tzid'))
  const known = String(component.getFirstPropertyValue('uid') ?? 'none')
  const isMain = (part: ICAL.Component) => !part.hasProperty('recurrence-id')
  const isOther = isMain(component) && (events.get(known)?.some(isMain) ?? false)
  const uid = isOther ? `${known} ${events.size}` : known
  events.set(uid, [...(events.get(uid) ?? []).slice(0, 500), component])
}

/** A zone of the IANA database goes by what Node knows of it, whatever the file says. */
function knowZone(tzid: string | undefined): void {
  if (tzid === undefined || ICAL.TimezoneService.has(tzid) || !isZone(tzid)) return
  const zone = new ICAL.Timezone({ tzid, component: `BEGIN:VTIMEZONE\r\nTZID:${tzid}\r\nEND:VTIMEZONE` })
  zone.utcOffset = ({ year, month, day, hour, minute, second }) =>
    offsetMs(instantMs(Date.UTC(year, month - 1, day, hour, minute, second), tzid), tzid) / 1000
  ICAL.TimezoneService.register(zone, tzid)
}

/** When an event takes place in the time that is looked at, or why that cannot be said. */
function occurrences(parts: readonly ICAL.Component[], job: CalendarJob): readonly Meeting[] | string {
  const isInstance = (part: ICAL.Component) => part.hasProperty('recurrence-id')
  const main = parts.find((part) => !isInstance(part))
  const exceptions = parts.filter(isInstance)
  if (main === undefined) return movedInto(exceptions, [], job)
  const event = new ICAL.Event(main, { exceptions, strictExceptions: false })
  if (event.startDate === null) return 'has no beginning'
  if (!event.isRecurring()) return meetingsOf(event, [event.startDate, event.endDate], job)
  for (const property of main.getAllProperties('rrule')) {
    const rule = property.getFirstValue()
    if (!(rule instanceof ICAL.Recur) || !frequencies.has(rule.freq)) return 'repeats more often than once a day'
  }
  const found: Meeting[] = [...beginning(event, job)]
  const iterator = event.iterator()
  for (let steps = 0; steps < maxSteps; steps += 1) {
    const next = iterator.next()
    if (!(next instanceof ICAL.Time)) return found
    if (msOf(next, job.zone) >= job.toMs) return [...found, ...movedInto(exceptions, found, job)]
    const { item, startDate, endDate } = event.getOccurrenceDetails(next)
    found.push(...meetingsOf(item, [startDate, endDate], job))
  }
  return 'repeats too often to be followed'
}

/** The first instance of dates without a rule, which the iterator leaves out. */
function beginning(event: ICAL.Event, job: CalendarJob): readonly Meeting[] {
  const { component, startDate, endDate } = event
  const isAt = (time: unknown) => time instanceof ICAL.Time && time.compare(startDate) === 0
  const isKnown =
    component.hasProperty('rrule') || component.getAllProperties('rdate').some((one) => one.getValues().some(isAt))
  const isLeftOut = component.getAllProperties('exdate').some((one) => one.getValues().some(isAt))
  return isKnown || isLeftOut ? [] : meetingsOf(event, [startDate, endDate], job)
}

/** Instances of later times that were moved into this one. */
function movedInto(
  exceptions: readonly ICAL.Component[],
  found: readonly Meeting[],
  job: CalendarJob,
): readonly Meeting[] {
  const moved = exceptions.flatMap((part) => {
    const event = new ICAL.Event(part)
    return meetingsOf(event, [event.startDate, event.endDate], job)
  })
  return moved.filter(({ startMs }) => !found.some((one) => one.startMs === startMs))
}

/** The meeting, if it takes somebody's time, is not cancelled, and lies in the time that is looked at. */
function meetingsOf(
  event: ICAL.Event,
  [start, end]: readonly [ICAL.Time, ICAL.Time],
  job: CalendarJob,
): readonly Meeting[] {
  const { component } = event
  const value = (name: string) => String(component.getFirstPropertyValue(name) ?? '')
  if (value('status').toUpperCase() === 'CANCELLED' || value('transp').toUpperCase() === 'TRANSPARENT') return []
  const [startMs, endMs] = [msOf(start, job.zone), msOf(end, job.zone)]
  if (!(startMs < job.toMs && endMs > job.fromMs && startMs < endMs)) return []
  const who = ['organizer', 'attendee'].flatMap((name) => component.getAllProperties(name)).slice(0, 100)
  const addresses = who.map((one) =>
    String(one.getFirstValue())
      .replace(/^mailto:/i, '')
      .toLowerCase()
      .slice(0, 200),
  )
  const [title, place] = [plainLine(event.summary ?? '(no title)', 120), plainLine(event.location ?? '', 120)]
  return [{ title, startMs, endMs, place, who: [...new Set(addresses)] }]
}

function msOf(time: ICAL.Time, zone: string): number {
  const isFloating = time.isDate || time.zone === ICAL.Timezone.localTimezone
  const shownMs = Date.UTC(time.year, time.month - 1, time.day, time.hour, time.minute, time.second)
  return isFloating ? instantMs(shownMs, zone) : time.toUnixTime() * 1000
}
