/** How an agent is reached from other servers: its address, its cards, and who may call it. Nothing for an agent without an address. */
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
        <dt className="text-muted">May call it</dt>
        <dd>
          <Callers call={agent.access.call} />
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

function Callers({ call }: { readonly call: StoredAgent['access']['call'] }) {
  if (call === null) return 'Everybody of this database, and nobody from outside.'
  if (call.length === 0) return 'Nobody.'
  return (
    <ul>
      {call.map((entry) => (
        <li key={String(entry)} className="break-all">
          {typeof entry === 'string' ? <Entry name={entry} /> : <AllOf names={entry} />}
        </li>
      ))}
    </ul>
  )
}

function AllOf({ names }: { readonly names: readonly string[] }) {
  return names.map((name, index) => (
    <span key={name}>
      {index > 0 && ' and '}
      <Entry name={name} />
    </span>
  ))
}

function Entry({ name }: { readonly name: string }) {
  const meaning = meaningOf(name)
  return (
    <>
      <span className="font-mono">{name}</span>
      {meaning !== null && <span className="text-muted"> {meaning}</span>}
    </>
  )
}

/** What an entry means that is no name of somebody. */
function meaningOf(name: string): string | null {
  if (name === '@*') return 'every agent with an address'
  if (name === 'anonymous') return 'callers without a credential'
  return name.startsWith('@*@') ? `every agent of ${name.slice(3)}` : null
}
