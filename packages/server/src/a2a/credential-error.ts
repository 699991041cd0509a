/** The refusal of a wire credential. */
import { WitanError } from '@witan/protocol'

/** It names no realm, and repeats nothing of the credential. */
export function refused(detail: string): WitanError {
  const hint =
    'Send `Authorization: Bearer …` with an API key of this server, or as an agent with a token that its own server signed for this address and message.'
  return new WitanError('UNAUTHENTICATED', detail, { hint })
}
