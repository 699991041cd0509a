/** The CORS headers that let pages of listed origins call the API and read its answers. Other origins get none of them. */
import { type HostPolicy, listedOrigin } from './host.ts'

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'].join(', ')
const requestHeaders = 'Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID'
const exposedHeaders = 'ETag, Idempotency-Replayed, Retry-After, X-Request-Id'
const preflightSeconds = '600'

/** True for paths of the API: other origins never get the Studio's pages and files. */
function isApi(path: string): boolean {
  return path.startsWith('/api/') || path === '/healthz' || path === '/readyz'
}

/**
 * The headers that go on every answer to a listed origin, errors and streams included; empty for any other. Cookies are not
 * allowed: a page of another origin sends the token.
 */
export function corsHeaders(request: Request, path: string, policy: HostPolicy): Readonly<Record<string, string>> {
  if (path === '/.well-known/webfinger') return { 'access-control-allow-origin': '*' } // RFC 7033 §5
  const origin = isApi(path) ? listedOrigin(request, policy) : null
  if (origin === null) return {}
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': exposedHeaders, vary: 'Origin' }
}

/** The answer to a preflight request of a listed origin; null for any other request. It needs no token, since browsers send none with it. */
export function preflightAnswer(request: Request, path: string, policy: HostPolicy): Response | null {
  const allowed = isApi(path) ? corsHeaders(request, path, policy) : {}
  const { headers } = request
  if (request.method !== 'OPTIONS' || !headers.has('access-control-request-method')) return null
  if (allowed['access-control-allow-origin'] === undefined) return null
  const isToPrivate = headers.get('access-control-request-private-network') === 'true'
  return new Response(null, {
    status: 204,
    headers: {
      ...allowed,
      'access-control-allow-methods': methods,
      'access-control-allow-headers': requestHeaders,
      'access-control-max-age': preflightSeconds,
      ...(isToPrivate ? { 'access-control-allow-private-network': 'true' } : {}),
    },
  })
}
