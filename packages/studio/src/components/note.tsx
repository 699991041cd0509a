/** Notes in the page: errors with code and hint, empty places that say what to do, and what is being loaded. */
import type { ReactNode } from 'react'
import { shownProblem } from '../state/problem.ts'
import { Button } from './button.tsx'

/** An error: what happened, its code, what to do next. */
export function ProblemNote({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const { code, detail, hint } = shownProblem(error)
  return (
    <div
      role="alert"
      className="flex flex-wrap items-start gap-x-4 gap-y-2 rounded-md border border-fail-line bg-fail-soft p-3"
    >
      <div className="min-w-0 flex-1 basis-56">
        <p className="break-words font-medium text-fail">{detail}</p>
        <p className="mt-0.5 break-words">{hint}</p>
        <p className="mt-1 font-mono text-xs text-muted">{code}</p>
      </div>
      {onRetry !== undefined && <Button onClick={onRetry}>Try again</Button>}
    </div>
  )
}

/** An empty place: what belongs here, and how it gets here. */
export function EmptyNote({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className="mx-auto max-w-md px-6 py-12 text-center">
      <p className="text-base font-semibold">{title}</p>
      <div className="mt-1.5 text-pretty text-muted">{children}</div>
    </div>
  )
}

/** Something is on its way. */
export function LoadingNote({ what }: { readonly what: string }) {
  return (
    <p role="status" className="px-4 py-6 text-muted">
      Loading {what} …
    </p>
  )
}
