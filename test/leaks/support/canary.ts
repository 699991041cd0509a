/** Values that are recognised wherever they turn up, and every form that a careless part of the runtime might give them. */
import { createHash } from 'node:crypto'
import { createMatcher, type Matcher } from './matcher.ts'

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'

/** 32 characters of base 32 that belong to `id` alone: the same on every run. */
function coreOf(id: string): string {
  return [...createHash('sha256').update(id).digest()].map((byte) => alphabet[byte % 32]).join('')
}

/** The value with this id; an id is small letters and digits. */
export function canary(id: string): string {
  return `cny_${id}_${coreOf(id)}`
}

/** What a hostile tool does to a value before it gives it back. */
export const encodings: Readonly<Record<string, (text: string) => string>> = {
  raw: (text) => text,
  upper: (text) => text.toUpperCase(),
  reversed: (text) => [...text].reverse().join(''),
  hex: (text) => Buffer.from(text).toString('hex'),
  'base64 at 0': (text) => Buffer.from(text).toString('base64'),
  'base64 at 1': (text) => Buffer.from(`>${text}<`).toString('base64'),
  'base64 at 2': (text) => Buffer.from(`>>${text}<<`).toString('base64'),
  base64url: (text) => Buffer.from(`??${text}??`).toString('base64url'),
  url: (text) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase()}`).join(''),
  json: (text) => [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  html: (text) => [...text].map((one) => `&#${one.charCodeAt(0)};`).join(''),
  'html hex': (text) => [...text].map((one) => `&#x${one.charCodeAt(0).toString(16)};`).join(''),
  'zero-width': (text) => [...text].join('\u200b'),
}

/** Finds canaries in a text. It is read without format characters and in small letters, so that neither can hide one. */
type Scanner = (text: string) => ReadonlySet<string>

/** A scanner for the canaries with these ids; it gives `id as form`. */
export function scannerOf(ids: readonly string[]): Scanner {
  const match: Matcher = createMatcher(ids.flatMap((id) => formsOf(id)))
  return (text) => match(text.replace(/\p{Cf}/gu, '').toLowerCase())
}

function formsOf(id: string): readonly (readonly [string, string])[] {
  const core = coreOf(id)
  const whole = ['raw', 'reversed', 'hex', 'url', 'json', 'html', 'html hex'].map(
    (form) => [form, encodings[form]?.(core) ?? core] as const,
  )
  const base64 = [0, 1, 2].map((lead) => [`base64 at ${lead}`, base64Core(core, lead)] as const)
  return [...whole, ...base64].map(([form, text]) => [`${id} as ${form}`, text.toLowerCase()] as const)
}

/** The characters of the base 64 of a text that do not depend on what stands before or behind it. */
function base64Core(text: string, lead: number): string {
  const encoded = Buffer.from('\0'.repeat(lead) + text)
    .toString('base64')
    .replace(/=+$/, '')
  const clean = (lead + text.length) % 3 === 0
  return encoded.slice(Math.ceil((lead * 4) / 3), clean ? undefined : -1)
}
