/** Which media types a caller takes for an answer. */
import { A2aError } from './a2a-error.ts'

/** Which parts of an answer a caller takes: at least one of them. */
export interface AnswerModes {
  readonly text: boolean
  readonly data: boolean
}

export const anyModes: AnswerModes = { text: true, data: true }

const mostModes = 100

/**
 * Reads the media types that a caller takes, such as `text/plain` and `text/*`; without any it takes all. Throws `INVALID_PARAMS`, and
 * `CONTENT_TYPE_NOT_SUPPORTED` if an answer can have none of them.
 */
export function readModes(given: unknown): AnswerModes {
  const list: readonly unknown[] | null = Array.isArray(given) ? given : (given ?? null) === null ? [] : null
  if (list === null || list.length > mostModes || !list.every((one) => typeof one === 'string' && one.length <= 200))
    throw new A2aError(
      'INVALID_PARAMS',
      `\`configuration.acceptedOutputModes\` must be a list of at most ${mostModes} media types.`,
    )
  if (list.length === 0) return anyModes
  const takes = (type: string, family: string): boolean =>
    list.some((one) => ['*/*', family, type].includes(mediaTypeOf(one as string)))
  const modes = { text: takes('text/plain', 'text/*'), data: takes('application/json', 'application/*') }
  if (modes.text || modes.data) return modes
  throw new A2aError(
    'CONTENT_TYPE_NOT_SUPPORTED',
    'Answers are text/plain or application/json, and `configuration.acceptedOutputModes` names neither.',
  )
}

function mediaTypeOf(text: string): string {
  return (text.split(';', 1)[0] ?? '').trim().toLowerCase()
}
