/** The acquaintance graph of an agent, drawn. Loaded only where it is shown. */
import { Link } from '@tanstack/react-router'
import type { AgentGraph as Graph } from '@witan/client'
import {
  Background,
  Controls,
  type Edge,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import './agent-graph.css'
import { useMemo } from 'react'
import { drawnEdges } from '../state/edges.ts'
import { placeNodes } from '../state/graph-layout.ts'
import { AgentSign } from './agent-sign.tsx'
import { useAgents } from '../state/queries.ts'

type AgentNode = Node<{ name: string; kind: string; root: boolean }, 'agent'>

const width = 208
const height = 54
const step = { layer: width + 92, offset: height + 22 }
/** What the words of an edge need between two layers. */
const labelWidth = 90
const nodeTypes = { agent: AgentBox }

/** Callers left of the called. A click opens the agent. */
export function AgentGraph({ graph, rootId }: { readonly graph: Graph; readonly rootId: string }) {
  const drawing = useMemo(() => draw(graph, rootId), [graph, rootId])
  return (
    <div style={{ height: drawing.height }} data-testid="graph">
      <ReactFlow
        nodes={drawing.nodes}
        edges={drawing.edges}
        nodeTypes={nodeTypes}
        fitView
        fitViewOptions={{ padding: { x: '60px', y: 0.08 }, maxZoom: 1 }}
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
  )
}

function draw(graph: Graph, rootId: string) {
  const lines = drawnEdges(graph)
  const layerStep = step.layer + (lines.some(({ label }) => label !== '') ? labelWidth : 0)
  const places = new Map(placeNodes(graph, rootId).map((place) => [place.id, place]))
  const nodes = graph.nodes.map((node): AgentNode => {
    const place = places.get(node.id) ?? { layer: 0, offset: 0 }
    return {
      id: node.id,
      type: 'agent',
      position: { x: place.layer * layerStep, y: place.offset * step.offset },
      width,
      height,
      data: { name: node.name, kind: node.kind, root: node.id === rootId },
    }
  })
  const edges = lines.map(
    ({ from, to, kinds, label, isDashed }): Edge => ({
      id: `${from} ${to}`,
      source: from,
      target: to,
      label: label === '' ? undefined : label,
      ariaLabel: `${from} to ${to}: ${kinds.join(', ')}`,
      ...(isDashed ? { style: { strokeDasharray: '5 4' } } : {}),
      markerEnd: { type: MarkerType.ArrowClosed, color: 'var(--line-strong)', width: 16, height: 16 },
    }),
  )
  const offsets = [...places.values()].map((place) => place.offset)
  const extent = (Math.max(...offsets) - Math.min(...offsets)) * step.offset + height
  return { nodes, edges, height: Math.min(560, Math.max(220, extent + 72)) }
}

function AgentBox({ id, data }: NodeProps<AgentNode>) {
  const known = useAgents().data?.some((agent) => agent.id === id) ?? false
  const look = data.root ? 'border-accent bg-accent-soft' : 'border-line-strong bg-panel hover:bg-sunken'
  const inside = (
    <>
      <span className="flex items-center gap-1.5">
        <AgentSign id={id} />
        <span className="truncate font-medium">{data.name}</span>
      </span>
      <span className="block truncate font-mono text-xs text-muted">
        {known && data.kind === 'agent' ? id : `${data.kind === 'user' ? 'person' : data.kind} ${id}`}
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
        <div className={box}>{inside}</div>
      )}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </>
  )
}
