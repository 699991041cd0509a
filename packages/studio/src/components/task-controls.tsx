/** Controls of a running task: a message that it reads at its next step, a question about its progress, and a stop. */
import { type FormEvent, useId, useState } from 'react'
import { useTask } from '../state/use-task.ts'
import { Button } from './button.tsx'
import { ProblemNote } from './note.tsx'

/** `stopping`: a cancel was requested, and the task has not ended yet. */
export function TaskControls({ taskId, stopping }: { readonly taskId: string; readonly stopping: boolean }) {
  const [text, setText] = useState('')
  const id = useId()
  const { busy, said, error, tell, ask, stop } = useTask(taskId)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== '') tell(text.trim(), () => setText(''))
  }
  return (
    <form
      onSubmit={submit}
      data-testid="task-controls"
      className="space-y-2 rounded-md border border-line bg-sunken p-3"
    >
      <label htmlFor={id} className="block text-xs text-muted">
        Tell it something, or ask about it: a question is answered from what is stored and does not disturb it.
      </label>
      <textarea
        id={id}
        rows={2}
        value={text}
        onChange={(event) => setText(event.target.value)}
        placeholder="Only the open orders, please."
        className="block w-full resize-y rounded-md border border-line-strong bg-panel px-3 py-2"
      />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="primary" disabled={busy !== null || text.trim() === ''}>
          {busy === 'tell' ? 'Sending …' : 'Tell it'}
        </Button>
        <Button disabled={busy !== null} onClick={() => ask(text.trim())}>
          {busy === 'ask' ? 'Asking …' : 'Ask how far it is'}
        </Button>
        <span className="flex-1" />
        <Button look="danger" disabled={busy !== null || stopping} onClick={stop}>
          {stopping || busy === 'stop' ? 'Stopping …' : 'Stop task'}
        </Button>
      </div>
      {error !== null && <ProblemNote error={error} />}
      {said !== null && (
        <div role="status" className="rounded-md border border-line bg-panel px-3 py-2">
          <p className="text-xs text-muted">{said.about}</p>
          <p className="whitespace-pre-wrap break-words">{said.text}</p>
        </div>
      )}
    </form>
  )
}
