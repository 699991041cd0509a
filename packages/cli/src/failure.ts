/** Errors as people read them: what happened, where, and what to do next. The stack only with WITAN_LOG_LEVEL=debug. */
import { StartError, UsageError } from './exit.ts'
import { asCommand } from './hints.ts'
import type { Terminal } from './terminal.ts'
import { painter, print } from './terminal.ts'
import { printable } from './tree/width.ts'

interface Described {
  readonly code: string
  readonly detail: string
  readonly path: string | null
  readonly hint: string | null
}

/** Prints an error on standard error. */
export function printFailure(terminal: Terminal, error: unknown): void {
  const shown = error instanceof StartError ? error.cause : error
  const { code, detail, path, hint } = describe(shown)
  const paint = painter(terminal, terminal.errors)
  const place = path === null || path === '' || detail.includes(path) ? '' : ` (${path})`
  print(
    terminal.errors,
    paint([
      { text: code, tone: 'bad' },
      { text: `  ${printable(detail)}${place}`, tone: 'plain' },
    ]),
  )
  if (hint !== null) print(terminal.errors, paint([{ text: `→ ${printable(asCommand(hint))}`, tone: 'faint' }]))
  if (terminal.environment.WITAN_LOG_LEVEL === 'debug' && shown instanceof Error) {
    print(terminal.errors, shown.stack ?? shown.message)
  }
}

/** Any thrown value as code, detail and hint. `WitanError`, `ClientError` and problems share these names. */
export function describe(error: unknown): Described {
  if (typeof error !== 'object' || error === null)
    return { code: 'ERROR', detail: String(error), path: null, hint: null }
  const fields = error as Partial<Record<'code' | 'detail' | 'message' | 'path' | 'hint', unknown>>
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null)
  const detail = text(fields.detail) ?? text(fields.message) ?? 'An error without words.'
  if (error instanceof UsageError) return { code: 'USAGE', detail, path: null, hint: error.hint }
  return { code: text(fields.code) ?? 'ERROR', detail, path: text(fields.path), hint: text(fields.hint) }
}
