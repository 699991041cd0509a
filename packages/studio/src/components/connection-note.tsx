/** Above every page: that the server does not answer just now, or that it asks who this is. */
import { useConnection } from '../state/connection.ts'
import { SignInForm } from './sign-in-form.tsx'

/** Nothing while the server answers. The page below stays as it is. */
export function ConnectionNote() {
  const connection = useConnection()
  if (connection === 'locked')
    return (
      <div className="shrink-0 border-b border-wait-line bg-wait-soft px-4 py-3">
        <SignInForm isKept />
      </div>
    )
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
