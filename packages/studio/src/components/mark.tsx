/** Small marks on a name: what kind of thing it is, or what holds for it. */
import type { ReactNode } from 'react'

const tones = {
  plain: 'border-line text-muted',
  accent: 'border-transparent bg-accent-soft text-accent',
  wait: 'border-wait-line bg-wait-soft text-wait',
  fail: 'border-fail-line bg-fail-soft text-fail',
}

/** A short word in a box. `title` explains it in a sentence. */
export function Mark(props: {
  readonly tone?: keyof typeof tones
  readonly title?: string
  readonly children: ReactNode
}) {
  return (
    <span
      title={props.title}
      className={`inline-flex shrink-0 items-center gap-1 whitespace-nowrap rounded border px-1.5 text-xs ${tones[props.tone ?? 'plain']}`}
    >
      {props.children}
    </span>
  )
}
