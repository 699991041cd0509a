/** What is wrong with a URL of another server, or with the document behind it. */
import { WitanError } from '@witan/protocol'

const shown = (url: string) => url.replace(/[^\x21-\x7e]/g, '?').slice(0, 200)

/** It is none that may be asked. */
export function notReached(url: string, why: string): WitanError {
  const hint =
    'Only HTTPS to public addresses is reached; federation.resolve names exceptions for tests and private networks.'
  return new WitanError('URL_NOT_PUBLIC', `\`${shown(url)}\` ${why}.`, { hint })
}

/** It gave no document. `again`: the request cannot have arrived, or may be taken later. */
export function unreachable(url: string, why: string, again = false): WitanError {
  const hint = 'Look at the address, and whether that server runs; then try again.'
  return new WitanError('REMOTE_UNREACHABLE', `\`${shown(url)}\` cannot be reached: ${why}.`, {
    hint,
    details: { again },
  })
}

/** Its document is none that is understood. */
export function unusable(url: string, why: string): WitanError {
  const hint = 'The operator of that server mends it.'
  return new WitanError('REMOTE_CARD_INVALID', `\`${shown(url)}\` cannot be used: ${why}.`, { hint })
}
