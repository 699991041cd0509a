/** A small word beside a name. */
import type { ReactNode } from 'react'

/** Says what kind of thing it is; never a state. */
export function Pill({ children }: { readonly children: ReactNode }) {
  return (
    <span className="shrink-0 whitespace-nowrap rounded-full border border-line-strong px-2 text-[11px] leading-[18px] font-medium text-muted">
      {children}
    </span>
  )
}
