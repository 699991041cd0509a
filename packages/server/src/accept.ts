/** Which of two forms a client wants: one JSON value, or server-sent events. */

/** Whether the answer is a stream; `otherwise` decides where `Accept` names neither. */
export function wantsStream(headers: Headers, otherwise: 'json' | 'stream'): boolean {
  const accept = headers.get('accept') ?? ''
  if (/\btext\/event-stream\b/i.test(accept)) return true
  if (/\bapplication\/json\b/i.test(accept)) return false
  return otherwise === 'stream'
}
