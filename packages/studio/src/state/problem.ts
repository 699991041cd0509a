/** An error as the Studio shows it: what happened, its code, and what to do next. */

/** The three lines of an error note. */
export interface ShownProblem {
  readonly code: string
  readonly detail: string
  readonly hint: string
}

/** Reads any thrown value; errors of the client carry code and hint, everything else is told as a lost connection. */
export function shownProblem(error: unknown): ShownProblem {
  const fields = typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {}
  const detail = error instanceof Error ? error.message : String(error)
  const code = fields.code
  if (typeof code === 'string')
    return { code, detail, hint: typeof fields.hint === 'string' ? fields.hint : hintFor(code) }
  return {
    code: 'UNREACHABLE',
    detail: detail || 'The server gave no answer.',
    hint: 'Check that the server is running, then try again.',
  }
}

function hintFor(code: string): string {
  if (code === 'UNAUTHENTICATED') return 'Open the address with the token that the server printed when it started.'
  if (code === 'MODEL_CALL_FAILED') return 'Check the connection of the model, then send the message again.'
  if (code === 'NOT_FOUND') return 'It may have been deleted, or belong to somebody else. Go back to the list.'
  return 'Try again; the log of the server has more.'
}
