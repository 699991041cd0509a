/** What a request gets that was decided on what is no longer stored, and how it is decided again. */
import { WitanError } from '@witan/protocol'

/** Nothing was stored: the log does not have any more what the request was decided on. */
export class WentBackError extends WitanError {
  constructor() {
    super('STORE_UNAVAILABLE', 'What is stored went back, and nothing was stored for this request.', {
      hint: 'Send it again.',
    })
  }
}

/** Does `work`, and does it again if what it was decided on went back. */
export async function decidedAgain<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof WentBackError) return work()
    throw error
  }
}
