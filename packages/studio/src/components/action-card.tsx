/** An open action, answered by hand: the arguments it came with, and a place for the JSON that goes back. */
import type { Interruption } from '@witan/protocol'
import { type FormEvent, useId, useState } from 'react'
import { witan } from '../state/witan.ts'
import { Button } from './button.tsx'
import { JsonBlock } from './json-block.tsx'
import { ProblemNote } from './note.tsx'
import { StateMark } from './state-mark.tsx'

/** Stays until the conversation's events say that the action is resolved. */
export function ActionCard({ action }: { readonly action: Interruption }) {
  const id = useId()
  const [text, setText] = useState('')
  const [unreadable, setUnreadable] = useState<string | null>(null)
  const [error, setError] = useState<unknown>(null)
  const [sending, setSending] = useState(false)
  const send = async (body: { answer: unknown } | { error: string }) => {
    setSending(true)
    setError(null)
    try {
      await witan.interruptions.answer(action.id, body)
    } catch (reason) {
      setError(reason)
      setSending(false)
    }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const read = readJson(text)
    setUnreadable(read.problem)
    if (read.problem === null) void send({ answer: read.value })
  }
  return (
    <form onSubmit={submit} data-testid="action" className="rounded-md border border-wait-line bg-panel">
      <header className="flex flex-wrap items-center gap-x-2 rounded-t-[5px] border-b border-wait-line bg-wait-soft px-3 py-2">
        <StateMark state="waiting" />
        <h3 className="font-semibold">{action.name}</h3>
        <span className="text-wait">waits for your answer</span>
        <span className="basis-full break-all font-mono text-xs text-muted">{action.path}</span>
      </header>
      <div className="space-y-3 p-3">
        <JsonBlock label="Arguments" value={action.arguments} />
        <div>
          <label htmlFor={id} className="label">
            Answer (JSON)
          </label>
          <textarea
            id={id}
            className="field mt-1 font-mono"
            rows={3}
            spellCheck={false}
            placeholder={'{ "ok": true }'}
            value={text}
            aria-invalid={unreadable !== null}
            aria-describedby={`${id}-problem`}
            onChange={(event) => setText(event.target.value)}
          />
          <p id={`${id}-problem`} className="text-fail">
            {unreadable}
          </p>
        </div>
        {error !== null && <ProblemNote error={error} />}
        <div className="flex flex-wrap gap-2">
          <Button type="submit" look="primary" disabled={sending || text.trim() === ''}>
            {sending ? 'Sent, going on …' : 'Send answer'}
          </Button>
          <Button disabled={sending} onClick={() => void send({ error: text.trim() || 'Refused by hand.' })}>
            Answer with an error
          </Button>
        </div>
      </div>
    </form>
  )
}

function readJson(text: string): { readonly value: unknown; readonly problem: string | null } {
  try {
    return { value: JSON.parse(text), problem: null }
  } catch (reason) {
    const why = reason instanceof Error ? reason.message : String(reason)
    return { value: null, problem: `This is not JSON: ${why}. Text needs quotes, such as "done".` }
  }
}
