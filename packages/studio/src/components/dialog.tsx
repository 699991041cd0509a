/** A modal dialog: the focus is inside while it is open, Escape closes it, and then the focus goes back to where it was. */
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { Button } from './button.tsx'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  /** It is narrow, and its own buttons close it. */
  readonly isQuestion?: boolean
  readonly children: ReactNode
}

/** Open as long as it is on the page. */
export function Dialog({ title, onClose, isQuestion = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
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
      aria-labelledby={heading}
      onCancel={onClose}
      className={`m-auto max-h-[90dvh] ${isQuestion ? 'max-w-md' : 'w-[min(44rem,94vw)]'} overflow-y-auto rounded-lg border border-line-strong bg-panel p-5 text-ink backdrop:bg-black/40`}
    >
      <div className="flex items-start justify-between gap-3">
        <h2 id={heading} className="min-w-0 wrap-anywhere text-base font-semibold">
          {title}
        </h2>
        {!isQuestion && (
          <Button look="quiet" onClick={onClose}>
            Close
          </Button>
        )}
      </div>
      <div className="mt-3 space-y-4">{children}</div>
    </dialog>
  )
}
