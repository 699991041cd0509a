/** One definition of a route: what mounts it, what validates it, and what documents it. */
import type { Witan } from '@witan/core'
import type { Reservation } from '@witan/core/tooling'
import { WitanError } from '@witan/protocol'
import type { z } from 'zod'
import type { EncodedFrame } from './event-frame.ts'
import type { Log } from './log.ts'
import type { Body } from './paced.ts'
import type { StreamEnd } from './sse.ts'

/** What a handler works with. `params` are decoded; `query` and `body` fit the route's schemas. */
export interface Call<Query, Body> {
  readonly witan: Witan
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  /** The query string as it was sent, for a route without a schema of it. */
  readonly search: URLSearchParams
  readonly body: Body
  readonly headers: Headers
  /** Aborts when the client has gone. */
  gone(): AbortSignal
  /** Aborts when the server stops and no longer waits. */
  readonly halt: AbortSignal
  readonly log: Log
  /** What its idempotency key asks for. */
  readonly keyed: Keyed
}

/** `noted`: the run that an earlier request of this key has started, `made`: the conversation that it has made; `note`: the reply that this request is to make, and at which to write down which run it starts. */
export interface Keyed {
  readonly noted?: string
  readonly made?: string
  readonly note?: Reservation
}

/** An answer as JSON (`body` undefined: none), or as a stream of frames. */
export type Reply = JsonReply | StreamReply

/**
 * `bytes` is sent in place of a JSON body; its headers name its type. In chunks they are made as the client takes them. `remembered` is what an idempotency key remembers in place of
 * a body that shows something once.
 */
export interface JsonReply {
  readonly status: number
  readonly body?: unknown
  readonly remembered?: unknown
  readonly bytes?: Body
  readonly headers?: Readonly<Record<string, string>>
}

/** `outcome` is what an idempotency key remembers of it: the JSON that the same request without a stream would have got. */
export interface StreamReply {
  readonly frames: (signal: AbortSignal) => AsyncIterable<EncodedFrame | string>
  readonly onEnd?: (end: StreamEnd) => void
  readonly outcome?: () => Promise<{ readonly status: number; readonly body: unknown }>
}

/** One documented answer; `schema` null is an empty body. */
export interface Answer {
  readonly description: string
  readonly schema: z.ZodType | null
  /** The route may answer with server-sent events instead. */
  readonly stream?: boolean
  /** The answer is bytes of any media type, and no JSON. */
  readonly isBytes?: boolean
}

/** A route. `{name}` in the path is a segment; `{name+}` at its end is the rest with its slashes. */
interface RouteSpec<Query extends z.ZodType, Body extends z.ZodType> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  /** The operation's id in OpenAPI. */
  readonly name: string
  readonly tag: string
  readonly summary: string
  readonly query?: Query
  readonly body?: Body
  /** Documents the body more closely than `body` checks it, where the runtime itself holds it against this schema. */
  readonly bodyDocument?: z.ZodType
  /** Its body may have files, and so be larger. */
  readonly takesFiles?: boolean
  /** Its body has documents, and may be as large, whatever is long in it. */
  readonly takesDocuments?: boolean
  /** An absent body counts as `{}`. */
  readonly bodyOptional?: boolean
  /** The idempotency key that a body, not checked yet, itself brings, and in which field; it goes before the header's. */
  readonly keyOf?: (body: unknown) => { readonly key: string; readonly name: string } | undefined
  /** Takes `If-Match` with an agent's revision. */
  readonly guarded?: boolean
  readonly answers: Readonly<Record<number, Answer>>
  handle(call: Call<z.output<Query>, z.output<Body>>): Promise<Reply>
}

/** A route whose schemas have no separate types any more. */
export type Route = RouteSpec<z.ZodType, z.ZodType>

/** Gives the handler the types of its schemas. */
export function defineRoute<Query extends z.ZodType = z.ZodUndefined, Body extends z.ZodType = z.ZodUndefined>(
  spec: RouteSpec<Query, Body>,
): Route {
  return spec
}

/** A request that is wrong in its query or headers. */
export function badRequest(detail: string, options: { path?: string; hint: string }): WitanError {
  return new WitanError('RUN_INPUT_INVALID', detail, options)
}

/** A parameter of the path; the route's own path guarantees it. */
export function param(call: { readonly params: Readonly<Record<string, string>> }, name: string): string {
  const value = call.params[name]
  if (value === undefined) throw new Error(`the route has no {${name}}`)
  return value
}

/** A conversation's id from a path segment, where its slash may be written `:` . */
export function conversationId(call: { readonly params: Readonly<Record<string, string>> }): string {
  return param(call, 'id').replace(':', '/')
}

/** A document's path, which begins with its conversation's id: with slashes, or the first of them written as in one. */
export function documentPath(call: { readonly params: Readonly<Record<string, string>> }): string {
  return param(call, 'path').replace(':', '/')
}
