/** The formats of strings that are checked; others say nothing. */
import { z } from 'zod'

/** Longer than any text that a format is about, except for encoded bytes, whose check is a single pass. */
const longest = 4096

const fullTime = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

const formats = new Map<string, z.ZodType>([
  ['email', z.email()],
  ['uri', z.url()],
  ['uri-reference', z.url()],
  ['uuid', z.uuid()],
  ['guid', z.uuid()],
  ['date-time', z.iso.datetime({ offset: true })],
  ['date', z.iso.date()],
  ['time', z.string().regex(fullTime)],
  ['duration', z.iso.duration()],
  ['hostname', z.hostname()],
  ['ipv4', z.ipv4()],
  ['ipv6', z.ipv6()],
  ['mac', z.mac()],
  ['cidr', z.cidrv4()],
  ['cidr-v6', z.cidrv6()],
  ['base64', z.base64()],
  ['base64url', z.base64url()],
  ['e164', z.e164()],
  ['jwt', z.jwt()],
  ['emoji', z.emoji()],
  ['nanoid', z.nanoid()],
  ['cuid', z.cuid()],
  ['cuid2', z.cuid2()],
  ['ulid', z.ulid()],
  ['xid', z.xid()],
  ['ksuid', z.ksuid()],
])

const ownPatterns = new Map<string, unknown>()

/** Whether a pattern only repeats the format beside it. Zod writes both, and our bounded search may not support the pattern. */
export function isPatternOf(format: unknown, pattern: string): boolean {
  const known = typeof format === 'string' ? formats.get(format) : undefined
  if (known === undefined) return false
  const own = ownPatterns.get(String(format)) ?? z.toJSONSchema(known).pattern
  ownPatterns.set(String(format), own)
  return own === pattern
}

/** Whether a text has this format, or the format is unknown here. */
export function hasFormat(format: string, text: string): boolean {
  const known = formats.get(format)
  if (known === undefined) return true
  return (text.length <= longest || format.startsWith('base64')) && known.safeParse(text).success
}
