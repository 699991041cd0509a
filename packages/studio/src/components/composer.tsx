/** Where a person writes the next message. */
import type { ConversationParticipant } from '@witan/protocol/schemas'
import { type KeyboardEvent, useState } from 'react'
import { takeFiles, useAttachments } from '../state/attachments.ts'
import { useDraft } from '../state/drafts.ts'
import type { Said } from '../state/prompt.ts'
import { AttachButton, AttachedFiles, takesFiles } from './attach-field.tsx'
import { Button } from './button.tsx'
import { OpenActionDialog } from './open-action-dialog.tsx'

interface ComposerProps {
  /** What is typed is kept under the conversation's id until it is sent. */
  readonly conversationId: string
  readonly busy: 'sending' | 'running' | 'waiting' | 'gone' | null
  /** How many actions of the run wait: a message closes them, and is sent only by who wants that. */
  readonly openActions: number
  /** The people in whose name one may write. */
  readonly people: readonly ConversationParticipant[]
  readonly onSend: (said: Said) => void
}

const placeholders = {
  sending: 'Your message is on its way. Write the next one.',
  running: 'The run is at work. It reads what you send at its next step.',
  gone: 'The server does not have this conversation any more.',
  waiting: 'The run waits for the answer above. It reads what you send after that.',
  none: 'Write a message. Enter sends it.',
}

/** Enter sends, Shift and Enter begin a new line. A run at work reads what is sent at its next step. */
export function Composer({ conversationId, busy, openActions, people, onSend }: ComposerProps) {
  const [chosen, setAuthor] = useState('')
  const author = people.some(({ id }) => id === chosen) ? chosen : ''
  const [text, setText] = useDraft(conversationId)
  const { files } = useAttachments(conversationId)
  const [asking, setAsking] = useState(false)
  const shut = busy === 'gone'
  const ready = !shut && busy !== 'sending' && (text.trim() !== '' || files.length > 0)
  const put = (cancelsActions: boolean) => {
    setAsking(false)
    onSend({ text, files: takeFiles(conversationId), author: author === '' ? null : author, cancelsActions })
    setText('')
  }
  const send = () => {
    if (!ready) return
    if (openActions > 0) setAsking(true)
    else put(false)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  const placeholder = placeholders[busy ?? 'none']
  return (
    <form
      className="mx-auto max-w-3xl space-y-2 px-4 py-3 md:px-6"
      {...takesFiles({ draft: conversationId, disabled: shut })}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      {asking && <OpenActionDialog actions={openActions} onSend={() => put(true)} onWait={() => setAsking(false)} />}
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
