/** Ends a stream whose caller is let in no more. */
import { isWitanError } from '@witan/protocol'
import type { Auth } from './auth.ts'
import type { Asking } from './host.ts'

/** An open stream: who asked for it, and how it was let in. */
export interface Admitted {
  readonly auth: Auth
  readonly request: Request
  readonly asking: Asking
}

/**
 * Checks the caller of an open stream again and again. The signal aborts with `stop`, and when the check refuses: the key was revoked,
 * or it or the token has expired. A store that does not answer ends no stream. Call `end` when the stream is over.
 */
export function whileAdmitted(
  { auth, request, asking }: Admitted,
  stop: AbortSignal,
): { readonly signal: AbortSignal; end(): void } {
  if (auth.recheckMs === null) return { signal: stop, end: () => undefined }
  const over = new AbortController()
  const abort = (): void => over.abort()
  let isChecking = false
  const timer = setInterval(() => {
    if (isChecking) return
    isChecking = true
    auth
      .check(request, asking)
      .catch((error: unknown) => {
        if (isWitanError(error) && error.code === 'UNAUTHENTICATED') abort()
      })
      .finally(() => {
        isChecking = false
      })
  }, auth.recheckMs).unref()
  stop.addEventListener('abort', abort)
  if (stop.aborted) abort()
  return {
    signal: over.signal,
    end() {
      clearInterval(timer)
      stop.removeEventListener('abort', abort)
    },
  }
}
