/** Erases all that agents remember about somebody, and says which conversations quote it. */
import type { ErasedMemory } from '@witan/protocol/memory'
import { useState } from 'react'
import { count } from '../state/format.ts'
import { refreshMemory, useQuoting } from '../state/memory-queries.ts'
import { queries } from '../state/queries.ts'
import { witan } from '../state/witan.ts'
import { Button } from './button.tsx'
import { ConversationLinks } from './conversation-links.tsx'
import { DeleteDialog } from './delete-dialog.tsx'
import { UnreadNote } from './note.tsx'

interface EraseProps {
  readonly subject: string
  /** How the person is named in a sentence, such as `you`. */
  readonly whom: string
  readonly onErased: (erased: ErasedMemory) => void
  readonly onClose: () => void
}

/** Asks, and offers to delete those conversations too. */
export function EraseAllDialog({ subject, whom, onErased, onClose }: EraseProps) {
  const quoting = useQuoting({ subject })
  const [alsoThose, setAlsoThose] = useState(false)
  const ids = quoting.data?.ids ?? []
  const erase = async () => {
    const erased = await witan.memory.erase({ subject, conversations: alsoThose })
    await refreshMemory()
    if (alsoThose) void queries.invalidateQueries({ queryKey: ['conversations'] })
    onErased(erased)
  }
  return (
    <DeleteDialog
      title={`Erase all that is remembered about ${whom}`}
      words={alsoThose ? 'Erase it, and delete the conversations' : 'Erase it all'}
      onDelete={erase}
      onClose={onClose}
    >
      <p>All blocks about {whom}, of every agent, are erased with their revisions. Nothing brings them back.</p>
      {quoting.data === undefined ? (
        <UnreadNote query={quoting} what="the conversations that quote it" />
      ) : ids.length === 0 ? (
        <p>No conversation quotes them.</p>
      ) : (
        <>
          <p>Conversations keep what was read or written in them. These quote it:</p>
          <ConversationLinks label="Conversations that quote it" ids={ids} isMore={quoting.data.isMore} />
          <label className="flex items-start gap-2 text-ink">
            <input
              type="checkbox"
              className="mt-0.5 size-4"
              checked={alsoThose}
              onChange={(event) => setAlsoThose(event.target.checked)}
            />
            Also delete these conversations, as far as I may
          </label>
        </>
      )}
    </DeleteDialog>
  )
}

/** What an erasure came to: conversations that still quote it have links. */
export function ErasedNote({ erased, onClose }: { readonly erased: ErasedMemory; readonly onClose: () => void }) {
  const deleted = new Set(erased.deleted)
  const left = erased.conversations.filter((id) => !deleted.has(id))
  return (
    <div className="space-y-2 rounded-md border border-line bg-panel px-4 py-3">
      <p role="status">
        {count(erased.erased, 'block')} {erased.erased === 1 ? 'is' : 'are'} erased
        {deleted.size > 0 && `, and ${count(deleted.size, 'conversation')} deleted`}.{' '}
        {left.length > 0 && 'These conversations still quote what was remembered:'}
      </p>
      {left.length > 0 && <ConversationLinks label="Conversations that still quote it" ids={left} isMore={false} />}
      <Button onClick={onClose}>Close</Button>
    </div>
  )
}
