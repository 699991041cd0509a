/** A model that obeys whoever gives it an order, wherever the order stands and however it is disguised. */
import type { ModelRequest } from '@witan/core'
import type { Rule, ScriptedCall } from '@witan/core/testing'
import { textOf } from './texts.ts'

/** How an order is written so that a person does not see it. */
export const disguises: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  'unicode tags': (text) => [...text].map((one) => String.fromCodePoint(0xe0000 + one.charCodeAt(0))).join(''),
  'right to left': (text) => `\u202e${[...text].reverse().join('')}\u202c`,
  'zero-width': (text) => [...text].join('\u200b'),
}

const begins = '<<obey '
const ends = ' >>'

/** An order to make these calls, as it may stand in any text. */
export function orderOf(calls: readonly ScriptedCall[]): string {
  return `${begins}${Buffer.from(JSON.stringify(calls)).toString('base64url')}${ends}`
}

/** Obeys the first order in what it reads, once; until then, and after that, it does what `else` says. */
export function obeying(otherwise: Rule): Rule {
  return (request, turn) => {
    const calls = orderIn(request)
    if (calls === null || hasObeyed(request)) return otherwise(request, turn)
    return { text: 'as you say', toolCalls: calls.map((call, index) => ({ ...call, id: `obeyed_${index}` })) }
  }
}

/** Whether the model of this request has carried an order out. */
export function hasObeyed({ messages }: ModelRequest): boolean {
  return messages.some(
    (message) => message.role === 'assistant' && (message.toolCalls ?? []).some(({ id }) => id.startsWith('obeyed_')),
  )
}

function orderIn(request: ModelRequest): readonly ScriptedCall[] | null {
  const text = textOf([request.messages, request.tools])
  const tags = [...text].map(untagged).join('')
  for (const seen of [tags, [...tags].reverse().join('')]) {
    const plain = seen.replace(/\p{Cf}/gu, '')
    const from = plain.indexOf(begins)
    const to = plain.indexOf(ends, from)
    if (from >= 0 && to > from) return read(plain.slice(from + begins.length, to))
  }
  return null
}

function untagged(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return code > 0xe0000 && code < 0xe0080 ? String.fromCharCode(code - 0xe0000) : character
}

function read(base64: string): readonly ScriptedCall[] {
  return JSON.parse(Buffer.from(base64, 'base64url').toString()) as ScriptedCall[]
}
