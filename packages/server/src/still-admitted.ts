/** Ends a stream whose caller is let in no more, and refuses the late reply of a request. */
import { isWitanError } from '@witan/protocol'
import type { Auth } from './auth.ts'
import type { RequestOrigin } from './host.ts'

/** An open stream: who asked for it, and how it was let in. */
interface Admitted {
  readonly auth: Pick<Auth, 'check' | 'recheckMs'>
  readonly request: Request
  readonly requestOrigin: RequestOrigin
}

/** A watch on the caller of one stream. */
interface Watch {
  /** Aborts when the server stops, and when the caller is let in no more. */
  readonly signal: AbortSignal
  /** The stream is read: a reply to `HEAD` never is. */
  begin(): void
  /** The stream is over. */
  end(): void
}

/**
 * Checks the caller of an open stream again and again. The signal aborts with `stop`, and when the check refuses: the key was revoked,
 * or it or the token has expired. A store that does not answer ends no stream.
 */
export function whileAdmitted({ auth, request, requestOrigin }: Admitted, stop: AbortSignal): Watch {
  const { recheckMs } = auth
  if (recheckMs === null) return { signal: stop, begin: () => undefined, end: () => undefined }
  const over = new AbortController()
  const abort = (): void => over.abort()
  let isChecking = false
  let timer: NodeJS.Timeout | undefined
  const check = async (): Promise<void> => {
    if (isChecking) return
    isChecking = true
    try {
      await auth.check(request, requestOrigin)
    } catch (error) {
      if (isOut(error)) abort()
    }
    isChecking = false
  }
  return {
    signal: over.signal,
    begin() {
      timer ??= setInterval(() => void check(), recheckMs).unref()
      stop.addEventListener('abort', abort)
      if (stop.aborted) abort()
    },
    end() {
      clearInterval(timer)
      stop.removeEventListener('abort', abort)
    },
  }
}

/**
 * Checks the caller of a request again before its reply, if that took longer than streams go on unchecked. `since` is when the caller was
 * checked, as `performance.now()` gives it. Throws what the check throws; a store that does not answer refuses no reply.
 */
export async function refuseLate({ auth, request, requestOrigin }: Admitted, since: number): Promise<void> {
  if (auth.recheckMs === null || performance.now() - since < auth.recheckMs) return
  await auth.check(request, requestOrigin).catch((error: unknown) => {
    if (isOut(error)) throw error
  })
}

/**
 * The reply of a request, or `UNAUTHENTICATED` as soon as the caller is let in no more: a reply may wait for a run as long as a stream. The work
 * itself goes on. A request that ends before the first check costs one timer.
 */
export async function replyWhileAdmitted<Reply>(admitted: Admitted, work: Promise<Reply>): Promise<Reply> {
  const { recheckMs } = admitted.auth
  if (recheckMs === null) return work
  const { promise: out, reject } = Promise.withResolvers<never>()
  work.catch(() => undefined) // after a refusal nobody waits for it
  const check = ({ auth, request, requestOrigin }: Admitted): Promise<unknown> =>
    auth.check(request, requestOrigin).catch((error: unknown) => {
      if (isOut(error)) reject(error)
    })
  const timer = setInterval(() => void check(admitted), recheckMs).unref()
  try {
    return await Promise.race([work, out])
  } finally {
    clearInterval(timer)
  }
}

/** `NOT_FOUND`: the agent that the caller asked lets it in no more. */
function isOut(error: unknown): boolean {
  return isWitanError(error) && (error.code === 'UNAUTHENTICATED' || error.code === 'NOT_FOUND')
}
