/** Another text for a block. If somebody else wrote meanwhile, both texts stand there, and the person chooses. */
import type { MemoryBlock } from '@witan/protocol/memory'
import { shownText } from '@witan/protocol/shown'
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { usePrincipal } from '../state/account.ts'
import { presentBlock, writerWords } from '../state/memory.ts'
import { refreshMemory } from '../state/memory-queries.ts'
import { useAgentName } from '../state/queries.ts'
import { witan } from '../state/witan.ts'
import { Button } from './button.tsx'
import { LongText } from './long-text.tsx'
import { ProblemNote } from './note.tsx'
import { TextLine } from './text-line.tsx'

/** What the server said: nothing, what is there instead (null for nothing any more), or another error. */
interface Refused {
  readonly present?: MemoryBlock | null
  readonly error?: unknown
}

/** `block` is as it was when the person began to write. */
export function MemoryEditor({ block, onClose }: { readonly block: MemoryBlock; readonly onClose: () => void }) {
  const [text, setText] = useState(block.text)
  const [refused, setRefused] = useState<Refused>({})
  const [saving, setSaving] = useState(false)
  const send = async (write: () => Promise<unknown>) => {
    setSaving(true)
    setRefused({})
    try {
      await write()
      await refreshMemory()
      onClose()
    } catch (error) {
      const present = presentBlock(error)
      setRefused(present === undefined ? { error } : { present })
      if (present !== undefined) await refreshMemory()
    } finally {
      setSaving(false)
    }
  }
  const save = (expectedRevision: number) => send(() => witan.memory.change(block.id, { text, expectedRevision }))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void save(block.revision)
  }
  const { agent, scope, subject, conversationId, kind, key } = block
  const again = () => send(() => witan.memory.create({ agent, scope, subject, conversationId, kind, key, text }))
  const { present, error } = refused
  return (
    <form aria-label={`Edit ${shownText(key)}`} className="space-y-3" onSubmit={submit}>
      <TextLine
        label="Text"
        rows={4}
        value={text}
        onChange={setText}
        about="The agent reads this text in place of the one before."
      />
      {error !== undefined && <ProblemNote error={error} />}
      {present === undefined ? (
        <div className="flex flex-wrap gap-2">
          <Button type="submit" look="primary" disabled={saving || text.trim() === ''}>
            {saving ? 'Saving …' : 'Save'}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      ) : (
        <Conflict present={present}>
          <Button
            disabled={saving || text.trim() === ''}
            onClick={() => void (present === null ? again() : save(present.revision))}
          >
            {present === null ? 'Write it again' : 'Save mine over it'}
          </Button>
          <Button disabled={saving} onClick={onClose}>
            {present === null ? 'Leave it erased' : 'Keep the other text'}
          </Button>
        </Conflict>
      )}
    </form>
  )
}

interface ConflictProps {
  readonly present: MemoryBlock | null
  readonly children: ReactNode
}

/** Takes the focus: nothing is saved until the person has chosen. */
function Conflict({ present, children }: ConflictProps) {
  const section = useRef<HTMLElement>(null)
  const nameOf = useAgentName()
  const own = usePrincipal()?.id
  useEffect(() => section.current?.focus(), [])
  return (
    <section
      ref={section}
      tabIndex={-1}
      aria-label={present === null ? 'Erased meanwhile' : 'Changed meanwhile'}
      className="space-y-2 rounded-md border border-wait-line bg-wait-soft p-3"
    >
      {present === null ? (
        <p>
          <strong className="font-semibold">Erased meanwhile.</strong> The block is not there any more; your text is
          above.
        </p>
      ) : (
        <>
          <p>
            <strong className="font-semibold">Changed meanwhile.</strong> Your text is above. This one is there now,
            revision {present.revision}, written by {writerWords(present.writtenBy, nameOf, own)}:
          </p>
          <LongText label="The text that is there now" text={present.text} />
        </>
      )}
      <div className="flex flex-wrap gap-2">{children}</div>
    </section>
  )
}
