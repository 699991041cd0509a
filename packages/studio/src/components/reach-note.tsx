/** What a start cannot reach, because a trusted value is not given. */
import { useAgentName } from '../state/queries.ts'

/** Names the agents that cannot be reached; renders nothing if all can. `lost`: agents by the missing name. */
export function ReachNote({ lost }: { readonly lost: ReadonlyMap<string, readonly string[]> }) {
  const nameOf = useAgentName()
  return (
    <div aria-live="polite">
      {lost.size > 0 && (
        <div role="note" data-testid="reach" className="rounded-md border border-wait-line bg-wait-soft px-3 py-2">
          {[...lost].map(([name, agents]) => (
            <p key={name}>
              Without <code className="font-mono font-medium">{name}</code>, {listOf(agents.map(nameOf))} cannot be
              reached in this conversation: only you can give it, and no model may.
            </p>
          ))}
        </div>
      )}
    </div>
  )
}

function listOf(names: readonly string[]): string {
  const most = 5
  if (names.length <= 1) return names[0] ?? ''
  if (names.length > most) return `${names.slice(0, most).join(', ')} and ${names.length - most} more`
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
