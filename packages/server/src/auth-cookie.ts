/** The cookie of a browser that has signed in. */

/** Reads, sets and ends the cookie of one server. Its name has the port, since browsers share cookies between ports. */
interface SignInCookie {
  /** Its value in a request; null without one. */
  read(request: Request): string | null
  /** The `Set-Cookie` header that sets it, `Secure` if the page came over HTTPS. It lives as long as the browser is open. */
  set(value: string, request?: Request): string
  /** The `Set-Cookie` header that removes it. */
  end(): string
}

/** The cookie of the server that listens on this port. */
export function signInCookie(port: () => number): SignInCookie {
  const name = (): string => `witan_${port()}`
  const flags = 'Path=/; HttpOnly; SameSite=Strict'
  return {
    read: ({ headers }) => readCookie(headers.get('cookie') ?? '', name()),
    set(value, request) {
      const isSecure = request?.headers.get('origin')?.startsWith('https:') === true
      return `${name()}=${value}; ${flags}${isSecure ? '; Secure' : ''}`
    },
    end: () => `${name()}=; ${flags}; Max-Age=0`,
  }
}

function readCookie(header: string, name: string): string | null {
  for (const pair of header.split(';')) {
    const [key, value] = pair.split('=', 2)
    if (key?.trim() === name) return value?.trim() ?? null
  }
  return null
}
