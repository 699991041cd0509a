/** What the lines of a drawing mean. */
import { type LineLook, lookWords } from '../state/edges.ts'

const styles: Readonly<Record<LineLook, string>> = {
  waits: 'border-solid',
  background: 'border-dashed',
  transfer: 'border-dotted border-t-2',
}

/** One item for each look that is drawn. */
export function GraphLegend({ looks }: { readonly looks: ReadonlySet<LineLook> }) {
  const shown = (['waits', 'background', 'transfer'] as const).filter((look) => looks.has(look))
  return (
    <ul
      aria-label="Legend"
      className="flex flex-wrap gap-x-5 gap-y-1 border-t border-line px-4 py-2 text-xs text-muted"
    >
      {shown.map((look) => (
        <li key={look} className="flex items-center gap-2">
          <span aria-hidden="true" className={`w-8 border-t border-line-strong ${styles[look]}`} />
          {lookWords[look]}
        </li>
      ))}
    </ul>
  )
}
