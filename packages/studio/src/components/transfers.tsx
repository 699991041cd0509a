/** The agents that an agent hands control over to. */
import { Link } from '@tanstack/react-router'
import type { StoredAgent } from '@witan/protocol'
import { AgentName, AgentSign } from './agent-sign.tsx'
import { Mark } from './mark.tsx'

/** A section with one line for each; nothing if its model cannot hand over. Older servers have no such keys. */
export function Transfers({
  agent: { transfers = [], transferReach, disableTransfer },
}: {
  readonly agent: StoredAgent
}) {
  const reachesAll = transferReach === 'tree'
  if (disableTransfer || (transfers.length === 0 && !reachesAll)) return null
  return (
    <section>
      <h2 className="text-base font-semibold">Hands over to</h2>
      <p className="text-muted">Its model may give control to these agents; they then answer in its place.</p>
      {reachesAll && <p className="text-muted">Also to every other agent that the root of the run reaches.</p>}
      <ul data-testid="transfers" className="mt-2 border-t border-line">
        {transfers.map((transfer) => (
          <Target key={transfer.agent} transfer={transfer} />
        ))}
      </ul>
    </section>
  )
}

function Target({
  transfer: { agent, description, history, returnsTo, map },
}: {
  readonly transfer: StoredAgent['transfers'][number]
}) {
  const mapped = Object.entries(map).map(([to, from]) => `${to} from ${from ?? 'nobody'}`)
  return (
    <li className="border-b border-line py-2">
      <p className="flex flex-wrap items-center gap-1.5">
        <AgentSign id={agent} />
        <Link to="/agents/$agentId" params={{ agentId: agent }} className="mr-1 break-words font-medium text-accent">
          <AgentName id={agent} />
        </Link>
        {returnsTo === 'caller' && <Mark title="When it has answered, control comes back.">gives control back</Mark>}
        {history === 'words' && <Mark title="It reads no tool calls and no results of others.">reads words only</Mark>}
        {mapped.map((words) => (
          <Mark key={words} title="Where the value of its parameter comes from.">
            {words}
          </Mark>
        ))}
      </p>
      {description !== '' && <p className="mt-1 break-words text-muted">{description}</p>}
    </li>
  )
}
