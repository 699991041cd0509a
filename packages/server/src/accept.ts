/** Which form of an answer a client wants: a JSON value, server-sent events, or a page. */

/** Whether the answer is a stream; `otherwise` decides where `Accept` names neither. */
export function wantsStream(headers: Headers, otherwise: 'json' | 'stream'): boolean {
  const accept = headers.get('accept') ?? ''
  if (/\btext\/event-stream\b/i.test(accept)) return true
  if (/\bapplication\/json\b/i.test(accept)) return false
  return otherwise === 'stream'
}

/** True if the request is a page load of a browser; an error is then shown as a page. */
export function wantsPage(headers: Headers): boolean {
  return /\btext\/html\b/i.test(headers.get('accept') ?? '')
}
