/** Where a person writes the next message. */
import type { ConversationParticipant } from '@witan/protocol/schemas'
import { type KeyboardEvent, useState } from 'react'
import { takeFiles, useAttachments } from '../state/attachments.ts'
import { useDraft } from '../state/drafts.ts'
import type { SentPrompt } from '../state/prompt.ts'
import { AttachButton, AttachedFiles, takesFiles } from './attach-field.tsx'
import { Button } from './button.tsx'

interface ComposerProps {
  /** What is typed is kept under the conversation's id until it is sent. */
  readonly conversationId: string
  readonly busy: 'sending' | 'running' | 'waiting' | 'gone' | null
  /** The people in whose name one may write. */
  readonly people: readonly ConversationParticipant[]
  readonly onSend: (said: Pick<SentPrompt, 'text' | 'files' | 'author'>) => void
}

/** Enter sends, Shift and Enter begin a new line. Shut while a run is active, and says why. */
export function Composer({ conversationId, busy, people, onSend }: ComposerProps) {
  const [chosen, setAuthor] = useState('')
  const author = people.some(({ id }) => id === chosen) ? chosen : ''
  const [text, setText] = useDraft(conversationId)
  const { files } = useAttachments(conversationId)
  const ready = busy === null && (text.trim() !== '' || files.length > 0)
  const send = () => {
    if (!ready) return
    onSend({ text, files: takeFiles(conversationId), author: author === '' ? null : author })
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
  const shut = busy !== null
  return (
    <form
      className="mx-auto max-w-3xl space-y-2 px-4 py-3 md:px-6"
      {...takesFiles({ draft: conversationId, disabled: shut })}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <AttachedFiles draft={conversationId} disabled={shut} />
      {people.length > 0 && (
        <label className="flex items-center gap-2 text-xs text-muted">
          Write as
          <select
            className="rounded-md border border-line-strong bg-panel px-2 py-1 text-ink"
            value={author}
            onChange={(event) => setAuthor(event.target.value)}
          >
            <option value="">myself</option>
            {people.map(({ id, name }) => (
              <option key={id} value={id}>
                {name ?? id}
              </option>
            ))}
          </select>
        </label>
      )}
      <div className="flex items-end gap-2">
        <AttachButton draft={conversationId} disabled={shut} />
        <textarea
          aria-label="Message"
          className="field max-h-40 resize-none field-sizing-content"
          rows={1}
          value={text}
          disabled={shut}
          placeholder={placeholder}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <Button type="submit" look="primary" disabled={!ready}>
          Send
        </Button>
      </div>
    </form>
  )
}
