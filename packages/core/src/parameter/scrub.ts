/** Scrubbing by value: what a model must not see is taken out of every text on its way to it, in every form it may have [D15, C17]. */
import type { Parameter } from '@witan/protocol'
import type { Bound } from './parameter.ts'
import { isShown } from './visibility.ts'

/** Takes secrets out of a text; null where there are none. */
export type Scrubber = ((text: string) => string) | null

/** What stands in place of a secret. */
export const scrubbed = '[hidden]'

/** Shorter values would mangle ordinary text; they are hidden by construction only. */
const shortest = 4

/** The scrubber of an agent: values that are secret, or hidden from it and forbidden to models. */
export function scrubberOf(declared: readonly Parameter[], bound: Bound): Scrubber {
  return scrubberFor(
    declared.filter(
      (parameter) => parameter.secret || (!isShown(parameter, bound) && parameter.policy === 'forbidModelGeneration'),
    ),
    bound,
  )
}

/** The scrubber of what others said, where an agent reads it: every value that is secret or hidden from it. */
export function overhearingScrubber(declared: readonly Parameter[], bound: Bound): Scrubber {
  return scrubberFor(
    declared.filter((parameter) => parameter.secret || !isShown(parameter, bound)),
    bound,
  )
}

function scrubberFor(hidden: readonly Parameter[], bound: Bound): Scrubber {
  const forms = new Set<string>()
  for (const parameter of hidden) {
    const value = bound.get(parameter.name)?.box.reveal()
    for (const text of textsOf(value)) for (const form of formsOf(text)) forms.add(form)
  }
  if (forms.size === 0) return null
  const longestFirst = [...forms].sort((a, b) => b.length - a.length)
  const pattern = new RegExp(longestFirst.map(escapePattern).join('|'), 'gi')
  return (text) => text.replace(pattern, scrubbed)
}

function textsOf(value: unknown): string[] {
  const all = Array.isArray(value) ? value : [value]
  return all
    .filter((one) => typeof one === 'string' || typeof one === 'number')
    .map(String)
    .filter((text) => text.length >= shortest)
}

/** The value as it is, and as JSON, URLs, base64, hex and mirrors would carry it. Case is ignored when they are looked for. */
function formsOf(text: string): string[] {
  const bytes = Buffer.from(text, 'utf8')
  const json = JSON.stringify(text).slice(1, -1)
  return [
    text,
    json,
    JSON.stringify(json).slice(1, -1),
    encodeURIComponent(text),
    bytes.toString('hex'),
    [...text].reverse().join(''),
    ...base64Forms(bytes),
  ].filter((form) => form.length >= shortest)
}

/** Base64 of the value at each of the three places it can start within a longer text, without what its neighbours decide. */
function base64Forms(bytes: Buffer): string[] {
  const forms: string[] = []
  for (const lead of [0, 1, 2]) {
    const whole = Buffer.concat([Buffer.alloc(lead), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const from = Math.ceil((lead * 4) / 3)
    const upTo = whole.length - ((lead + bytes.length) % 3 === 0 ? 0 : 1)
    const core = whole.slice(from, upTo)
    if (core.length >= shortest * 1.5) forms.push(core, core.replaceAll('+', '-').replaceAll('/', '_'))
  }
  return forms
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
