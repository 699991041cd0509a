/** How an agent is reached from other servers: its address and its cards. Nothing for an agent without an address. */
import type { StoredAgent } from '@witan/protocol'

/** The section of a published agent. */
export function Published({ agent }: { readonly agent: StoredAgent }) {
  const { address, disabled } = agent
  if (address == null) return null
  // The whole address is understood for every domain of the server.
  const segment = encodeURIComponent(address.slice(1))
  return (
    <section>
      <h2 className="text-base font-semibold">Other servers</h2>
      <p className="text-muted">
        {disabled ? 'It is disabled, so nobody finds it.' : 'Agents and people elsewhere find it by its address.'}
      </p>
      <dl className="mt-3 grid gap-x-6 gap-y-2 rounded-md border border-line bg-panel px-4 py-3 sm:grid-cols-[auto_minmax(0,1fr)]">
        <dt className="text-muted">Address</dt>
        <dd className="break-all font-mono">{address}</dd>
        <dt className="text-muted">Cards</dt>
        <dd className="flex flex-wrap gap-x-4">
          <CardLink href={`/.well-known/agent-card/${segment}`}>Mentionable</CardLink>
          <CardLink href={`/a2a/${segment}/.well-known/agent-card.json`}>A2A, signed</CardLink>
        </dd>
      </dl>
    </section>
  )
}

function CardLink({ href, children }: { readonly href: string; readonly children: string }) {
  return (
    <a href={href} target="_blank" rel="noreferrer" className="text-accent underline">
      {children}
    </a>
  )
}
