/** Conversations by their ids, each a link. */
import { Link } from '@tanstack/react-router'
import { shownText } from '@witan/protocol/shown'
import { toSegment } from '../state/address.ts'

/** `run`: the run in it that is shown. */
export function ConversationLink({ id, run }: { readonly id: string; readonly run?: string | null }) {
  return (
    <Link
      to="/conversations/$conversation"
      params={{ conversation: toSegment(id) }}
      search={run === null || run === undefined ? {} : { run }}
      className="break-all text-accent underline underline-offset-2"
    >
      {shownText(id)}
    </Link>
  )
}

interface LinksProps {
  readonly label: string
  readonly ids: readonly string[]
  readonly isMore: boolean
}

/** Scrolls where there are many. */
export function ConversationLinks({ label, ids, isMore }: LinksProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a long list is scrolled with the keys.
    <ul aria-label={label} tabIndex={0} className="max-h-48 space-y-1 overflow-y-auto -outline-offset-2">
      {ids.map((id) => (
        <li key={id}>
          <ConversationLink id={id} />
        </li>
      ))}
      {isMore && <li className="text-muted">and more</li>}
    </ul>
  )
}
