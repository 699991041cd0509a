/** What a caller reads of a child in the end: its answer as it is, all that it said, or both with what went wrong [C13, K20, K21]. */
import type { AgentEndBody, AnswerTerms, Entry, ErrorBody } from '@witan/protocol/entries'

/** What a child has said, and what went wrong in it. Kept only where its caller asks for more than the answer as it is. */
export interface Gathered {
  readonly terms: AnswerTerms
  /** The text of every reply that counts, in order. */
  readonly texts: string[]
  /** How its own tool calls and children failed. */
  readonly errors: string[]
}

/** An empty collection, or null where the answer as it is will do. */
export function gather(terms: AnswerTerms | undefined): Gathered | null {
  return terms === undefined ? null : { terms, texts: [], errors: [] }
}

/** Gathers from the log, for a reader that has no fold: `of` are the collections by the child's call. */
export function overhear(of: ReadonlyMap<string, Gathered>, { type, kind, place, body }: Entry): void {
  if (type === 'error') of.get(place.parentCall ?? '')?.errors.push(body.detail)
  else if (type === 'end' && kind === 'model' && body.accepted && body.text !== '')
    of.get(place.call)?.texts.push(body.text)
}

/** The value that the caller reads when the child has ended, well or not. */
export function callersView(body: AgentEndBody | ErrorBody, gathered: Gathered | null): unknown {
  const failure = failureOf(body)
  const last = 'code' in body ? '' : body.text
  const text = gathered?.terms.collect === 'all' ? gathered.texts.join('\n') : last
  if (gathered?.terms.form === 'textAndError')
    return withErrors(text, failure === null ? gathered.errors : [...gathered.errors, failure])
  if (failure !== null) return { error: failure }
  if (gathered?.terms.collect === 'all') return text
  return (body as AgentEndBody).output ?? text
}

/** A call that was stopped has answered nothing: its caller must not read that as an empty answer [D10]. */
function failureOf(body: AgentEndBody | ErrorBody): string | null {
  if ('code' in body) return body.detail
  return body.finishReason === 'cancelled' ? 'The run ended before this was answered.' : null
}

function withErrors(text: string, errors: readonly string[]): { readonly text: string; readonly error?: string } {
  return errors.length === 0 ? { text } : { text, error: [...new Set(errors)].join('\n') }
}
