/** What a model's server said, its address among it: for who may read everything. Others read the code and a title. */
import { type ErrorCode, errorTable } from './error.ts'

/** Errors and notices whose detail repeats a model's server. */
const titles: Readonly<Record<string, string>> = {
  MODEL_CALL_FAILED: errorTable.MODEL_CALL_FAILED.title,
  MODEL_CONTEXT_EXCEEDED: errorTable.MODEL_CONTEXT_EXCEEDED.title,
  MEDIA_TYPE_UNSUPPORTED: errorTable.MEDIA_TYPE_UNSUPPORTED.title,
  MODEL_FALLBACK: 'Another model was asked',
  MODEL_RETRIED: 'The model was asked again',
  MODEL_WARNING: 'The provider of the model warns',
}

/** An error, a notice, or a problem as a reader without the roles `admin` and `read` gets it: without a provider's words. */
export function withoutProviderWords<One extends { readonly code: ErrorCode | (string & {}); readonly detail: string }>(
  one: One,
): One {
  const title = Object.hasOwn(titles, one.code) ? titles[one.code] : undefined
  return title === undefined ? one : { ...one, detail: `${title}.` }
}
