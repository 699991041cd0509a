/** What checks, such as hooks, have decided as the log has it. */

/** What checks have decided of a tool call. */
export interface CheckedTool {
  /** The arguments as a hook wrote them, as JSON text. */
  arguments?: string
  /** Why it does not run. */
  refused?: string
  /** What they made of its result: another one, or why there is none. */
  result?: { readonly written?: unknown; readonly refused?: string }
}

/** What checks have decided of a call. */
export interface Checked {
  /** Whether its beginning is decided. */
  isOpen: boolean
  /** Whether its next request is decided: true from a hook's entry to the reply. */
  isRequest: boolean
  /** How many replies in a row were refused. */
  refusals: number
}
