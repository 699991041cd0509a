/** Who has signed in, and the way out. */
import { signOut, usePrincipal } from '../state/account.ts'
import { Button } from './button.tsx'

/** Nothing for the one principal of a server of this machine. */
export function Account() {
  const principal = usePrincipal()
  if (principal === undefined || (principal.id === 'user:local' && principal.database === 'default')) return null
  const { id, database, roles } = principal
  return (
    <div data-testid="account" className="ml-auto flex min-w-0 items-center gap-2 text-sm">
      <span
        className="min-w-0 truncate"
        title={`${id} in the database ${database}; roles: ${roles.length === 0 ? 'none' : roles.join(', ')}`}
      >
        <span className="font-medium">{id.replace(/^user:/, '')}</span>
        <span className="text-muted max-[40rem]:hidden"> in {database}</span>
      </span>
      <Button look="quiet" onClick={() => void signOut()}>
        Sign out
      </Button>
    </div>
  )
}
