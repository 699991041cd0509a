/** The acquaintance graph of an agent, drawn. Loaded only where it is shown. */
import { Link } from '@tanstack/react-router'
import type { AgentGraph as Graph } from '@witan/client'
import type { StoredAgent } from '@witan/protocol'
import {
  Background,
  BaseEdge,
  Controls,
  type Edge,
  type EdgeProps,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  type ReactFlowInstance,
} from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import './agent-graph.css'
import { useMemo } from 'react'
import { type DrawnEdge, drawnEdges, lineForms } from '../state/edges.ts'
import { count } from '../state/format.ts'
import { layoutGraph, type Place, routeKey } from '../state/graph-layout.ts'
import { GraphLegend } from './graph-legend.tsx'
import { linePath, type Point } from '../state/line-path.ts'
import { AgentSign } from './agent-sign.tsx'
import { shownText } from '@witan/protocol/shown'
import { useAgents } from '../state/queries.ts'

type AgentNode = Node<{ name: string; kind: string; root: boolean }, 'agent'>

const width = 208
const height = 54
const step = { layer: width + 92, offset: height + 22 }
/** What the words of an edge need between two layers. */
const labelWidth = 90
const nodeTypes = { agent: AgentBox }
const edgeTypes = { line: Line }

type LineEdge = Edge<{ lanes: readonly Point[]; shift: number }, 'line'>

/** Callers left of the called. A click opens the agent. Where the letters would be too small, the drawing is moved instead. */
export function AgentGraph({ graph, rootId }: { readonly graph: Graph; readonly rootId: string }) {
  const drawing = useMemo(() => draw(graph, rootId), [graph, rootId])
  return (
    <>
      <div style={{ height: drawing.height }} data-testid="graph">
        <ReactFlow
          nodes={drawing.nodes}
          edges={drawing.edges}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          onInit={showWhole}
          minZoom={0.2}
          maxZoom={1.5}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          preventScrolling={false}
          zoomOnScroll={false}
        >
          <Background gap={18} size={1} color="var(--line)" />
          <Controls showInteractive={false} position="top-right" />
        </ReactFlow>
      </div>
      <GraphLegend looks={drawing.looks} />
    </>
  )
}

/** All of the drawing where it fits, else its beginning: it is moved, so that its letters stay as large as they are. */
function showWhole(flow: ReactFlowInstance<AgentNode, LineEdge>): void {
  void flow.fitView({ padding: { x: '60px', y: 0.08 }, minZoom: 1, maxZoom: 1 }).then(() => {
    const { x, y, zoom } = flow.getViewport()
    if (x < 24) void flow.setViewport({ x: 24, y, zoom })
  })
}

function draw(graph: Graph, rootId: string) {
  const lines = drawnEdges(graph)
  const layerStep = step.layer + (lines.some(({ label }) => label !== '') ? labelWidth : 0)
  const { places, routes } = layoutGraph(graph, rootId)
  const known = new Map(places.map((place) => [place.id, place]))
  const nodes = graph.nodes.map((node): AgentNode => {
    const { layer, offset } = known.get(node.id) ?? { layer: 0, offset: 0 }
    return {
      id: node.id,
      type: 'agent',
      position: { x: layer * layerStep, y: offset * step.offset - height / 2 },
      width,
      height,
      data: { name: node.name, kind: node.kind, root: node.id === rootId },
    }
  })
  const edges = lines.map((line) => edgeOf(line, routes.get(routeKey(line)) ?? [], layerStep))
  const tops = [...places, ...[...routes.values()].flat()].map(({ offset }) => offset * step.offset)
  const extent = Math.max(...tops) - Math.min(...tops) + height
  return {
    nodes,
    edges,
    looks: new Set(lines.map(({ look }) => look)),
    height: Math.min(560, Math.max(220, extent + 72)),
  }
}

/** How far lines between the same two agents stand apart, in px; closer where there are many. */
const apart = 18
const mostApart = 44

function edgeOf(line: DrawnEdge, lanes: readonly Place[], layerStep: number): LineEdge {
  const { from, to, kinds, label, look, place, of } = line
  const { width: strokeWidth, dash: strokeDasharray } = lineForms[look]
  return {
    id: `${from} ${to} ${look}`,
    type: 'line',
    source: from,
    target: to,
    label: label === '' ? undefined : label,
    ariaLabel: `${from} to ${to}: ${kinds.join(', ')}`,
    data: {
      lanes: lanes.map(({ layer, offset }) => ({ x: layer * layerStep, y: offset * step.offset })),
      shift: (place - (of - 1) / 2) * Math.min(apart, mostApart / Math.max(1, of - 1)),
    },
    style: { strokeWidth, strokeDasharray, strokeLinecap: strokeDasharray === undefined ? undefined : 'round' },
    markerEnd: {
      ...{ type: MarkerType.ArrowClosed, color: 'var(--line-drawn)', markerUnits: 'userSpaceOnUse' },
      ...{ width: 22, height: 22 },
    },
  }
}

/** A line through its lanes, so that it passes behind no agent. */
function Line({ sourceX, sourceY, targetX, targetY, data, label, style = {}, markerEnd }: EdgeProps<LineEdge>) {
  const { lanes = [], shift = 0 } = data ?? {}
  const ends = { from: { x: sourceX, y: sourceY + shift }, to: { x: targetX, y: targetY + shift } }
  const shifted = lanes.map(({ x, y }) => ({ x, y: y + shift }))
  const { path, middle } = linePath({ ...ends, lanes: shifted, laneWidth: width })
  const words = label === undefined ? {} : { label, labelX: middle.x, labelY: middle.y, labelShowBg: true }
  return <BaseEdge path={path} style={style} {...words} {...(markerEnd === undefined ? {} : { markerEnd })} />
}

function AgentBox({ id, data }: NodeProps<AgentNode>) {
  const agents = useAgents().data
  const agent = data.kind === 'remote' ? undefined : agents?.find((one) => one.id === id)
  const known = agent !== undefined
  const isElsewhere = data.kind === 'remote'
  const look = isElsewhere
    ? 'border-dashed border-line-strong bg-sunken'
    : data.root
      ? 'border-accent bg-accent-soft'
      : 'border-line-strong bg-panel hover:bg-sunken'
  const inside = (
    <>
      <span className="flex items-center gap-1.5">
        <AgentSign id={id} />
        <span className="truncate font-medium">{shownText(data.name)}</span>
      </span>
      <span className="block truncate font-mono text-xs text-muted">
        {agent?.workflow == null ? placeWords({ id, kind: data.kind, known }) : flowWords(agent.workflow)}
      </span>
    </>
  )
  const box = `block h-[54px] w-[208px] rounded-md border px-3 py-1.5 text-left ${look}`
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      {known ? (
        <Link to="/agents/$agentId" params={{ agentId: id }} className={box} title={`${data.name} (${id})`}>
          {inside}
        </Link>
      ) : (
        <div className={box} title={data.name}>
          {inside}
        </div>
      )}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </>
  )
}

/** How a workflow runs its steps. */
function flowWords({ kind, maxIterations }: NonNullable<StoredAgent['workflow']>): string {
  if (kind === 'loop') return `loop ↻ at most ${count(maxIterations, 'round')}`
  return kind === 'parallel' ? 'parallel ∥ at once' : 'sequence → in order'
}

/** What it is, and its id; an agent of another server has its address for a name. */
function placeWords({ id, kind, known }: { readonly id: string; readonly kind: string; readonly known: boolean }) {
  if (kind === 'remote') return 'on another server'
  if (kind === 'user') return `person ${id}`
  return known && kind === 'agent' ? id : `${kind} ${id}`
}
