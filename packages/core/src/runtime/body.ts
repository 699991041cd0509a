/** Validates request bodies against their schemas. */
import { type RunRequest, WitanError } from '@witan/protocol'
import { isChecked, isTooDeep, maxJsonDepth } from '@witan/protocol/schemas'
import type { z } from 'zod'
import { nearest } from '../agent/nearest.ts'

/** Throws `JSON_TOO_DEEP` for a body that nests deeper than JSON may. */
export function refuseTooDeep(body: unknown): void {
  if (!isTooDeep(body)) return
  const detail = `The body is nested deeper than ${maxJsonDepth}, or contains itself.`
  throw new WitanError('JSON_TOO_DEEP', detail, { hint: 'Flatten the value.' })
}

/** Parses a body once. The first issue becomes an error with its path and the nearest known key. */
export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  if (isChecked(schema, body)) return body
  refuseTooDeep(body)
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0] as z.core.$ZodIssue
  const path = issue.path.join('.')
  if (issue.code !== 'unrecognized_keys') {
    throw new WitanError(
      /(^|\.)max[A-Z]/.test(path) ? 'LIMIT_INVALID' : 'BODY_INVALID',
      `\`${path || 'body'}\` is not valid: ${issue.message}.`,
      {
        path,
        hint: 'The types of `@witan/core` describe the valid values.',
      },
    )
  }
  const key = issue.keys[0] ?? ''
  const known = Object.keys((schema as unknown as { shape?: object }).shape ?? {})
  const near = nearest(key, known)
  throw new WitanError('UNKNOWN_KEY', `Unknown key \`${[...issue.path, key].join('.').slice(0, 200)}\`.`, {
    path: [...issue.path, key].join('.'),
    hint: near === null ? `Known keys: ${known.join(', ')}.` : `Did you mean \`${near}\`?`,
  })
}

/** Refuses a run that has both a prompt and responses, or neither, and artificial actions without a prompt [Rb52]. */
export function refuseMixedInput(
  request: Pick<RunRequest, 'prompt' | 'actionResponses' | 'answers' | 'artificialActions'> &
    Partial<Pick<RunRequest, 'toolMode' | 'author'>>,
): void {
  const { prompt, actionResponses, answers, artificialActions, toolMode = null, author = null } = request
  if (prompt === undefined && artificialActions.length > 0) {
    throw new WitanError('RUN_INPUT_INVALID', '`artificialActions` require a prompt, and there is none.', {
      path: 'artificialActions',
      hint: 'Send a prompt with them: a model answers prompts, not calls.',
    })
  }
  if (prompt === undefined && author !== null) {
    throw new WitanError('RUN_INPUT_INVALID', '`author` requires a prompt: an answer is the principal’s own.', {
      path: 'author',
      hint: 'Leave it out where you answer.',
    })
  }
  if (prompt === undefined && toolMode !== null) {
    throw new WitanError(
      'RUN_INPUT_INVALID',
      '`toolMode` requires a prompt: a run keeps the mode with which it began.',
      {
        path: 'toolMode',
        hint: 'Leave it out where you answer, and send it with the prompt that starts a run.',
      },
    )
  }
  const isResponse = actionResponses.length + answers.length > 0
  if ((prompt === undefined) === isResponse) return
  throw new WitanError(
    'RUN_INPUT_INVALID',
    prompt === undefined
      ? 'A run needs `prompt`, or responses to its open interruptions.'
      : 'Send either `prompt` or responses, not both.',
    { path: 'prompt', hint: 'A prompt starts a run; actionResponses and answers resume the waiting one.' },
  )
}
