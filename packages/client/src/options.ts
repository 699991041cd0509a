/** Refuses a misspelt option, which would otherwise be ignored silently. */
import { WitanError } from '@witan/protocol'

/** Throws `UNKNOWN_KEY` for the first option that `what` does not have. */
export function refuseUnknown(what: string, given: object, known: readonly string[]): void {
  const key = Object.keys(given).find((one) => !known.includes(one))
  if (key === undefined) return
  throw new WitanError('UNKNOWN_KEY', `\`${key.slice(0, 80)}\` is no option of ${what}.`, {
    path: key.slice(0, 80),
    hint: `Known: ${known.join(', ')}.`,
  })
}
