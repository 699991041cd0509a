/** Errors as people read them: what happened, where, and what to do next. The stack only with WITAN_LOG_LEVEL=debug. */
import { StartError, UsageError } from './exit.ts'
import { asCommand } from './hints.ts'
import type { Terminal } from './terminal.ts'
import { printProse, printText } from './terminal.ts'
import type { Line } from './tree/lines.ts'

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
  const place = path === null || path === '' || detail.includes(path) ? '' : ` (${path})`
  const said: Line = [
    { text: code, tone: 'bad' },
    { text: `  ${detail}${place}`, tone: 'plain' },
  ]
  printProse(terminal, said, { to: terminal.errors })
  if (hint !== null) {
    const parameter = /^parameters\.([\w-]+)$/.exec(path ?? '')?.[1] ?? 'NAME'
    const next = asCommand(hint).replace('--param NAME=', `--param ${parameter}=`)
    printProse(terminal, [{ text: `→ ${next}`, tone: 'faint' }], { to: terminal.errors })
  }
  if (terminal.environment.WITAN_LOG_LEVEL === 'debug' && shown instanceof Error) {
    printText(terminal, shown.stack ?? shown.message, terminal.errors)
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
