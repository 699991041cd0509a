/** Takes request bodies in: as plain JSON, and validated against their schemas. */
import { type ErrorCode, type RunRequest, WitanError } from '@witan/protocol'
import { isChecked, isParsed, maxJsonDepth, maxJsonSize } from '@witan/protocol/schemas'
import type { z } from 'zod'
import { nearest } from '../identity/nearest.ts'
import { runWithoutPause } from '../identity/pausable.ts'
import { NotPlain, type PlainCopy, plainCopy } from '../identity/plain.ts'
import { reasonOf } from '../tool/outcome.ts'

/** No more values than a body has that comes to a server. */
const bodyLimits = {
  characters: Number.POSITIVE_INFINITY,
  values: maxJsonSize.values,
  isStrict: true,
  whole: 'parameters',
} as const

/**
 * A body as plain JSON, as it is now: what its sender changes later changes nothing here. Throws `BODY_INVALID` for what JSON cannot hold,
 * `JSON_TOO_DEEP` for what nests deeper than JSON may, and `BODY_TOO_LARGE`.
 */
export function plainBody(body: unknown): unknown {
  if (isParsed(body)) return body
  // Most bodies are an object of texts and the like.
  const own = isPlainObject(body) ? { ...body } : body
  if (own !== body && isFlat(own as Record<string, unknown>)) return own
  const { value, isWhole, depth } = copied(own)
  if (!isWhole)
    throw new WitanError('BODY_TOO_LARGE', `The body has more than ${bodyLimits.values} values.`, {
      hint: 'Send less.',
    })
  if (depth > maxJsonDepth) throw tooDeep()
  return value
}

function isPlainObject(body: unknown): body is object {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false
  return Object.getPrototypeOf(body) === Object.prototype
}

function isFlat(own: Readonly<Record<string, unknown>>): boolean {
  for (const name in own) {
    const value = own[name]
    if (typeof value !== 'string' && typeof value !== 'boolean' && value !== null) return false
  }
  return true
}

function copied(body: unknown): PlainCopy {
  try {
    return runWithoutPause(plainCopy(body, bodyLimits))
  } catch (error) {
    if (error instanceof NotPlain && error.isCircle) throw tooDeep()
    const path = error instanceof NotPlain ? error.path.slice(0, 200) : ''
    const why = `\`${path || 'body'}\` is not JSON: ${reasonOf(error, 'it cannot be read')}.`
    throw new WitanError(path.startsWith('parameters.') ? 'PARAM_TYPE' : codeAt(path), why, {
      path,
      hint: 'Send objects, lists, texts, finite numbers, booleans and null.',
    })
  }
}

function codeAt(path: string): ErrorCode {
  return /(^|\.)max[A-Z]/.test(path) ? 'LIMIT_INVALID' : 'BODY_INVALID'
}

function tooDeep(): WitanError {
  const detail = `The body is nested deeper than ${maxJsonDepth}, or contains itself.`
  return new WitanError('JSON_TOO_DEEP', detail, { hint: 'Flatten the value.' })
}

/** Parses a body once. The first issue becomes an error with its path and the nearest known key. */
export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  if (isChecked(schema, body)) return body
  const parsed = schema.safeParse(plainBody(body))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0] as z.core.$ZodIssue
  const path = issue.path.join('.')
  if (issue.code !== 'unrecognized_keys') {
    throw new WitanError(codeAt(path), `\`${path || 'body'}\` is not valid: ${issue.message}.`, {
      path,
      hint: 'The types of `@witan/core` describe the valid values.',
    })
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
