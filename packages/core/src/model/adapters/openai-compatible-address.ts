/** Where a server of models is, and what every request to it carries. */
import { WitanError } from '@witan/protocol'
import type { Called } from './openai-compatible-error.ts'

/** Where a server is. */
export interface ServerOptions {
  /** The address before `/chat/completions`, such as `http://localhost:11434/v1`. */
  readonly baseUrl: string
  /** Sent as a bearer token; without it no `Authorization` header is sent. It never appears in an error. */
  readonly apiKey?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** One path of a server. */
export interface Server {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly called: Called
}

/** One path of a server. Throws `CONFIG_INVALID` for an address or a header that can never work. */
export function serverAt({ baseUrl, apiKey = '', headers = {} }: ServerOptions, path: string): Server {
  if (!URL.canParse(baseUrl) || !/^https?:/i.test(baseUrl)) {
    // The address is not repeated, because it may hold a password.
    throw new WitanError('CONFIG_INVALID', '`baseUrl` is no http or https address.', {
      path: 'baseUrl',
      hint: 'Write the part before `/chat/completions`, such as `http://127.0.0.1:11434/v1`.',
    })
  }
  const url = new URL(baseUrl)
  if (url.username !== '' || url.password !== '') {
    throw new WitanError('CONFIG_INVALID', 'An address must not hold a user name or password.', { path: 'baseUrl' })
  }
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`
  const secrets = [apiKey, ...Object.values(headers)].filter((secret) => secret.length >= 6)
  const called = { name: `The model server ${url.host}`, secrets }
  return { url, headers: requestHeaders(headers, apiKey), called }
}

/** The headers of every request, each name once and in lower case. */
function requestHeaders(given: Readonly<Record<string, string>>, apiKey: string): Readonly<Record<string, string>> {
  const headers = new Headers({ 'content-type': 'application/json', accept: 'text/event-stream, application/json' })
  const all = apiKey === '' ? given : { authorization: `Bearer ${apiKey}`, ...given }
  for (const [name, value] of Object.entries(all)) {
    try {
      headers.set(name, value)
    } catch {
      // Without a cause: the platform's own message repeats the value.
      const hint = 'Look for a line end or a letter outside Latin-1.'
      throw new WitanError('CONFIG_INVALID', `The value of the header "${name}" cannot be sent.`, {
        path: 'headers',
        hint,
      })
    }
  }
  return Object.fromEntries(headers)
}
