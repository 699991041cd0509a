/** A line of facts about a thing: each a name and a value. */
import type { ReactNode } from 'react'

/** Lays facts out in lines. */
export function FactList({ children }: { readonly children: ReactNode }) {
  return <dl className="flex flex-wrap gap-x-6 gap-y-1 text-xs">{children}</dl>
}

/** One of them. */
export function FactLine({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="flex min-w-0 gap-2">
      <dt className="shrink-0 text-muted">{name}</dt>
      <dd className="min-w-0 break-all">{children}</dd>
    </div>
  )
}
