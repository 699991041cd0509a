/** A2A over JSON-RPC 2.0. */
import { A2aError, internalError, type SentError, sentError } from './a2a-error.ts'
import { fieldOf, isObject, type StreamFrame } from './wire.ts'

/** The id of a request, which its answer repeats; null where there is none. */
export type RpcId = string | number | null

/** A request, read as far as it makes sense. */
interface RpcRequest {
  readonly id: RpcId
  readonly method: string
  readonly params: unknown
}

/** The id of whatever came, for the error that answers it. */
export function idOf(body: unknown): RpcId {
  const id = fieldOf(body, 'id')
  if (typeof id === 'string') return id.length <= 400 ? id : null
  return typeof id === 'number' && Number.isFinite(id) ? id : null
}

/** Reads a request. Throws `INVALID_REQUEST`. */
export function readRpc(body: unknown): RpcRequest {
  if (!isObject(body))
    throw new A2aError('INVALID_REQUEST', 'A request is one object of JSON-RPC 2.0; there are no batches.')
  const id = idOf(body)
  if (fieldOf(body, 'jsonrpc') !== '2.0') throw new A2aError('INVALID_REQUEST', '`jsonrpc` must be "2.0".')
  if (id === null) throw new A2aError('INVALID_REQUEST', '`id` must be a text or a number.')
  const method = fieldOf(body, 'method')
  if (typeof method !== 'string') throw new A2aError('INVALID_REQUEST', '`method` must be a text.')
  const params = fieldOf(body, 'params') ?? {}
  if (!isObject(params)) throw new A2aError('INVALID_PARAMS', '`params` must be an object.')
  return { id, method, params }
}

/** The result of a request. */
export function rpcResult(id: RpcId, result: unknown): object {
  return { jsonrpc: '2.0', id, result }
}

/** An error as the answer of a request; null for one that HTTP answers. */
export function rpcError(id: RpcId, error: unknown): object | null {
  const sent = sentError(error)
  return sent === null ? null : errorOf(id, sent)
}

/** The answer of a request that broke something here. */
export function rpcInternal(id: RpcId): object {
  return errorOf(id, internalError())
}

function errorOf(id: RpcId, { code, message, details }: SentError): object {
  return { jsonrpc: '2.0', id, error: { code, message, data: details } }
}

/** A frame of a stream. */
export function rpcFrame(id: RpcId, frame: StreamFrame): string {
  return JSON.stringify(rpcResult(id, frame))
}
