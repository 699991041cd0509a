/** One block that an agent remembers: its text, who wrote it, and what a person may do with it. */
import type { MemoryBlock } from '@witan/protocol/memory'
import { shownText } from '@witan/protocol/shown'
import { useRef, useState } from 'react'
import { usePrincipal } from '../state/account.ts'
import { formatAgo, formatMoment } from '../state/format.ts'
import { subjectName, writerWords } from '../state/memory.ts'
import { refreshMemory } from '../state/memory-queries.ts'
import { useAgentName } from '../state/queries.ts'
import { useNow } from '../state/use-now.ts'
import { witan } from '../state/witan.ts'
import { Button } from './button.tsx'
import { ConversationLink } from './conversation-links.tsx'
import { DeleteDialog } from './delete-dialog.tsx'
import { LongText } from './long-text.tsx'
import { MemoryEditor } from './memory-editor.tsx'
import { MemoryRevisions } from './memory-revisions.tsx'
import { Pill } from './pill.tsx'

interface BlockProps {
  readonly block: MemoryBlock
  /** Blocks about several people are shown. */
  readonly namesSubject: boolean
  /** Somebody begins or ends to write another text: until then the item has to stay, whatever becomes of the block. */
  readonly onDraft: (block: MemoryBlock, isOpen: boolean) => void
  /** It is gone: the focus has to go elsewhere. */
  readonly onErased: () => void
}

/** A draft of another text stays while the block changes or is erased. */
export function MemoryBlockItem({ block, namesSubject, onDraft, onErased }: BlockProps) {
  const { id, key, text, kind, subject } = block
  const name = shownText(key)
  const edit = useRef<HTMLButtonElement>(null)
  const [opened, setOpened] = useState<'edit' | 'revisions' | 'erase' | null>(null)
  const [draftOf, setDraftOf] = useState<MemoryBlock>(block)
  const toggle = (part: 'edit' | 'revisions') => {
    const next = opened === part ? null : part
    setDraftOf(block)
    setOpened(next)
    onDraft(block, next === 'edit')
  }
  const close = () => {
    setOpened(null)
    edit.current?.focus()
    onDraft(block, false)
  }
  const erase = async () => {
    await witan.memory.delete(id)
    setOpened(null)
    await refreshMemory()
    onErased()
  }
  return (
    <li aria-label={name} className="space-y-2 px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <h4 className="min-w-0 break-all font-mono text-xs font-semibold">{name}</h4>
        {kind === 'archival' && <Pill>archival</Pill>}
        {namesSubject && subject !== null && (
          <span className="min-w-0 break-all text-xs text-muted">about {subjectName(subject)}</span>
        )}
      </div>
      {opened === 'edit' ? (
        <MemoryEditor block={draftOf} onClose={close} />
      ) : (
        <LongText label={`Text of ${name}`} text={text} />
      )}
      <Written block={block} />
      <div className="-ml-3 flex flex-wrap gap-1">
        <Button ref={edit} look="quiet" aria-expanded={opened === 'edit'} onClick={() => toggle('edit')}>
          Edit<span className="sr-only"> {name}</span>
        </Button>
        <Button look="quiet" aria-expanded={opened === 'revisions'} onClick={() => toggle('revisions')}>
          Revisions<span className="sr-only"> of {name}</span>
        </Button>
        <Button look="quiet" disabled={opened === 'edit'} onClick={() => setOpened('erase')}>
          Erase<span className="sr-only"> {name}</span> …
        </Button>
      </div>
      {opened === 'revisions' && <MemoryRevisions block={block} />}
      {opened === 'erase' && (
        <DeleteDialog title={`Erase ${name}`} words="Erase it" onDelete={erase} onClose={() => setOpened(null)}>
          <p>It is erased with all its revisions. What conversations have quoted of it stays in them.</p>
        </DeleteDialog>
      )}
    </li>
  )
}

function Written({
  block: { writtenBy, updatedAt, revision, scope, conversationId },
}: {
  readonly block: MemoryBlock
}) {
  const now = useNow(true, 30_000)
  const who = writerWords(writtenBy, useAgentName(), usePrincipal()?.id)
  const where = writtenBy.conversationId
  return (
    <p className="break-words text-xs text-muted">
      Revision {revision}, written by {who},{' '}
      <time dateTime={updatedAt} title={formatMoment(updatedAt)}>
        {formatAgo(updatedAt, now)}
      </time>
      {where !== null && (
        <>
          , in <ConversationLink id={where} run={writtenBy.runId} />
        </>
      )}
      {scope === 'conversation' && conversationId !== null && conversationId !== where && (
        <>
          {' '}
          · for <ConversationLink id={conversationId} />
        </>
      )}
    </p>
  )
}
