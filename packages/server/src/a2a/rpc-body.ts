/** The body of a request of A2A: JSON within the limits of every other body, whose files may make it longer. */
import { WitanError } from '@witan/protocol'
import { type JsonBody, MAX_BODY_BYTES_WITH_FILES, readJsonBody } from '../json-body.ts'
import { fieldOf } from './wire.ts'

/** The media types that the HTTP+JSON binding takes. */
export const a2aTypes = ['application/json', 'application/a2a+json'] as const

/** Reads a body. `messageOf` finds the message in it. Throws as `readJsonBody` does. */
export function readBody(
  request: Request,
  of: { readonly types: readonly string[]; readonly messageOf: (body: unknown) => unknown },
): Promise<JsonBody> {
  const { types, messageOf } = of
  return readJsonBody(request, MAX_BODY_BYTES_WITH_FILES, { types, lengthOfFiles: (body) => lengthOf(messageOf(body)) })
}

/** How long the base64 of the files of a message is. */
function lengthOf(message: unknown): number {
  const parts = fieldOf(message, 'parts')
  let length = 0
  for (const part of Array.isArray(parts) ? parts : []) {
    const raw = fieldOf(part, 'raw')
    if (typeof raw === 'string') length += raw.length
  }
  return length
}

/** True for a body that is no JSON: the protocol itself reports it. */
export function isParseError(error: unknown): error is WitanError {
  return error instanceof WitanError && (error.code === 'JSON_INVALID' || error.code === 'JSON_TOO_DEEP')
}
