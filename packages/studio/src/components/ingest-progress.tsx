/** How far an ingest has come, and what failed in it and why. */
import { shownText } from '@witan/protocol/shown'
import { formatNumber } from '../state/format.ts'
import type { IngestSum } from '../state/ingest-sum.ts'

const shownFailures = 50

/** A bar until the end, then what came of it. */
export function IngestProgress({ sum }: { readonly sum: IngestSum }) {
  const { status, total, done, failed } = sum
  const isDone = status === 'completed'
  return (
    <section aria-label="Ingest" data-testid="ingest" className="space-y-2 rounded-md border border-line bg-panel p-4">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        <p className="font-medium">{isDone ? 'All are read' : 'Reading …'}</p>
        <p className="text-xs text-muted tabular-nums">
          {formatNumber(done)} of {formatNumber(total)}
        </p>
      </div>
      <progress
        aria-label="Documents that are read"
        className="block h-2 w-full appearance-none overflow-hidden rounded-full bg-sunken [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-sunken [&::-webkit-progress-value]:bg-accent"
        max={Math.max(1, total)}
        value={isDone ? Math.max(1, total) : done}
      />
      <p role="status" className="flex flex-wrap gap-x-4 gap-y-0.5 tabular-nums">
        {(['added', 'changed', 'unchanged', 'deleted'] as const).map((name) =>
          name === 'deleted' && sum.deleted === 0 ? null : (
            <span key={name}>
              {formatNumber(sum[name])} <span className="text-muted">{name}</span>
            </span>
          ),
        )}
        <span className={failed.length > 0 ? 'text-fail' : ''}>
          {formatNumber(failed.length)} <span className={failed.length > 0 ? '' : 'text-muted'}>failed</span>
        </span>
      </p>
      {failed.length > 0 && (
        <ul aria-label="Failed" className="space-y-1.5">
          {failed.slice(0, shownFailures).map(({ key, code, detail }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a key may stand there twice.
            <li key={index} className="rounded-md border border-fail-line bg-fail-soft px-3 py-1.5">
              <p className="break-all font-mono text-xs">{shownText(key)}</p>
              <p className="break-words">
                {shownText(detail)} <span className="font-mono text-xs text-fail">{shownText(code)}</span>
              </p>
            </li>
          ))}
          {failed.length > shownFailures && (
            <li className="text-muted">and {formatNumber(failed.length - shownFailures)} more</li>
          )}
        </ul>
      )}
    </section>
  )
}
