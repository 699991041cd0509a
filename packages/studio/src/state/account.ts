/** Who this browser is to the server. */
import { useQuery } from '@tanstack/react-query'
import { unlock } from './connection.ts'
import { principalQuery, queries } from './queries.ts'

/** The caller as the server knows it; undefined until it has said so. */
export function usePrincipal() {
  return useQuery(principalQuery).data
}

/** Whether the caller may read what models were asked, and who read what: an admin or a reader. */
export function useReadsAll(): boolean {
  return usePrincipal()?.roles.some((role) => role === 'admin' || role === 'read') === true
}

/** True if something with this addressee asks the caller: by its id, by a role of it, or as anybody. */
export function isAddressedTo(
  principal: { readonly id: string; readonly roles: readonly string[] } | undefined,
  addressee: string | null,
): boolean {
  if (addressee === null || principal === undefined) return true
  if (addressee.startsWith('role:')) return principal.roles.includes(addressee.slice('role:'.length))
  return principal.id === `user:${addressee}`
}

/** Signs this browser in. False if the server does not take what was given. Somebody else than before begins with an empty page. */
export async function signIn(text: string): Promise<boolean> {
  const before = queries.getQueryData(principalQuery.queryKey)
  if (!(await unlock(text))) return false
  const { id, database } = await queries.fetchQuery({ ...principalQuery, staleTime: 0 })
  if (before !== undefined && (before.id !== id || before.database !== database)) beginAnew()
  return true
}

/** Takes the cookie of this browser back. Nothing that was read or typed stays. */
export async function signOut(): Promise<void> {
  await fetch('/sign-out', { method: 'POST', cache: 'no-store' })
  beginAnew()
}

function beginAnew(): void {
  try {
    window.sessionStorage.clear()
  } catch {
    // A browser may refuse its storage: then nothing is kept there.
  }
  window.location.assign('/')
}
