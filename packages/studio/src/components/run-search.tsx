/** Finds calls of a run by their words. In a long tree most rows are not in the page, so the browser's own search misses them. */
import type { ConversationView } from '@witan/client'
import { type KeyboardEvent, useState } from 'react'
import { formatNumber } from '../state/format.ts'
import { useAgentName } from '../state/queries.ts'
import { callWords, treeRows } from '../state/tree.ts'

interface SearchProps {
  readonly view: ConversationView
  readonly runId: string
  readonly onFind: (callId: string) => void
}

const nothing = { collapsed: new Set<string>() }

/** Enter goes to the next call, Shift and Enter to the one before. */
export function RunSearch({ view, runId, onFind }: SearchProps) {
  const [words, setWords] = useState('')
  const [found, setFound] = useState<{ readonly ids: readonly string[]; readonly at: number } | null>(null)
  const nameOf = useAgentName()
  const find = (step: 1 | -1) => {
    const wanted = words.trim().toLowerCase()
    if (wanted === '') return
    const ids = treeRows(view, runId, nothing)
      .filter(({ call }) => `${nameOf(call.name)}\n${callWords(call)}`.toLowerCase().includes(wanted))
      .map(({ call }) => call.callId)
    const before = found === null ? (step === 1 ? -1 : 0) : found.at
    const at = ids.length === 0 ? -1 : (before + step + ids.length) % ids.length
    setFound({ ids, at })
    const id = ids[at]
    if (id !== undefined) onFind(id)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter') return
    event.preventDefault()
    find(event.shiftKey ? -1 : 1)
  }
  return (
    <search className="flex shrink-0 items-center gap-3 border-b border-line px-4 py-1.5">
      <input
        type="search"
        aria-label="Find in this run"
        placeholder="Find in this run; Enter goes on"
        className="field min-w-0 flex-1"
        value={words}
        onChange={(event) => {
          setWords(event.target.value)
          setFound(null)
        }}
        onKeyDown={onKeyDown}
      />
      <span role="status" className="shrink-0 text-xs text-muted tabular-nums">
        {found !== null &&
          (found.ids.length === 0 ? 'Not found' : `${formatNumber(found.at + 1)} of ${formatNumber(found.ids.length)}`)}
      </span>
    </search>
  )
}
