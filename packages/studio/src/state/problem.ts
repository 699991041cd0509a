/** An error as the Studio shows it: what happened, its code, and what to do next. */

/** The three lines of an error note. */
interface ShownProblem {
  readonly code: string
  readonly detail: string
  readonly hint: string
}

const unreachable = 'UNREACHABLE'

/** Reads any value that was thrown or stands in an event; what has a code has its detail and hint, everything else is shown as a lost connection. */
export function shownProblem(error: unknown): ShownProblem {
  const fields = typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {}
  const detail = textOf(fields.detail) ?? textOf(fields.message) ?? (typeof error === 'string' ? error : '')
  const code = fields.code
  if (typeof code === 'string')
    return {
      code,
      detail: detail || 'It failed, and nothing says why.',
      hint: typeof fields.hint === 'string' ? fields.hint : hintFor(code),
    }
  return {
    code: unreachable,
    detail: detail || 'The server gave no answer.',
    hint: 'Check that the server is running, then try again.',
  }
}

/** What stopped a page: an answer of the server with its own code, or else an error of the page itself, of which the server knows nothing. */
export function pageProblem(error: unknown): ShownProblem {
  const shown = shownProblem(error)
  if (shown.code !== unreachable || isLost(error)) return shown
  const words = error instanceof Error || typeof error === 'string' ? shown.detail : 'nothing says why.'
  return {
    code: 'PAGE_FAILED',
    detail: `An error in the Studio stopped this page: ${words}`,
    hint: 'Runs go on, and nothing is lost. Try again or go to another page. If it fails again, report this text with the address of the page.',
  }
}

/** What `fetch` throws where no answer came; every browser words it in its own way. */
function isLost(error: unknown): boolean {
  return error instanceof TypeError && /fetch|network|load failed/i.test(error.message)
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** The event of a failed run has only a code and a detail; the hints are here. */
const hints: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: 'Open the address that the server printed when it started.',
  NOT_FOUND: 'It may have been deleted, or belong to another user. Go back to the list.',
  MODEL_CALL_FAILED: 'Check the connection of the model, then send the message again.',
  MODEL_REPLY_INVALID: 'Simplify the answer that is asked for, or give the agent another model.',
  MODEL_UNKNOWN: 'Configure the model, or its connection, where the server runs.',
  MISSING_AGENT_PARAMETER: 'Start a new conversation and give it there: this one keeps the values it was started with.',
  BUDGET_EXCEEDED: 'Look in the tree for what repeats, or raise the limit that the text names.',
  RUN_QUARANTINED: 'Look at its last calls in the tree: it took the server down again and again.',
}

function hintFor(code: string): string {
  return Object.hasOwn(hints, code) ? (hints[code] ?? '') : 'Try again; the log of the server has more.'
}
