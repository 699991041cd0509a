/** The frame of an interruption's card: who asks, the addressee, the expiry. */
import type { Interruption } from '@witan/protocol'
import { shownText } from '@witan/protocol/shown'
import { type FormEvent, type ReactNode, useId } from 'react'
import { callerText } from '../state/caller.ts'
import { ProblemNote } from './note.tsx'
import { StateMark } from './state-mark.tsx'

interface CardProps {
  readonly of: Interruption
  readonly title: string
  /** What the person is to do, after the title. */
  readonly says: string
  readonly error: unknown
  readonly buttons: ReactNode
  readonly children: ReactNode
  readonly onSubmit: () => void
}

/** A form; Enter in a line of text submits it. */
export function Card({ of, title, says, error, buttons, children, onSubmit }: CardProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onSubmit()
  }
  return (
    <form onSubmit={submit} data-testid={of.kind} className="rounded-md border border-wait-line bg-panel">
      <header className="flex flex-wrap items-center gap-x-2 rounded-t-[5px] border-b border-wait-line bg-wait-soft px-3 py-2">
        <StateMark state="waiting" />
        <h2 className="line-clamp-3 min-w-0 break-words font-semibold" title={title}>
          {shownText(title)}
        </h2>
        <span className="text-wait">{says}</span>
        <span className="line-clamp-4 basis-full break-all font-mono text-xs text-muted">
          {shownText(of.path)}
          {of.caller !== undefined && ` · called by ${callerText(of.caller)}`}
          {of.addressee !== null && ` · for ${of.addressee}`}
          {of.expiresAt !== null && ` · until ${new Date(of.expiresAt).toLocaleString()}`}
        </span>
      </header>
      <div className="space-y-3 p-3">
        {children}
        {error !== null && <ProblemNote error={error} />}
        <div className="flex flex-wrap gap-2">{buttons}</div>
      </div>
    </form>
  )
}

interface FieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly rows?: number
  readonly placeholder?: string
  readonly problem?: string | null
  /** Code: a fixed width and no spelling. */
  readonly code?: boolean
}

/** A labelled place for text, with what is wrong with it below. */
export function Field({
  label,
  value,
  onChange,
  rows = 3,
  placeholder = '',
  problem = null,
  code = false,
}: FieldProps) {
  const id = useId()
  return (
    <div>
      <label htmlFor={id} className="label">
        {label}
      </label>
      <textarea
        id={id}
        className={`field mt-1 ${code ? 'font-mono' : ''}`}
        rows={rows}
        spellCheck={!code}
        placeholder={placeholder}
        value={value}
        aria-invalid={problem !== null}
        aria-describedby={`${id}-problem`}
        onChange={(event) => onChange(event.target.value)}
      />
      <p id={`${id}-problem`} className="text-fail">
        {problem}
      </p>
    </div>
  )
}
