/** Numbers, times and values as people read them. */
import type { Tokens } from '@witan/client'
import type { Times } from './spans.ts'

/** `3.2 s`, `2 min 05 s`, `1 h 02 min`; below a tenth of a second in milliseconds. */
export function formatElapsed(elapsedMs: number): string {
  const ms = Math.max(0, elapsedMs)
  if (ms < 100) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${two(seconds % 60)} s`
  return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`
}

/** How long something took, or has been going on. */
export function elapsedMs(startedAt: string, endedAt: string | null, nowMs: number): number {
  const until = endedAt === null ? nowMs : Date.parse(endedAt)
  return Math.max(0, until - Date.parse(startedAt))
}

/** `980`, `1,016,500`: every number of the Studio has all its digits, so that two of them can be compared. */
export function formatNumber(number: number): string {
  return Math.round(number).toLocaleString('en')
}

/** A count as people read it, such as `1,016,500`. It begins with `≥` if a provider reported only a part. */
export function formatTokens(tokens: Tokens): string {
  const number = formatNumber(tokens.input + tokens.output)
  return tokens.complete ? number : `≥ ${number}`
}

/** The time of day, with the date where it is not today. */
export function formatMoment(at: string, now = new Date()): string {
  const moment = new Date(at)
  const time = moment.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' })
  return moment.toDateString() === now.toDateString() ? time : `${moment.toLocaleDateString()} ${time}`
}

/** `1.2 s`, or `1.2 s, waited 3 min 05 s for people`. */
export function formatTimes({ workedMs, waitedMs }: Times): string {
  const worked = formatElapsed(workedMs)
  return waitedMs < 1000 ? worked : `${worked}, waited ${formatElapsed(waitedMs)}`
}

/** `just now`, `5 min ago`, `3 h ago`, then the date. */
export function formatAgo(at: string, nowMs: number): string {
  const minutes = Math.floor((nowMs - Date.parse(at)) / 60_000)
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes} min ago`
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ago`
  return at.slice(0, 10)
}

/** A value as indented JSON; text stays as it is. */
export function formatValue(value: unknown): string {
  if (typeof value === 'string') return value
  return JSON.stringify(value, null, 2) ?? 'nothing'
}

/** `1 agent`, `3 agents`. */
export function count(number: number, noun: string): string {
  return `${formatNumber(number)} ${noun}${number === 1 ? '' : 's'}`
}

function two(number: number): string {
  return String(number).padStart(2, '0')
}
