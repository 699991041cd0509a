/** The small coloured initial of an agent, and its name: the same in chat, tree, graph and lists. */
import type { CSSProperties } from 'react'
import { useAgentLook, useAgentName } from '../state/queries.ts'

/** Hidden from screen readers: the name is beside it. */
export function AgentSign({ id, large = false }: { readonly id: string; readonly large?: boolean }) {
  const { letter, hue } = useAgentLook()(id)
  return (
    <span
      aria-hidden="true"
      data-agent={id}
      style={{ '--hue': hue } as CSSProperties}
      className={`agent-sign ${large ? 'size-6 text-xs' : 'size-[18px] text-[11px]'}`}
    >
      {letter}
    </span>
  )
}

/** The name of an agent, with its id on hover. */
export function AgentName({ id }: { readonly id: string }) {
  const name = useAgentName()(id)
  return <span title={name === id ? undefined : id}>{name}</span>
}
