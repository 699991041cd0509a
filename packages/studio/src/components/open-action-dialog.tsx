/** Asks before a message closes the open actions of a run. */
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

interface DialogProps {
  readonly actions: number
  readonly onSend: () => void
  /** Escape means it too. */
  readonly onWait: () => void
}

/** Asks whether to cancel them. */
export function OpenActionDialog({ actions, onSend, onWait }: DialogProps) {
  return (
    <Dialog title={actions === 1 ? 'An action is open' : `${actions} actions are open`} onClose={onWait} isQuestion>
      <p className="text-pretty text-muted">
        The run waits for {actions === 1 ? 'its answer' : 'their answers'}. Your message cancels{' '}
        {actions === 1 ? 'it' : 'them'}, and the run goes on with what you wrote.
      </p>
      <div className="flex flex-wrap gap-2">
        <Button look="primary" onClick={onSend}>
          Cancel {actions === 1 ? 'it' : 'them'} and send
        </Button>
        <Button onClick={onWait}>Keep waiting</Button>
      </div>
    </Dialog>
  )
}
