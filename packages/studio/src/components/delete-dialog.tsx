/** Asks before something is deleted for good. */
import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { ProblemNote } from './note.tsx'

interface DialogProps {
  readonly title: string
  /** What the button says that does it. */
  readonly words: string
  /** Deletes; what it throws is shown, and the dialog stays. */
  readonly onDelete: () => Promise<void>
  readonly onClose: () => void
  /** What is lost. */
  readonly children: ReactNode
}

/** Escape keeps everything. */
export function DeleteDialog({ title, words, onDelete, onClose, children }: DialogProps) {
  const [state, setState] = useState<{ readonly deleting: boolean; readonly error: unknown }>({
    deleting: false,
    error: null,
  })
  const remove = () => {
    setState({ deleting: true, error: null })
    onDelete().catch((error: unknown) => setState({ deleting: false, error }))
  }
  return (
    <Dialog title={title} onClose={onClose} isQuestion>
      <div className="space-y-2 text-pretty text-muted">{children}</div>
      {state.error !== null && <ProblemNote error={state.error} />}
      <div className="flex flex-wrap gap-2">
        <Button look="danger" disabled={state.deleting} onClick={remove}>
          {state.deleting ? 'Deleting …' : words}
        </Button>
        <Button onClick={onClose}>Keep it</Button>
      </div>
    </Dialog>
  )
}
