/** What a call read of its agent's memory and wrote there: keys and revisions, never texts. */
import type { CallView } from '@witan/client'
import { usedWords } from '../state/memory.ts'

/** Nothing without any. */
export function MemoryList({ memories }: Pick<CallView, 'memories'>) {
  if (memories.length === 0) return null
  return (
    <div>
      <p className="label">Memory</p>
      <ul aria-label="Memory" className="mt-1 divide-y divide-line rounded-md border border-line bg-panel">
        {memories.map((use) => (
          <li key={`${use.seq} ${use.op}`} className="break-all px-2.5 py-1.5">
            {usedWords(use)}
          </li>
        ))}
      </ul>
    </div>
  )
}
