/** Words of a person as an answer to what waits. */
import type { InterruptionAnswer } from '@witan/client'
import type { Question } from '@witan/protocol'
import { parseExact } from '@witan/protocol/digits'

/** Text or JSON; a leading `!` is the reason why there is none; an empty line is no answer. */
export function actionAnswer(said: string): InterruptionAnswer | null {
  const text = said.trim()
  if (text === '') return null
  if (text.startsWith('!')) return { error: text.slice(1).trim() || 'Refused at the terminal.' }
  return { answer: textOrJson(text) }
}

/** `y` approves, `n` or `!reason` denies, a JSON object approves with those arguments instead; an empty line is no answer, and anything else is not understood. */
export function approvalAnswer(said: string): InterruptionAnswer | null | undefined {
  const text = said.trim()
  if (text === '') return null
  if (/^(?:y|yes)$/i.test(text)) return { answer: { decision: 'approved' } }
  if (/^(?:n|no)$/i.test(text)) return { answer: { decision: 'denied' } }
  if (text.startsWith('!')) return { answer: { decision: 'denied', reason: text.slice(1).trim() } }
  const args = textOrJson(text)
  return typeof args === 'object' && args !== null ? { answer: { decision: 'approved', arguments: args } } : undefined
}

/** `y` accepts, `n` declines, a JSON object is the resolution; an empty line is no answer, and anything else is not understood. */
export function policyAnswer(said: string): InterruptionAnswer | null | undefined {
  const text = said.trim()
  if (text === '') return null
  if (/^(?:y|yes)$/i.test(text)) return { answer: { resolution: {} } }
  if (/^(?:n|no)$/i.test(text)) return { answer: { decision: 'declined' } }
  const resolution = textOrJson(text)
  return typeof resolution === 'object' && resolution !== null ? { answer: { resolution } } : undefined
}

/** What was chosen and written for one question. */
export interface Choice {
  readonly options?: readonly string[]
  readonly text?: string
}

/** Options by number, id or label, several with commas; where text is allowed, anything else is text. Undefined: not understood; an empty one chooses nothing. */
export function questionChoice({ options, multiple, freeText }: Question, said: string): Choice | undefined {
  const text = said.trim()
  if (text === '') return {}
  const words = multiple ? text.split(',').map((word) => word.trim()) : [text]
  const chosen = words.map((word) => {
    const byNumber = /^\d+$/.test(word) ? options[Number(word) - 1] : undefined
    const same = (one: string) => one.toLowerCase() === word.toLowerCase()
    return options.find(({ id }) => same(id)) ?? byNumber ?? options.find(({ label }) => same(label))
  })
  const ids = chosen.flatMap((option) => (option === undefined ? [] : [option.id]))
  if (ids.length === words.length) return { options: ids }
  return freeText ? { text } : undefined
}

/** JSON where it is JSON, else the text itself. */
export function textOrJson(text: string): unknown {
  try {
    return parseExact(text)
  } catch {
    return text
  }
}
