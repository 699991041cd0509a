/** The sign of a state. Each has its own shape and word beside its colour, so that nothing depends on colour alone. */
import type { ReactNode } from 'react'
import type { CallState } from '@witan/client'

const words: Record<CallState, string> = {
  running: 'running',
  waiting: 'waiting',
  completed: 'done',
  failed: 'failed',
  cancelled: 'cancelled',
}

const colours: Record<CallState, string> = {
  running: 'text-accent',
  waiting: 'text-wait',
  completed: 'text-muted',
  failed: 'text-fail',
  cancelled: 'text-muted',
}

const shapes: Record<CallState, ReactNode> = {
  running: (
    <g className="turning">
      <circle cx="8" cy="8" r="5.6" strokeOpacity="0.25" />
      <path d="M8 2.4A5.6 5.6 0 0 1 13.6 8" />
    </g>
  ),
  waiting: (
    <>
      <circle cx="8" cy="8" r="6.6" fill="currentColor" stroke="none" />
      <path d="M6.3 5.8v4.4M9.7 5.8v4.4" stroke="var(--panel)" />
    </>
  ),
  completed: <path d="m3.4 8.6 3 3 6.2-6.8" />,
  failed: (
    <>
      <path d="M5.4 1.8h5.2l3.6 3.6v5.2l-3.6 3.6H5.4l-3.6-3.6V5.4z" fill="currentColor" stroke="none" />
      <path d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4" stroke="var(--panel)" />
    </>
  ),
  cancelled: (
    <>
      <circle cx="8" cy="8" r="5.6" />
      <path d="m4.2 11.8 7.6-7.6" />
    </>
  ),
}

/** Only the sign; a screen reader reads its word. */
export function StateMark({ state }: { readonly state: CallState }) {
  return (
    <svg
      viewBox="0 0 16 16"
      className={`size-4 shrink-0 ${colours[state]}`}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.7"
      strokeLinecap="round"
      role="img"
      aria-label={words[state]}
    >
      {shapes[state]}
    </svg>
  )
}

/** The sign with its word beside it, or with other words for the same state. */
export function StateLabel({ state, words: said }: { readonly state: CallState; readonly words?: string }) {
  return (
    <span className={`inline-flex items-center gap-1.5 text-xs font-semibold ${colours[state]}`}>
      <span aria-hidden="true" className="contents">
        <StateMark state={state} />
      </span>
      {said ?? words[state]}
    </span>
  )
}
