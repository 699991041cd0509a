/** What the lines of a drawing mean. */
import { type LineLook, lineForms } from '../state/edges.ts'

/** One item for each kind of edge that is drawn, with its line as it is drawn. */
export function GraphLegend({ looks }: { readonly looks: ReadonlySet<LineLook> }) {
  const shown = (Object.keys(lineForms) as LineLook[]).filter((look) => looks.has(look))
  return (
    <ul
      aria-label="Legend"
      className="flex flex-wrap gap-x-6 gap-y-1.5 border-t border-line px-4 py-2.5 text-xs text-muted"
    >
      {shown.map((look) => (
        <li key={look} className="flex items-center gap-2">
          <LineSample look={look} />
          {lineForms[look].words}
        </li>
      ))}
    </ul>
  )
}

function LineSample({ look }: { readonly look: LineLook }) {
  const { width, dash } = lineForms[look]
  return (
    <svg viewBox="0 0 44 8" className="h-2 w-11 shrink-0 text-line-drawn" aria-hidden="true" data-look={look}>
      <path
        d="M2 4H42"
        stroke="currentColor"
        strokeWidth={width}
        strokeDasharray={dash}
        strokeLinecap={dash === undefined ? 'butt' : 'round'}
      />
    </svg>
  )
}
