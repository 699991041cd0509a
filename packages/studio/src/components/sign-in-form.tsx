/** The form in which somebody shows the server a token or a key. */
import { type FormEvent, useId, useState } from 'react'
import { signIn } from '../state/account.ts'
import { type Credential, wantedCredential, wasRefused } from '../state/connection.ts'
import { Button } from './button.tsx'

interface Words {
  readonly title: string
  readonly about: string
  readonly label: string
  readonly button: string
  readonly refused: string
}

const words: Readonly<Record<Credential, Words>> = {
  token: {
    title: 'This page needs the token of the server',
    about:
      'The terminal in which the server runs shows an address that holds it, beside “Studio”. Open that address, or paste it here.',
    label: 'Address or token',
    button: 'Go on',
    refused: 'That is not the token of this server. Copy the address that it printed last.',
  },
  key: {
    title: 'Sign in',
    about: 'This server asks for an API key. It begins with wtn_; an admin of your database creates it.',
    label: 'API key',
    button: 'Sign in',
    refused: 'That key is not valid. It may be mistyped, revoked or expired.',
  },
  jwt: {
    title: 'Sign in',
    about: 'This server asks for a token of its issuer, made for this server.',
    label: 'Token',
    button: 'Sign in',
    refused: 'The server does not take that token. It may have expired, or be made for another server.',
  },
}

/** `isKept`: there is a page below, which stays as it is. */
export function SignInForm({ isKept = false }: { readonly isKept?: boolean }) {
  const id = useId()
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<'refused' | 'failed' | null>(wasRefused ? 'refused' : null)
  const [busy, setBusy] = useState(false)
  const { title, about, label, button, refused } = words[wantedCredential()]
  const Title = isKept ? 'h2' : 'h1'
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    signIn(text)
      .then((isOpen) => setProblem(isOpen ? null : 'refused'))
      .catch(() => setProblem('failed'))
      .finally(() => setBusy(false))
  }
  return (
    <form
      onSubmit={submit}
      data-testid="locked"
      aria-labelledby={`${id}-title`}
      className="mx-auto w-full max-w-3xl space-y-2"
    >
      <Title id={`${id}-title`} className="text-base font-semibold">
        {title}
      </Title>
      <p className="max-w-prose text-pretty">
        {about}
        {isKept && ' What you typed on this page stays.'}
      </p>
      <label htmlFor={id} className="label block">
        {label}
      </label>
      <div className="flex flex-wrap items-start gap-2">
        <input
          id={id}
          type="password"
          autoComplete="off"
          spellCheck={false}
          className="field min-w-0 flex-1 basis-60 font-mono"
          value={text}
          aria-invalid={problem !== null}
          aria-describedby={`${id}-problem`}
          onChange={(event) => setText(event.target.value)}
        />
        <Button type="submit" look="primary" disabled={busy || text.trim() === ''}>
          {busy ? 'Looking …' : button}
        </Button>
      </div>
      <p id={`${id}-problem`} role="alert" className="text-fail">
        {problem === 'refused' && refused}
        {problem === 'failed' && 'The server does not answer just now. Try again.'}
      </p>
    </form>
  )
}
