/** A2A over HTTP+JSON: which method a path and a verb name, and with which parameters. */
import { A2aError, internalError, type SentError, sentError } from './a2a-error.ts'
import { invalid } from './message.ts'
import { isObject } from './wire.ts'

/** A method, and how the rest of a request becomes its parameters. */
export interface RestRoute {
  readonly method: string
  /** Whether the body has them. */
  readonly takesBody: boolean
  /** The id in the path. */
  readonly id: string | null
}

/** The verbs that a path knows, with their methods. `{id}` is one segment without a colon. */
const routes: readonly (readonly [verb: string, path: RegExp, method: string, takesBody: boolean])[] = [
  ['POST', /^message:send$/, 'SendMessage', true],
  ['POST', /^message:stream$/, 'SendStreamingMessage', true],
  ['GET', /^tasks$/, 'ListTasks', false],
  ['GET', /^tasks\/([^/:]+)$/, 'GetTask', false],
  ['POST', /^tasks\/([^/:]+):cancel$/, 'CancelTask', true],
  ['GET', /^tasks\/([^/:]+):subscribe$/, 'SubscribeToTask', false],
  ['POST', /^tasks\/([^/:]+):subscribe$/, 'SubscribeToTask', true],
  ['POST', /^tasks\/([^/:]+)\/pushNotificationConfigs$/, 'CreateTaskPushNotificationConfig', true],
  ['GET', /^tasks\/([^/:]+)\/pushNotificationConfigs$/, 'ListTaskPushNotificationConfigs', false],
  ['GET', /^tasks\/([^/:]+)\/pushNotificationConfigs\/[^/]+$/, 'GetTaskPushNotificationConfig', false],
  ['DELETE', /^tasks\/([^/:]+)\/pushNotificationConfigs\/[^/]+$/, 'DeleteTaskPushNotificationConfig', false],
  ['GET', /^extendedAgentCard$/, 'GetExtendedAgentCard', false],
]

/** The method of a request; undefined if nothing is at its path, and the verbs that are where the verb is another one. */
export function restRoute(verb: string, rest: string): RestRoute | { readonly allow: string } | undefined {
  const fitting = routes.filter(([, path]) => path.test(rest))
  const route = fitting.find(([known]) => known === verb)
  if (route === undefined)
    return fitting.length === 0 ? undefined : { allow: fitting.map(([known]) => known).join(', ') }
  const [, path, method, takesBody] = route
  return { method, takesBody, id: decoded(path.exec(rest)?.[1]) }
}

function decoded(segment: string | undefined): string | null {
  try {
    return segment === undefined ? null : decodeURIComponent(segment)
  } catch {
    return segment ?? null
  }
}

/** The parameters of a request: its body or its query, and the id in its path. */
export function restParams({ takesBody, id }: RestRoute, body: unknown, query: URLSearchParams): object {
  const given = takesBody ? (body ?? {}) : fromQuery(query)
  if (!isObject(given)) throw invalid('The body must be an object')
  return id === null ? given : { ...given, id }
}

/** Numbers and truth values as JSON has them. */
const typed: Readonly<Record<string, 'number' | 'boolean'>> = {
  ...{ pageSize: 'number', page_size: 'number' },
  ...{ historyLength: 'number', history_length: 'number' },
  ...{ includeArtifacts: 'boolean', include_artifacts: 'boolean' },
}

function fromQuery(query: URLSearchParams): Record<string, unknown> {
  const given: Record<string, unknown> = Object.create(null)
  for (const [name, text] of query) given[name] = typedValue(typed[name], text)
  return { ...given }
}

function typedValue(type: 'number' | 'boolean' | undefined, text: string): unknown {
  if (type === 'number') return /^\d{1,15}$/.test(text) ? Number(text) : text
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return text
}

/** The media type of an answer: plain JSON where the request names that. */
export function answerType(headers: Headers): string {
  const named = [headers.get('content-type') ?? '', headers.get('accept') ?? ''].some((one) =>
    /\bapplication\/json\b/i.test(one),
  )
  return named ? 'application/json' : 'application/a2a+json'
}

/** An error as an answer; null for one that is a problem of HTTP. */
export function restError(error: unknown): { readonly status: number; readonly body: object } | null {
  const sent = sentError(error)
  return sent === null ? null : errorOf(sent)
}

/** The answer of a request that broke something here. */
export function restInternal(): { readonly status: number; readonly body: object } {
  return errorOf(internalError())
}

function errorOf({ status, rpc, message, details }: SentError) {
  return { status, body: { error: { code: status, status: rpc, message, details } } }
}

/** The error for a path where there is no method. */
export function noMethod(): A2aError {
  return new A2aError('METHOD_NOT_FOUND', 'There is no such method.')
}
