/** What people decided, so that it stays to be read: who, what, when, and what they changed. */
import { cellText } from '../state/rows.ts'
import type { ChangedArgument, Decision, Outcome } from '../state/decisions.ts'
import { formatElapsed, formatMoment } from '../state/format.ts'
import { useAgentName } from '../state/queries.ts'
import type { CallState } from '@witan/client'
import { StateMark } from './state-mark.tsx'

const marks: Readonly<Record<Outcome, CallState>> = {
  approved: 'completed',
  answered: 'completed',
  denied: 'failed',
  resolved: 'completed',
  declined: 'failed',
  expired: 'cancelled',
  cancelled: 'cancelled',
}

/** Nothing where nothing was decided. */
export function DecisionList({ decisions }: { readonly decisions: readonly Decision[] }) {
  if (decisions.length === 0) return null
  return (
    <ul
      aria-label="Decisions"
      data-testid="decisions"
      className="space-y-2 rounded-md border border-line bg-panel px-3 py-2"
    >
      {decisions.map((decision) => (
        <DecisionLine key={decision.id} decision={decision} />
      ))}
    </ul>
  )
}

function DecisionLine({ decision }: { readonly decision: Decision }) {
  const { about, asks, verdict, by, at, waitedMs, changes, reason, said } = decision
  const nameOf = useAgentName()
  return (
    <li data-verdict={verdict} className="flex gap-2">
      <span className="pt-0.5">
        <StateMark state={marks[verdict]} />
      </span>
      <div className="min-w-0 flex-1 space-y-0.5">
        <p className="break-words">
          <span className={asks ? 'font-medium' : 'font-mono text-xs font-medium'}>{asks ? nameOf(about) : about}</span>{' '}
          {wordsOf(decision)}
          {by !== null && <span className="font-medium">{by}</span>}
        </p>
        {said.map(({ to, words }) => (
          <p key={to} className="break-words">
            <span className="text-muted">{to}</span> <span className="font-medium">{words || 'no answer'}</span>
          </p>
        ))}
        {changes.map((change) => (
          <Change key={change.name} change={change} />
        ))}
        {reason !== '' && <p className="break-words">“{reason}”</p>}
        <p className="text-xs text-muted tabular-nums">
          {at !== null && <time dateTime={at}>{formatMoment(at)}</time>}
          {waitedMs > 0 && <> · waited {formatElapsed(waitedMs)}</>}
        </p>
      </div>
    </li>
  )
}

function wordsOf({ verdict, asks, by, changes }: Decision): string {
  if (verdict === 'expired') return 'was not answered in time'
  if (verdict === 'cancelled') return 'needs no answer any more'
  const whose = by === null ? '' : ' by '
  if (verdict === 'approved') return `was approved${changes.length > 0 ? ' with a change' : ''}${whose}`
  return `${asks ? 'asked, and was' : 'was'} ${verdict}${whose}`
}

function Change({ change: { name, before, after } }: { readonly change: ChangedArgument }) {
  return (
    <p className="break-words font-mono text-xs">
      {name}: <del className="text-muted">{before === undefined ? 'not given' : cellText(before)}</del>
      {' → '}
      <ins className="font-semibold no-underline">{after === undefined ? 'left out' : cellText(after)}</ins>
    </p>
  )
}
