/** Local times of IANA time zones and the instants that they are, by the zones that Node brings along. */

const formats = new Map<string, Intl.DateTimeFormat | null>()

/** The format of a zone, or null if there is no such zone. At most 200 are kept. */
function formatOf(zone: string): Intl.DateTimeFormat | null {
  const known = formats.get(zone)
  if (known !== undefined) return known
  if (formats.size >= 200) formats.clear()
  const made = zone.length <= 64 ? tried(zone) : null
  formats.set(zone, made)
  return made
}

function tried(timeZone: string): Intl.DateTimeFormat | null {
  try {
    const numeric = 'numeric'
    const fields = {
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
      second: numeric,
    } as const
    return new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...fields })
  } catch {
    return null
  }
}

/** True if it is the name of a time zone, such as `Europe/Berlin`. */
export function isZone(zone: string): boolean {
  return formatOf(zone) !== null
}

/** What the clocks of a zone are ahead of UTC at an instant, in milliseconds; 0 for what is no zone. */
export function offsetMs(atMs: number, zone: string): number {
  const format = formatOf(zone)
  if (format === null) return 0
  const field: Record<string, number> = {}
  for (const { type, value } of format.formatToParts(atMs)) field[type] = Number(value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = field
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(atMs / 1000) * 1000
}

/**
 * The instant at which the clocks of a zone show a time. `shownMs` is that time written as if it were UTC. Of a time that comes twice it is
 * the first; a time that is left out is as much later as the clocks are moved.
 */
export function instantMs(shownMs: number, zone: string): number {
  const [before, after] = [offsetMs(shownMs - 86_400_000, zone), offsetMs(shownMs + 86_400_000, zone)]
  const fitting = [before, after].map((offset) => shownMs - offset).filter((at) => at + offsetMs(at, zone) === shownMs)
  return fitting.length > 0 ? Math.min(...fitting) : shownMs - before
}

/** An instant as the clocks of a zone show it: `2026-10-26 14:00`. */
export function shownIn(atMs: number, zone: string): string {
  return new Date(atMs + offsetMs(atMs, zone)).toISOString().slice(0, 16).replace('T', ' ')
}

/** The instant at which a day, such as `2026-10-26`, has a time, such as `9:30`, in a zone. */
export function atTime(day: string, time: string, zone: string): number {
  return instantMs(Date.parse(`${day}T${time.padStart(5, '0')}:00Z`), zone)
}

/** The date `days` days after another date. */
export function dayAfter(day: string, days = 1): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
}
