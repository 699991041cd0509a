/** What an agent demands before its work, how often, and who may meet it. Nothing for an agent that demands nothing. */
import type { StoredAgent } from '@witan/protocol'
import { callerWords } from '@witan/protocol/access'
import { shownText } from '@witan/protocol/shown'

type Demand = StoredAgent['demands'][number]

const often: Readonly<Record<Demand['per'], string>> = {
  call: 'before each call',
  conversation: 'once in a conversation',
}

/** The section of an agent with demands. */
export function Demands({ agent: { demands = [] } }: { readonly agent: StoredAgent }) {
  if (demands.length === 0) return null
  return (
    <section>
      <h2 className="text-base font-semibold">What it demands</h2>
      <ul className="mt-3 divide-y divide-line rounded-md border border-line bg-panel">
        {demands.map((demand) => (
          <li key={`${demand.kind} ${demand.message}`} className="px-4 py-3">
            <p className="break-words">{shownText(demand.message)}</p>
            <p className="mt-1 break-words text-xs text-muted">
              {demand.kind} {often[demand.per]}; met by people here{others(demand)}
            </p>
          </li>
        ))}
      </ul>
    </section>
  )
}

function others({ of }: Demand): string {
  return of.length === 0 ? '' : `, or ${of.map((entry) => shownText(callerWords([entry].flat()))).join(', ')}`
}
