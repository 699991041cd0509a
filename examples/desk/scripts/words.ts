/** What words of a request mean: people, days, lengths of time. */
import { dayAfter } from '../files/zones.ts'
import { owner, people, type Person, today } from '../world.ts'

/** A first and a last day. */
export interface Days {
  readonly from: string
  readonly to: string
}

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const date =
  /\b(\d{1,2})(?:st|nd|rd|th)?(?: of)? (jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* (\d{1,2})\b/gi

/** The colleagues whom a text names; with `I`, `me`, `my` or `we` also whose desk it is. */
export function peopleIn(text: string): readonly Person[] {
  const isOwn = /\b(I|me|my|we|us|our)\b/i.test(text)
  return people.filter((person) => new RegExp(`\\b${person.id}\\b`, 'i').test(text) || (isOwn && person === owner))
}

/** The days that a text names, or null. */
export function daysIn(text: string): Days | null {
  const found = [...isoDays(text), ...dates(text), ...relativeDays(text)].sort()
  const [from, to] = [found[0], found.at(-1)]
  return from === undefined || to === undefined ? null : { from, to }
}

function isoDays(text: string): readonly string[] {
  return [...text.matchAll(/\b20\d\d-\d\d-\d\d\b/g)].map(([day]) => day).filter((day) => !Number.isNaN(Date.parse(day)))
}

function dates(text: string): readonly string[] {
  return [...text.matchAll(date)].map(([, day, month, otherMonth, otherDay]) => {
    const number = months.indexOf((month ?? otherMonth ?? '').toLowerCase().slice(0, 3))
    return new Date(Date.UTC(Number(today.slice(0, 4)), number, Number(day ?? otherDay))).toISOString().slice(0, 10)
  })
}

function relativeDays(text: string): readonly string[] {
  const words = text.toLowerCase()
  const now = new Date(`${today}T00:00:00Z`).getUTCDay()
  const monday = dayAfter(today, 1 - now)
  if (/\bnext week\b/.test(words)) return [dayAfter(monday, 7), dayAfter(monday, 11)]
  if (/\bthis week\b/.test(words)) return [today, dayAfter(monday, 4)]
  const found = weekdays.flatMap((name, number) => {
    const [named, next] = new RegExp(`\\b(next )?${name}\\b`).exec(words) ?? []
    if (named === undefined) return []
    const ahead = (number - now + 7) % 7
    return [dayAfter(today, ahead === 0 && next !== undefined ? 7 : ahead)]
  })
  if (/\btoday\b/.test(words)) found.push(today)
  if (/\btomorrow\b/.test(words)) found.push(dayAfter(today))
  return found
}

/** How long something takes, in minutes; half an hour if a text does not say. */
export function minutesIn(text: string): number {
  const [, amount = '', unit = ''] = /\b(\d+|an?|half an) ?-?(minutes?|mins?|hours?)\b/i.exec(text) ?? []
  if (unit === '') return 30
  const number = /^half/i.test(amount) ? 0.5 : Number(amount) || 1
  return Math.min(480, Math.max(5, unit.toLowerCase().startsWith('hour') ? number * 60 : number))
}

/** A sum of money. */
export function euros(value: unknown): string {
  return `€${Number(value ?? 0).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
}
