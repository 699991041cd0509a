/**
 * What a model's server said, its address among it: for who may read everything. It stands in the entry of the error or notice and in
 * no other: people without that right read the code and a title there, and what is recorded of the error elsewhere has the title.
 */
import { type ErrorCode, errorTable } from './error.ts'

/** Errors and notices whose detail repeats a model's server. */
const titles: Readonly<Record<string, string>> = {
  MODEL_CALL_FAILED: errorTable.MODEL_CALL_FAILED.title,
  MODEL_CONTEXT_EXCEEDED: errorTable.MODEL_CONTEXT_EXCEEDED.title,
  MEDIA_TYPE_UNSUPPORTED: errorTable.MEDIA_TYPE_UNSUPPORTED.title,
  HISTORY_NOT_TRIMMED: 'The history is too long and stays as it is',
  MODEL_FALLBACK: 'Another model was asked',
  MODEL_RETRIED: 'The model was asked again',
  MODEL_WARNING: 'The provider of the model warns',
}

/** An error, a notice, or a problem as a reader without the roles `admin` and `read` gets it: without a provider's words. */
export function withoutProviderWords<One extends { readonly code: ErrorCode | (string & {}); readonly detail: string }>(
  one: One,
): One {
  const title = titleOf(one.code)
  return title === undefined ? one : { ...one, detail: `${title}.` }
}

/** The detail of an error as every other entry repeats it: in answers, results and messages. */
export function plainDetail({ code, detail }: { readonly code: string; readonly detail: string }): string {
  const title = titleOf(code)
  return title === undefined ? detail : `${title}.`
}

/** Whether the detail of an error with this code repeats a model's server. */
export function quotesProvider(code: string): boolean {
  return titleOf(code) !== undefined
}

function titleOf(code: string): string | undefined {
  return Object.hasOwn(titles, code) ? titles[code] : undefined
}
