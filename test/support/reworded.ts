/** Logs whose words are others: no program may read what a notice or an error says, only what it names as fields [O8]. */
import type { ReplaySource } from '@witan/core/export'
import type { Entry } from '@witan/protocol/entries'

/** What was said in a log, and what is said instead. */
export type Words = Map<string, string>

/** The same JSON, in which each `detail` and `hint` of the notices and errors has other words. */
export function rewordedText(json: string, words: Words = new Map()): string {
  return JSON.stringify(reworded(JSON.parse(json), words))
}

/** Codes of errors that say what a model's server or a tool said. */
const given: readonly string[] = [
  'MODEL_CALL_FAILED',
  'MODEL_CONTEXT_EXCEEDED',
  'MEDIA_TYPE_UNSUPPORTED',
  'NOT_FOUND',
  'TOOL_FAILED',
]

/** The same export, with other words. What a model's server or a tool said is quoted in texts: there it has its other words too. */
export function rewordedSource(source: ReplaySource, words: Words = new Map()): ReplaySource {
  const quoted: Words = new Map()
  for (const { type, kind, body } of source.whole.entries)
    if (type === 'error' && kind !== 'agent' && given.includes(body.code))
      quoted.set(body.detail, otherWords(body.detail, words))
  const entries = source.whole.entries.map((entry) => quotedAgain(reworded(entry, words), quoted))
  return { ...source, whole: { ...source.whole, entries } }
}

/** The same text, in which what was said is neither the old words nor the new ones. */
export function unworded(text: string, words: Words): string {
  let left = text
  const pairs = [...words].sort(([a], [b]) => b.length - a.length)
  for (const [index, [old, fresh]] of pairs.entries())
    for (const one of [old, fresh]) left = left.replaceAll(inJson(one), `words ${index}`)
  return left
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function quotedAgain(entry: Entry, quoted: Words): Entry {
  let json = JSON.stringify(entry)
  for (const [old, fresh] of quoted) json = json.replaceAll(inJson(old), fresh)
  return JSON.parse(json) as Entry
}

function reworded<Value>(value: Value, words: Words): Value {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one) => reworded(one, words)) as Value
  const entry = value as { readonly type?: unknown; readonly body?: unknown }
  const isSaid = (entry.type === 'notice' || entry.type === 'error') && typeof entry.body === 'object'
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      isSaid && name === 'body' ? withOthers(one as object, words) : reworded(one, words),
    ]),
  ) as Value
}

function withOthers(body: object, words: Words): object {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      name === 'detail' || name === 'hint' ? otherWords(String(value), words) : value,
    ]),
  )
}

/** Words in which no number, no name and no letter of the old ones stands. */
function otherWords(said: string, words: Words): string {
  const fresh = words.get(said) ?? `ωωω ${'ψ'.repeat(1 + words.size)} ωωω`
  words.set(said, fresh)
  return fresh
}
