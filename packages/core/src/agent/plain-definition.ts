/** Copies a definition as JSON: what its author does to a schema or a sample later changes nothing that is stored. */
import { type ErrorCode, WitanError } from '@witan/protocol'
import type { Pausable } from '../identity/pausable.ts'
import { NotPlain, plainCopy } from '../identity/plain.ts'

const whole = { characters: Number.POSITIVE_INFINITY, values: Number.POSITIVE_INFINITY }

/** A copy, in pieces. Throws, with its path, for what JSON cannot hold. `who` names the definition. */
export function* plainDefinition<Data>(data: Data, who: string, code: ErrorCode = 'AGENT_INVALID'): Pausable<Data> {
  try {
    return (yield* plainCopy(data, whole)).value as Data
  } catch (error) {
    const path = error instanceof NotPlain ? error.path.slice(0, 200) : ''
    const why = error instanceof Error ? error.message : 'it cannot be read'
    throw new WitanError(code, `${who}: \`${path}\` is not JSON: ${why}.`, {
      path,
      hint: 'Write objects, lists, texts, numbers, booleans and null.',
    })
  }
}
