/** How the server does: open runs, what waits, and tokens and cost over time. */
import { Link } from '@tanstack/react-router'
import type { UsageItem } from '@witan/protocol/schemas'
import { type ReactNode, useState } from 'react'
import { Button } from '../components/button.tsx'
import { DayPlot } from '../components/day-plot.tsx'
import { EmptyNote, UnreadNote } from '../components/note.tsx'
import { byTokens, type DayFigures, daysOf, formatCost, sumOf, type SumFigures } from '../state/health.ts'
import { formatNumber } from '../state/format.ts'
import { useWaiting } from '../state/queries.ts'
import { useFirstCode } from '../state/use-command.ts'
import { useOpenRuns, useUsage } from '../state/use-health.ts'

const ranges = [7, 30, 90] as const
const mostLines = 8

/** Days are those of UTC, as everywhere in usage. */
export function HealthPage() {
  const [count, setCount] = useState<number>(30)
  const usage = useUsage('day', count)
  if (usage.data === undefined) return <UnreadNote query={usage} what="usage" page="Health" />
  const days = daysOf(usage.data, Date.now(), count)
  const sum = sumOf(days)
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto max-w-5xl space-y-5 p-4 md:p-6" data-testid="health">
        <div className="flex flex-wrap items-center justify-between gap-3">
          <h1 className="text-lg font-semibold">Health</h1>
          <Range count={count} onCount={setCount} />
        </div>
        <Now sum={sum} count={count} />
        {sum.calls === 0 ? <NothingUsed count={count} /> : <Used days={days} count={count} />}
      </div>
    </div>
  )
}

function Range({ count, onCount }: { readonly count: number; readonly onCount: (count: number) => void }) {
  return (
    <fieldset aria-label="How far back" className="flex gap-1">
      {ranges.map((days) => (
        <Button
          key={days}
          look={days === count ? 'plain' : 'quiet'}
          aria-pressed={days === count}
          onClick={() => onCount(days)}
        >
          {days} days
        </Button>
      ))}
    </fieldset>
  )
}

function Now({ sum, count }: { readonly sum: SumFigures; readonly count: number }) {
  const runs = useOpenRuns().data
  const waiting = useWaiting('all').data
  const least = (isWhole: boolean) => (isWhole ? '' : '≥ ')
  return (
    <dl className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <Figure name="Open runs" says="of the latest 200 conversations" testId="open-runs">
        {runs === undefined ? '–' : runs.running + runs.waiting}
        {runs !== undefined && <Small>{`${runs.running} at work, ${runs.waiting} waiting`}</Small>}
      </Figure>
      <Figure name="Open interruptions" says="wait for an answer" testId="open-interruptions">
        {waiting === undefined ? '–' : `${waiting.items.length}${waiting.isMore ? '+' : ''}`}
        {waiting !== undefined && waiting.items.length > 0 && (
          <Small>
            <Link to="/waiting" className="text-accent underline">
              Answer them
            </Link>
          </Small>
        )}
      </Figure>
      <Figure name="Tokens" says={`in ${count} days`} testId="tokens">
        {`${least(sum.complete)}${formatNumber(sum.tokens)}`}
        <Small>{`${formatNumber(sum.calls)} model calls`}</Small>
      </Figure>
      <Figure name="Cost" says={`in ${count} days`} testId="cost">
        {`${least(sum.isCostWhole && sum.complete)}${formatCost(sum.costUsd)}`}
        {!sum.isCostWhole && <Small>Some models have no known price.</Small>}
      </Figure>
    </dl>
  )
}

interface FigureProps {
  readonly name: string
  readonly says: string
  readonly testId: string
  readonly children: ReactNode
}

function Figure({ name, says, testId, children }: FigureProps) {
  return (
    <div className="rounded-md border border-line bg-panel px-4 py-3" data-testid={testId}>
      <dt className="label">
        {name} <span className="font-normal">{says}</span>
      </dt>
      <dd className="mt-1 text-lg font-semibold tabular-nums">{children}</dd>
    </div>
  )
}

function Small({ children }: { readonly children: ReactNode }) {
  return <span className="block text-sm font-normal text-muted">{children}</span>
}

function NothingUsed({ count }: { readonly count: number }) {
  const code = useFirstCode()
  return (
    <EmptyNote title={`No model was called in ${count} days`} code={code}>
      Tokens and cost appear here with the first reply of a model.{' '}
      <Link to="/conversations" className="text-accent underline">
        Start a conversation
      </Link>
      , or look further back.
    </EmptyNote>
  )
}

function Used({ days, count }: { readonly days: readonly DayFigures[]; readonly count: number }) {
  return (
    <>
      <div className="grid gap-5 lg:grid-cols-2">
        <DayPlot
          title="Tokens by day"
          testId="tokens-plot"
          names={['in', 'out']}
          format={formatNumber}
          bars={days.map(({ day, input, output, complete }) => ({
            day,
            parts: [input, output],
            says: `${day}: ${complete ? '' : 'at least '}${formatNumber(input)} in, ${formatNumber(output)} out`,
          }))}
        />
        <DayPlot
          title="Cost by day"
          testId="cost-plot"
          names={['US dollars']}
          format={formatCost}
          bars={days.map(({ day, costUsd }) => ({
            day,
            parts: [costUsd],
            says: `${day}: ${costUsd === null ? 'the cost is not known' : formatCost(costUsd)}`,
          }))}
        />
      </div>
      <div className="grid gap-5 lg:grid-cols-2">
        <Most by="agent" title="Agents" count={count} />
        <Most by="model" title="Models" count={count} />
      </div>
    </>
  )
}

interface MostProps {
  readonly by: 'agent' | 'model'
  readonly title: string
  readonly count: number
}

/** Those that used the most tokens. */
function Most({ by, title, count }: MostProps) {
  const { data } = useUsage(by, count)
  if (data === undefined) return null
  const items = byTokens(data)
  const rest = items.length - mostLines
  return (
    <section className="rounded-md border border-line bg-panel p-4" data-testid={`usage-${by}`}>
      <table className="w-full table-fixed">
        <caption className="pb-2 text-left font-semibold">{title}</caption>
        <thead className="label">
          <tr>
            <th className="text-left">Name</th>
            <th className="w-20 text-right">Calls</th>
            <th className="w-24 text-right">Tokens</th>
            <th className="w-24 text-right">Cost</th>
          </tr>
        </thead>
        <tbody className="tabular-nums">
          {items.slice(0, mostLines).map((item) => (
            <UsageLine key={item.key} item={item} />
          ))}
        </tbody>
      </table>
      {rest > 0 && <p className="pt-2 text-muted">{`${rest} more used less.`}</p>}
    </section>
  )
}

function UsageLine({ item }: { readonly item: UsageItem }) {
  const { key, modelCalls, totalTokens, costUsd, complete } = item
  return (
    <tr className="border-t border-line">
      <td className="truncate py-1" title={key}>
        {key}
      </td>
      <td className="text-right">{formatNumber(modelCalls)}</td>
      <td className="text-right">{`${complete ? '' : '≥ '}${formatNumber(totalTokens)}`}</td>
      <td className="text-right">{costUsd === null ? '–' : formatCost(costUsd)}</td>
    </tr>
  )
}
