/** Asks before a message closes the open actions of a run. */
import { useEffect, useId, useRef } from 'react'
import { Button } from './button.tsx'

interface DialogProps {
  readonly actions: number
  readonly onSend: () => void
  /** Escape means it too. */
  readonly onWait: () => void
}

/** A modal dialog; the focus is inside while it is open, and goes back to where it was. */
export function OpenActionDialog({ actions, onSend, onWait }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const title = useId()
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={title}
      onCancel={onWait}
      className="m-auto max-w-md rounded-lg border border-line-strong bg-panel p-5 text-ink backdrop:bg-black/40"
    >
      <h2 id={title} className="text-base font-semibold">
        {actions === 1 ? 'An action is open' : `${actions} actions are open`}
      </h2>
      <p className="mt-1.5 text-pretty text-muted">
        The run waits for {actions === 1 ? 'its answer' : 'their answers'}. Your message cancels{' '}
        {actions === 1 ? 'it' : 'them'}, and the run goes on with what you wrote.
      </p>
      <div className="mt-4 flex flex-wrap gap-2">
        <Button look="primary" onClick={onSend}>
          Cancel {actions === 1 ? 'it' : 'them'} and send
        </Button>
        <Button onClick={onWait}>Keep waiting</Button>
      </div>
    </dialog>
  )
}
