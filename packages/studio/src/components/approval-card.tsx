/** A call that a person releases: exactly its arguments, which may be changed, and a reason where it is denied. */
import type { Interruption } from '@witan/protocol'
import { useId, useState } from 'react'
import { formatValue } from '../state/format.ts'
import { useAgentName } from '../state/queries.ts'
import { readJsonObject } from '../state/typed.ts'
import { useAnswer } from '../state/use-answer.ts'
import { Button } from './button.tsx'
import { Card, Field } from './card.tsx'
import { JsonBlock } from './json-block.tsx'

/** Nothing of the call has happened yet, and nothing of it happens before the answer. */
export function ApprovalCard({ approval }: { readonly approval: Interruption & { readonly kind: 'approval' } }) {
  const reasonId = useId()
  const nameOf = useAgentName()
  const asked = formatValue(approval.arguments)
  const [edited, setEdited] = useState<string | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [reason, setReason] = useState('')
  const { sending, error, send } = useAnswer(approval.id)
  const why = reason.trim() === '' ? {} : { reason: reason.trim() }
  const approve = () => {
    if (edited === null || edited === asked) return send({ answer: { decision: 'approved', ...why } })
    const read = readJsonObject(edited)
    setProblem(read.problem)
    if (read.problem === null) send({ answer: { decision: 'approved', arguments: read.value, ...why } })
  }
  return (
    <Card
      of={approval}
      title={approval.tool}
      says={`${nameOf(approval.agent)} wants to call it`}
      error={error}
      // Enter after a reason must never approve: only the button does.
      onSubmit={() => {}}
      buttons={
        <>
          <Button look="primary" disabled={sending} onClick={approve}>
            {sending ? 'Sent, continuing …' : edited === null || edited === asked ? 'Approve' : 'Approve with changes'}
          </Button>
          <Button look="danger" disabled={sending} onClick={() => send({ answer: { decision: 'denied', ...why } })}>
            Deny
          </Button>
          <Button look="quiet" disabled={sending} onClick={() => setEdited(edited === null ? asked : null)}>
            {edited === null ? 'Change arguments' : 'As they were'}
          </Button>
        </>
      }
    >
      {edited === null ? (
        <JsonBlock label="Arguments" value={approval.arguments} />
      ) : (
        <Field
          label="Arguments (JSON)"
          code
          rows={Math.min(16, edited.split('\n').length + 1)}
          value={edited}
          problem={problem}
          onChange={setEdited}
        />
      )}
      <div>
        <label htmlFor={reasonId} className="label">
          Reason (the model reads it if you deny)
        </label>
        <input
          id={reasonId}
          className="field mt-1"
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </div>
    </Card>
  )
}
