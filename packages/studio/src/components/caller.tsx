/** Which agent of another server called. */
import type { OutsideCaller } from '@witan/protocol/schemas'
import { callerWords } from '../state/caller.ts'

/** Renders nothing for a run that began here. */
export function Caller({ caller }: { readonly caller: OutsideCaller | null | undefined }) {
  if (caller == null) return null
  return (
    <span
      className="min-w-0 shrink-[9999] truncate text-xs font-normal text-muted"
      title={callerWords(caller)}
      data-testid="caller"
    >
      <span className="sr-only">called by </span>
      {callerWords(caller)}
    </span>
  )
}
