/** Notes in the page: errors with code and hint, empty places that say what to do, and what is being loaded. */
import { shownText } from '@witan/protocol/shown'
import type { ReactNode } from 'react'
import { comesBack, useConnection } from '../state/connection.ts'
import { shownProblem } from '../state/problem.ts'
import { Button } from './button.tsx'
import { CopyBlock } from './copy-button.tsx'

/** An error: what happened, its code, what to do next. If the page only waits for the server, it says just that. */
export function ProblemNote({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const connection = useConnection()
  if (connection !== 'open' && comesBack(error)) {
    return (
      <p role="status" className="py-2 text-muted">
        Waits for the server, and goes on by itself.
      </p>
    )
  }
  const { code, detail, hint } = shownProblem(error)
  return (
    <div
      role="alert"
      className="flex flex-wrap items-start gap-x-4 gap-y-2 rounded-md border border-fail-line bg-fail-soft p-3"
    >
      <div className="min-w-0 flex-1 basis-56">
        <p className="break-words font-medium text-fail">{shownText(detail)}</p>
        <p className="mt-0.5 break-words">{hint}</p>
        <p className="mt-1 font-mono text-xs text-muted">{code}</p>
      </div>
      {onRetry !== undefined && <Button onClick={onRetry}>Try again</Button>}
    </div>
  )
}

interface EmptyProps {
  readonly title: string
  /** It stands for the whole page, so its title is the page's. */
  readonly isPage?: boolean
  /** What to copy so that there is something here. */
  readonly code?: { readonly label: string; readonly text: string }
  readonly children: ReactNode
}

/** An empty place: what belongs here, and how it gets here. */
export function EmptyNote({ title, isPage = false, code, children }: EmptyProps) {
  const Title = isPage ? 'h1' : 'p'
  return (
    <div className={`mx-auto px-6 py-12 text-center ${code === undefined ? 'max-w-md' : 'max-w-2xl'}`}>
      <Title className="text-base font-semibold">{title}</Title>
      <div className="mx-auto mt-1.5 max-w-md text-pretty text-muted">{children}</div>
      {code !== undefined && (
        <div className="mt-5">
          <CopyBlock {...code} />
        </div>
      )}
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

interface UnreadProps {
  readonly query: { readonly isError: boolean; readonly error: unknown; refetch(): Promise<unknown> }
  readonly what: string
  /** It stands for the whole page of this title. */
  readonly page?: string
}

/** In the place of what was never read: that it is on its way, or why it did not come. What was read once stays. */
export function UnreadNote({ query, what, page }: UnreadProps) {
  return (
    <>
      {page !== undefined && <h1 className="sr-only">{page}</h1>}
      {query.isError ? (
        <div className="mx-auto max-w-2xl p-4 md:pt-6">
          <ProblemNote error={query.error} onRetry={() => void query.refetch()} />
        </div>
      ) : (
        <LoadingNote what={what} />
      )}
    </>
  )
}
