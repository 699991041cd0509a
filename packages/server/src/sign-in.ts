/** Signing in and out of the Studio: `POST /sign-in` sets the cookie of a browser, `POST /sign-out` removes it. */
import type { AppOptions } from './app-options.ts'
import { checkOrigin } from './host.ts'
import { WitanError } from '@witan/protocol'

const always = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/**
 * Exchanges the `Authorization` header for a cookie: 204. A page of another site cannot send that header to this server, so it
 * cannot sign a browser in as somebody else. Throws `UNAUTHENTICATED` and `HOST_NOT_ALLOWED`.
 */
export async function signIn(request: Request, options: AppOptions): Promise<Response> {
  ownPageOnly(request, options)
  const cookie = await options.auth.signIn(request)
  return new Response(null, {
    status: 204,
    headers: { ...always, ...(cookie === null ? {} : { 'set-cookie': cookie }) },
  })
}

/** Removes the cookie: 204. Throws `HOST_NOT_ALLOWED`. */
export function signOut(request: Request, options: AppOptions): Response {
  ownPageOnly(request, options)
  return new Response(null, { status: 204, headers: { ...always, 'set-cookie': options.auth.signOut() } })
}

/** The cookie is for our own pages: pages of a listed origin send the header with every request. */
function ownPageOnly(request: Request, { hosts }: AppOptions): void {
  if (checkOrigin(request, hosts) === 'own') return
  throw new WitanError('HOST_NOT_ALLOWED', 'Only pages of this server sign in with a cookie.', {
    hint: 'Send `Authorization: Bearer …` with every request.',
  })
}
