/** An agent's message to a person, and the reply. */
import type { Interruption } from '@witan/protocol'
import { useState } from 'react'
import { useAgentName } from '../state/queries.ts'
import { useAnswer } from '../state/use-answer.ts'
import { Button } from './button.tsx'
import { Card, Field } from './card.tsx'

/** The model reads the reply under the person's name. */
export function MessageCard({ message }: { readonly message: Interruption & { readonly kind: 'message' } }) {
  const [text, setText] = useState('')
  const nameOf = useAgentName()
  const { sending, error, send } = useAnswer(message.id)
  const submit = () => {
    if (text.trim() !== '') send({ answer: text.trim() })
  }
  return (
    <Card
      of={message}
      title={nameOf(message.agent)}
      says={message.addressee === null ? 'writes' : `writes to ${message.addressee}`}
      error={error}
      onSubmit={submit}
      buttons={
        <Button type="submit" look="primary" disabled={sending || text.trim() === ''}>
          {sending ? 'Sent, continuing …' : 'Send reply'}
        </Button>
      }
    >
      <p className="whitespace-pre-wrap break-words text-base">{message.prompt}</p>
      <Field label="Reply" value={text} onChange={setText} />
    </Card>
  )
}
