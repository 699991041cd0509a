/** The edges of a graph in words, one by one: what the drawing shows, for those who read it. */
import type { AgentGraph } from '@witan/client'
import { edgeLine } from '../state/edges.ts'

/** In the order of the definitions. */
export function GraphEdges({ graph }: { readonly graph: AgentGraph }) {
  return (
    <ul aria-label="Edges" className="mt-2 gap-x-6 text-xs text-muted md:columns-2">
      {graph.edges.map((edge, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two edges may be alike, and none moves.
        <li key={index} className="break-words py-0.5">
          {edgeLine(edge)}
        </li>
      ))}
    </ul>
  )
}
