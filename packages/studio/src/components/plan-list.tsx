/** The plan of an agent: its steps in order, where each stands, and the calls that began in it. */
import type { CallView, ConversationView } from '@witan/client'
import type { StepStatus } from '@witan/protocol/plan'
import { shownText } from '@witan/protocol/shown'
import type { ReactNode } from 'react'
import { count } from '../state/format.ts'
import { planWords, stepNames } from '../state/plan.ts'

const looks: Readonly<Record<StepStatus, string>> = {
  pending: 'text-muted',
  in_progress: 'text-accent',
  completed: 'text-muted',
  dropped: 'text-muted',
}

const box = <rect x="2.6" y="2.6" width="10.8" height="10.8" rx="2" />
const shapes: Readonly<Record<StepStatus, ReactNode>> = {
  pending: box,
  in_progress: (
    <>
      {box}
      <path d="M5 8h6" strokeWidth="2.4" />
    </>
  ),
  completed: (
    <>
      {box}
      <path d="m5.2 8.2 2 2.1 3.6-4.3" />
    </>
  ),
  dropped: (
    <>
      {box}
      <path d="m5.6 5.6 4.8 4.8m0-4.8-4.8 4.8" />
    </>
  ),
}

/** Each status has its own shape and word beside its colour. */
function StepMark({ status }: { readonly status: StepStatus }) {
  return (
    <svg
      viewBox="0 0 16 16"
      className={`mt-0.5 size-4 shrink-0 ${looks[status]}`}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      role="img"
      aria-label={stepNames[status]}
    >
      {shapes[status]}
    </svg>
  )
}

/** Nothing without a plan. */
export function PlanList({ view, call }: { readonly view: ConversationView; readonly call: CallView }) {
  const { plan } = call
  if (plan === null || plan.steps.length === 0) return null
  return (
    <div>
      <p className="label">
        Plan{' '}
        <span className="font-normal normal-case text-muted tabular-nums">
          {planWords(call)?.replace('plan ', '')} done
        </span>
      </p>
      <ol aria-label="Plan" className="mt-1 divide-y divide-line rounded-md border border-line bg-panel">
        {[...plan.steps.entries()].map(([at, { id, title, status, note, calls }]) => (
          <li
            key={`${at} ${id}`}
            className="flex gap-2 px-2.5 py-1.5"
            aria-current={status === 'in_progress' ? 'step' : undefined}
          >
            <StepMark status={status} />
            <div className="min-w-0 flex-1">
              <p
                className={`break-words ${status === 'in_progress' ? 'font-medium' : status === 'pending' ? '' : 'text-muted'} ${status === 'dropped' ? 'line-through' : ''}`}
                dir="auto"
              >
                {shownText(title)}
              </p>
              {note !== null && note !== '' && (
                <p className="line-clamp-4 break-words text-xs text-muted" dir="auto">
                  {shownText(note)}
                </p>
              )}
              {calls.length > 0 && (
                <p
                  className="break-words text-xs text-muted"
                  title={`${count(calls.length, 'call')} began in this step`}
                >
                  {callWords(view, calls)}
                </p>
              )}
            </div>
          </li>
        ))}
      </ol>
    </div>
  )
}

const mostNames = 3

/** The names of the latest calls, and how many more there were. */
function callWords({ calls: known }: ConversationView, calls: readonly string[]): string {
  const names = calls.slice(-mostNames).map((id) => shownText(known.get(id)?.name ?? id))
  const more = calls.length - names.length
  return `called ${names.join(', ')}${more > 0 ? `, and ${count(more, 'call')} before` : ''}`
}
