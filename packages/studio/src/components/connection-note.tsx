/** Above every page: that the server does not answer just now, or that it asks for its token. */
import { type FormEvent, useId, useState } from 'react'
import { unlock, useConnection, wasRefused } from '../state/connection.ts'
import { Button } from './button.tsx'

/** Nothing while the server answers. The page below stays as it is. */
export function ConnectionNote() {
  const connection = useConnection()
  if (connection === 'locked') return <TokenForm />
  if (connection === 'open') return null
  return (
    <p
      role="status"
      data-testid="reconnecting"
      className="shrink-0 border-b border-wait-line bg-wait-soft px-4 py-2 text-wait"
    >
      <strong className="font-semibold">Reconnecting …</strong> The server does not answer. What you see and what you
      typed stays, and everything goes on by itself once it is back.
    </p>
  )
}

function TokenForm() {
  const id = useId()
  const [text, setText] = useState('')
  const [refused, setRefused] = useState(wasRefused)
  const [busy, setBusy] = useState(false)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    unlock(text)
      .then((isOpen) => setRefused(!isOpen))
      .catch(() => {})
      .finally(() => setBusy(false))
  }
  return (
    <form
      onSubmit={submit}
      data-testid="locked"
      aria-labelledby={`${id}-title`}
      className="shrink-0 border-b border-wait-line bg-wait-soft px-4 py-3"
    >
      <div className="mx-auto max-w-3xl space-y-2">
        <h2 id={`${id}-title`} className="text-base font-semibold">
          This page needs the token of the server
        </h2>
        <p className="max-w-prose text-pretty">
          The terminal in which the server runs shows an address that holds it, beside “Studio”. Open that address, or
          paste it here. What you typed on this page stays.
        </p>
        <label htmlFor={id} className="label block">
          Address or token
        </label>
        <div className="flex flex-wrap items-start gap-2">
          <input
            id={id}
            type="password"
            autoComplete="off"
            spellCheck={false}
            className="field min-w-0 flex-1 basis-60 font-mono"
            value={text}
            aria-invalid={refused}
            aria-describedby={`${id}-problem`}
            onChange={(event) => setText(event.target.value)}
          />
          <Button type="submit" look="primary" disabled={busy || text.trim() === ''}>
            {busy ? 'Looking …' : 'Go on'}
          </Button>
        </div>
        <p id={`${id}-problem`} role="alert" className="text-fail">
          {refused && 'That is not the token of this server. Copy the address that it printed last.'}
        </p>
      </div>
    </form>
  )
}
