/** A remote agent's condition: resolved with what it asks for, or declined. */
import type { Interruption } from '@witan/protocol'
import { useState } from 'react'
import { readJsonObject } from '../state/typed.ts'
import { useAnswer } from '../state/use-answer.ts'
import { Button } from './button.tsx'
import { Card, Field } from './card.tsx'
import { JsonBlock } from './json-block.tsx'

/** No model reads the condition; declined, its agent learns only that it was not met. */
export function PolicyCard({ policy }: { readonly policy: Interruption & { readonly kind: 'policy' } }) {
  const [text, setText] = useState('{}')
  const [problem, setProblem] = useState<string | null>(null)
  const { sending, error, send } = useAnswer(policy.id)
  const submit = () => {
    const read = readJsonObject(text)
    setProblem(read.problem)
    if (read.problem === null) send({ answer: { resolution: read.value } })
  }
  return (
    <Card
      of={policy}
      title={policy.issuer}
      says="asks for something first"
      error={error}
      onSubmit={submit}
      buttons={
        <>
          <Button type="submit" look="primary" disabled={sending}>
            {sending ? 'Sent, continuing …' : 'Resolve'}
          </Button>
          <Button look="danger" disabled={sending} onClick={() => send({ answer: { decision: 'declined' } })}>
            Decline
          </Button>
        </>
      }
    >
      <JsonBlock label="Condition" value={policy.policy} />
      <Field label="Resolution (JSON)" code value={text} problem={problem} onChange={setText} />
    </Card>
  )
}
