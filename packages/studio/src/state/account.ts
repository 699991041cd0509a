/** Who this browser is to the server. */
import { useQuery } from '@tanstack/react-query'
import { unlock } from './connection.ts'
import { queries } from './queries.ts'
import { witan } from './witan.ts'

const who = {
  queryKey: ['principal'],
  queryFn: () => witan.principal(),
  staleTime: 60_000,
} as const

/** The caller as the server knows it; undefined until it has said so. */
export function usePrincipal() {
  return useQuery(who).data
}

/** Signs this browser in. False if the server does not take what was given. Somebody else than before begins with an empty page. */
export async function signIn(text: string): Promise<boolean> {
  const before = queries.getQueryData<Awaited<ReturnType<typeof who.queryFn>>>(who.queryKey)
  if (!(await unlock(text))) return false
  const { id, database } = await queries.fetchQuery({ ...who, staleTime: 0 })
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
