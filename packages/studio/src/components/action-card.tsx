/** An open action, answered by hand: the arguments it came with, and a place for the text or JSON that goes back. */
import type { Interruption } from '@witan/protocol'
import { useState } from 'react'
import { readTextOrJson } from '../state/typed.ts'
import { useAnswer } from '../state/use-answer.ts'
import { Button } from './button.tsx'
import { Card, Field } from './card.tsx'
import { JsonBlock } from './json-block.tsx'

/** Stays until the conversation's events say that the action is resolved. */
export function ActionCard({ action }: { readonly action: Interruption & { readonly kind: 'action' } }) {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const { sending, error, send } = useAnswer(action.id)
  const submit = () => {
    const read = readTextOrJson(text)
    setProblem(read.problem)
    if (read.problem === null && text.trim() !== '') send({ answer: read.value })
  }
  return (
    <Card
      of={action}
      title={action.name}
      says="waits for your answer"
      error={error}
      onSubmit={submit}
      buttons={
        <>
          <Button type="submit" look="primary" disabled={sending || text.trim() === ''}>
            {sending ? 'Sent, continuing …' : 'Send answer'}
          </Button>
          <Button disabled={sending} onClick={() => send({ error: text.trim() || 'Refused by hand.' })}>
            Answer with an error
          </Button>
        </>
      }
    >
      <JsonBlock label="Arguments" value={action.arguments} />
      <Field
        label="Answer (text or JSON)"
        code
        placeholder={'done, or { "ok": true }'}
        value={text}
        problem={problem}
        onChange={setText}
      />
    </Card>
  )
}
