/** Which file came from which, by which agent: boxes in columns, an arrow from each file to those that were made from it. */
import type { ConversationView } from '@witan/client'
import type { Artifact } from '@witan/protocol/entries'
import { useId, useMemo } from 'react'
import { lineageOf } from '../state/artifacts.ts'
import { layoutGraph } from '../state/graph-layout.ts'
import { AgentName, AgentSign } from './agent-sign.tsx'

const box = { width: 132, height: 46 }
const step = { x: box.width + 32, y: box.height + 10 }

interface LineageProps {
  readonly artifacts: ConversationView['artifacts']
  /** Only what led to this one and came of it; null for all. */
  readonly selected: string | null
  readonly onSelect: (id: string) => void
}

/** Renders nothing if no file was made from another. At most 60 files are drawn. */
export function ArtifactLineage({ artifacts, selected, onSelect }: LineageProps) {
  const arrow = useId()
  const size = artifacts.size
  // biome-ignore lint/correctness/useExhaustiveDependencies: artifacts are only ever added.
  const { lineage, places, extent } = useMemo(() => drawn(artifacts, selected), [artifacts, size, selected])
  if (lineage.edges.length === 0) return null
  return (
    <section aria-label="What was made from what" data-testid="lineage">
      <div className="overflow-x-auto pb-1">
        <div className="relative mx-auto" style={extent}>
          <svg aria-hidden="true" className="absolute inset-0 text-line-strong" {...extent}>
            <marker id={arrow} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path d="M0 .5 7.5 4 0 7.5z" fill="currentColor" />
            </marker>
            {lineage.edges.map(({ from, to }) => (
              <path
                key={`${from} ${to}`}
                data-testid="lineage-edge"
                d={curve(places.get(from), places.get(to))}
                fill="none"
                stroke="currentColor"
                strokeWidth="1.25"
                markerEnd={`url(#${arrow})`}
              />
            ))}
          </svg>
          {lineage.nodes.map((one) => (
            <Box
              key={one.id}
              artifact={one}
              at={places.get(one.id) ?? { x: 0, y: 0 }}
              isSelected={one.id === selected}
              onSelect={() => onSelect(one.id)}
            />
          ))}
        </div>
      </div>
      {lineage.isCut && <p className="pt-1 text-xs text-muted">Only {lineage.nodes.length} of them are drawn.</p>}
    </section>
  )
}

interface Point {
  readonly x: number
  readonly y: number
}

function drawn(artifacts: ConversationView['artifacts'], selected: string | null) {
  const lineage = lineageOf(artifacts, selected)
  const placed = layoutGraph(lineage, '').places
  const widest = Math.max(0, ...placed.map(({ offset }) => offset))
  const layers = Math.max(0, ...placed.map(({ layer }) => layer))
  const places = new Map(
    placed.map(({ id, layer, offset }): [string, Point] => [id, { x: layer * step.x, y: (offset + widest) * step.y }]),
  )
  const extent = { width: layers * step.x + box.width, height: 2 * widest * step.y + box.height }
  return { lineage, places, extent }
}

/** From the right edge of a box to the left edge of another. */
function curve(from: Point = { x: 0, y: 0 }, to: Point = { x: 0, y: 0 }): string {
  const [x1, y1, x2, y2] = [from.x + box.width, from.y + box.height / 2, to.x, to.y + box.height / 2]
  const bend = (x2 - x1) / 2
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2 - 1} ${y2}`
}

interface BoxProps {
  readonly artifact: Artifact
  readonly at: Point
  readonly isSelected: boolean
  readonly onSelect: () => void
}

function Box({ artifact: { name, agent }, at, isSelected, onSelect }: BoxProps) {
  const look = isSelected ? 'border-accent bg-accent-soft' : 'border-line-strong bg-panel hover:bg-sunken'
  return (
    <button
      type="button"
      aria-pressed={isSelected}
      onClick={onSelect}
      title={name}
      className={`absolute rounded-md border px-2 text-left ${look}`}
      style={{ left: at.x, top: at.y, ...box }}
    >
      <span className="block truncate font-medium" dir="auto">
        {name}
      </span>
      <span className="flex items-center gap-1.5 text-xs text-muted">
        <AgentSign id={agent} />
        <span className="truncate">
          <AgentName id={agent} />
        </span>
      </span>
    </button>
  )
}
