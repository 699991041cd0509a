/** The revisions of an agent: who made each, when, and what is different between two of them. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { StoredAgent } from '@witan/protocol'
import type { RevisionLine } from '@witan/protocol/tools'
import { useState } from 'react'
import { Button } from '../components/button.tsx'
import { ProblemNote, UnreadNote } from '../components/note.tsx'
import { ScrollBox } from '../components/scroll-box.tsx'
import { usePrincipal } from '../state/account.ts'
import { count, formatMoment } from '../state/format.ts'
import { type DiffLine, lineDiff } from '../state/line-diff.ts'
import { queries, useAgents } from '../state/queries.ts'
import { witan } from '../state/witan.ts'
import { shownText } from '@witan/protocol/shown'
import { withoutStored } from '../state/without-stored.ts'

/** The two revisions that are compared, as the address has them. */
export interface Compared {
  readonly from?: number
  readonly to?: number
}

interface PageProps {
  readonly agentId: string
  readonly compared: Compared
  readonly onCompare: (compared: Compared) => void
}

/** Without revisions in the address the newest one is compared with the one before. */
export function RevisionsPage({ agentId, compared, onCompare }: PageProps) {
  const agent = useAgents().data?.find(({ id }) => id === agentId)
  const pages = useRevisions(agentId)
  const lines = pages.data?.pages.flatMap(({ items }) => items) ?? []
  const to = compared.to ?? lines[0]?.revision
  const from = compared.from ?? (to === undefined || to < 2 ? undefined : to - 1)
  return (
    <div className="space-y-5">
      <h2 className="text-base font-semibold">Revisions</h2>
      {pages.data === undefined ? (
        <UnreadNote query={pages} what="the revisions" />
      ) : (
        <ul aria-label="Revisions" className="border-t border-line">
          {lines.map((line) => (
            <RevisionItem
              key={line.revision}
              line={line}
              isShown={line.revision === to}
              onShow={() => onCompare({ from: line.revision - 1, to: line.revision })}
            />
          ))}
        </ul>
      )}
      {pages.hasNextPage && <Button onClick={() => void pages.fetchNextPage()}>Earlier revisions</Button>}
      {from !== undefined && to !== undefined && from >= 1 && <Changes agentId={agentId} from={from} to={to} />}
      {agent !== undefined && from !== undefined && <Restore agent={agent} revision={from} />}
    </div>
  )
}

function useRevisions(agentId: string) {
  return useInfiniteQuery({
    queryKey: ['revisions', agentId],
    queryFn: ({ pageParam: cursor }) =>
      witan.agents.revisions.list(agentId, { limit: 50, ...(cursor === null ? {} : { cursor }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}

interface ItemProps {
  readonly line: RevisionLine
  readonly isShown: boolean
  readonly onShow: () => void
}

function RevisionItem({ line: { revision, source, by, at, changed }, isShown, onShow }: ItemProps) {
  const who = by ?? (source === 'code' ? 'from code' : 'by somebody unknown')
  return (
    <li
      className={`flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line py-1.5 ${isShown ? 'bg-accent-soft' : ''}`}
    >
      <span className="w-10 shrink-0 pl-2 text-right font-mono tabular-nums">{revision}</span>
      <span className="min-w-0 flex-1 break-all">{who}</span>
      <span className="text-muted">
        {at === null ? 'at an unknown time' : <time dateTime={at}>{formatMoment(at)}</time>}
      </span>
      <span className="basis-full pl-14 font-mono text-xs text-muted sm:basis-auto sm:pl-0">{changed.join(', ')}</span>
      {revision > 1 && (
        <Button look="quiet" aria-label={`Changes of revision ${revision}`} aria-pressed={isShown} onClick={onShow}>
          Changes
        </Button>
      )}
    </li>
  )
}

function Changes({ agentId, from, to }: { readonly agentId: string; readonly from: number; readonly to: number }) {
  const both = useQuery({
    queryKey: ['revision', agentId, from, to],
    queryFn: () => Promise.all([from, to].map((one) => witan.agents.revisions.get(agentId, one))),
  })
  return (
    <section aria-label="Changes" className="space-y-2">
      <h2 className="text-base font-semibold">
        Changes from revision {from} to {to}
      </h2>
      {both.data === undefined ? (
        <UnreadNote query={both} what="both revisions" />
      ) : (
        <Lines lines={shortened(lineDiff(textOf(both.data[0]), textOf(both.data[1])))} />
      )}
    </section>
  )
}

function textOf(agent: StoredAgent | undefined): string {
  return JSON.stringify(withoutStored(agent ?? {}), null, 2)
}

const around = 3

/** Lines beside a change, and how many stand between them. */
function shortened(lines: readonly DiffLine[]): readonly (DiffLine | number)[] {
  const near = new Set(
    lines.flatMap(({ kind }, at) =>
      kind === 'same' ? [] : Array.from({ length: 2 * around + 1 }, (_, index) => at - around + index),
    ),
  )
  const shown: (DiffLine | number)[] = []
  for (const [at, line] of lines.entries()) {
    const last = shown.at(-1)
    if (near.has(at)) shown.push(line)
    else if (typeof last === 'number') shown[shown.length - 1] = last + 1
    else shown.push(1)
  }
  return shown
}

const looks = {
  same: { sign: ' ', look: '' },
  removed: { sign: '−', look: 'bg-fail-soft text-fail' },
  added: { sign: '+', look: 'bg-accent-soft text-accent' },
} as const

function Lines({ lines }: { readonly lines: readonly (DiffLine | number)[] }) {
  if (lines.every((line) => typeof line === 'number')) return <p className="text-muted">They are the same.</p>
  return (
    <ScrollBox label="Lines" className="max-h-[32rem] rounded-md border border-line bg-panel py-1 font-mono text-xs">
      {lines.map((line, index) =>
        typeof line === 'number' ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name.
          <p key={index} className="px-3 py-0.5 text-muted">
            {count(line, 'line')} as before
          </p>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name.
          <p key={index} className={`flex gap-2 px-3 ${looks[line.kind].look}`}>
            <span aria-hidden="true" className="w-2 shrink-0">
              {looks[line.kind].sign}
            </span>
            {line.kind !== 'same' && <span className="w-16 shrink-0">{line.kind}</span>}
            <span className="min-w-0 whitespace-pre-wrap break-words">{shownText(line.text)}</span>
          </p>
        ),
      )}
    </ScrollBox>
  )
}

/** Saves the earlier revision once more, over the present one alone. An agent of the code is changed there. */
function Restore({ agent, revision }: { readonly agent: StoredAgent; readonly revision: number }) {
  const isAdmin = usePrincipal()?.roles.includes('admin') === true
  const [error, setError] = useState<unknown>(null)
  if (!isAdmin || revision === agent.revision) return null
  const restore = async () => {
    setError(null)
    try {
      const before = await witan.agents.revisions.get(agent.id, revision)
      await witan.agents.save(before, { ifMatch: agent.revision })
      await queries.invalidateQueries()
    } catch (reason) {
      setError(reason)
    }
  }
  return (
    <div className="space-y-2">
      <Button onClick={() => void restore()}>Restore revision {revision}</Button>
      {error !== null && <ProblemNote error={error} />}
    </div>
  )
}
