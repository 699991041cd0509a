/** Where a person writes the next message. */
import type { KeyboardEvent } from 'react'
import { useDraft } from '../state/drafts.ts'
import { Button } from './button.tsx'

interface ComposerProps {
  /** What is typed is kept under the conversation's id until it is sent. */
  readonly conversationId: string
  readonly busy: 'sending' | 'running' | 'waiting' | 'gone' | null
  readonly onSend: (text: string) => void
}

/** Enter sends, Shift and Enter begin a new line. Shut while a run is active, and says why. */
export function Composer({ conversationId, busy, onSend }: ComposerProps) {
  const [text, setText] = useDraft(conversationId)
  const ready = busy === null && text.trim() !== ''
  const send = () => {
    if (!ready) return
    onSend(text)
    setText('')
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  const placeholder = {
    sending: 'Your message is on its way. You can write when it has been answered.',
    running: 'The run is going on. You can write when it has ended.',
    gone: 'The server does not have this conversation any more.',
    waiting: 'The run waits for an answer above. Give it, or cancel the run.',
    none: 'Write a message. Enter sends it.',
  }[busy ?? 'none']
  return (
    <form
      className="mx-auto flex max-w-3xl items-end gap-2 px-4 py-3 md:px-6"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <textarea
        aria-label="Message"
        className="field max-h-40 resize-none field-sizing-content"
        rows={1}
        value={text}
        disabled={busy !== null}
        placeholder={placeholder}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <Button type="submit" look="primary" disabled={!ready}>
        Send
      </Button>
    </form>
  )
}
