/** How each binding writes its answers, and the headers that both have. */
import { answerType, restError, restInternal } from './http-json.ts'
import { rpcError, rpcFrame, rpcInternal, rpcResult, type RpcId } from './json-rpc.ts'
import type { StreamFrame } from './wire.ts'

/** How a binding answers one request. */
export interface Binding {
  readonly result: (value: unknown) => Response
  /** Null for an error that HTTP answers. */
  readonly error: (error: unknown) => Response | null
  readonly internal: () => Response
  readonly frame: (frame: StreamFrame) => string
}

/** The extensions that this server knows. */
export const extensions: readonly string[] = [
  'https://mentionable.dev/ns/normalized-message/v0.1',
  'https://mentionable.dev/ns/identity/v0.1',
  'https://mentionable.dev/ns/policy/v0.1',
  'https://witan.dev/ns/a2a/idempotent/v1',
]

/** Answers in JSON-RPC, for the request with this id. */
export function rpcBinding(id: RpcId, request: Request): Binding {
  const json = (body: object): Response => jsonResponse(body, { status: 200, type: 'application/json', request })
  return {
    result: (value) => json(rpcResult(id, value)),
    error: (error) => {
      const body = rpcError(id, error)
      return body === null ? null : json(body)
    },
    internal: () => json(rpcInternal(id)),
    frame: (frame) => rpcFrame(id, frame),
  }
}

/** Answers in HTTP+JSON. */
export function restBinding(request: Request): Binding {
  const type = answerType(request.headers)
  const json = (body: unknown, status = 200): Response => jsonResponse(body, { status, type, request })
  return {
    result: (value) => json(value),
    error: (error) => {
      const sent = restError(error)
      return sent === null ? null : json(sent.body, sent.status)
    },
    internal: () => json(restInternal().body, 500),
    frame: (frame) => JSON.stringify(frame),
  }
}

/** The extensions that a request names and this server knows, as a header. */
export function extensionHeader(request: Request): Readonly<Record<string, string>> {
  const named = (request.headers.get('a2a-extensions') ?? '').split(',').map((uri) => uri.trim())
  const known = extensions.filter((uri) => named.includes(uri))
  return known.length === 0 ? {} : { 'a2a-extensions': known.join(', ') }
}

function jsonResponse(
  body: unknown,
  { status, type, request }: { readonly status: number; readonly type: string; readonly request: Request },
): Response {
  const headers = { 'content-type': type, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
  return new Response(JSON.stringify(body), { status, headers: { ...headers, ...extensionHeader(request) } })
}
