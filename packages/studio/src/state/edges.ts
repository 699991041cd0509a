/** The edges of a graph of agents as they are drawn: one line for each pair, in words. */
import type { AgentGraph } from '@witan/client'
import { type Edge, edgeWords } from '@witan/protocol/edges'

/** What a line stands for: a kind of edge; of asking, whether its agent waits or may go on. */
export type LineLook =
  | 'asks'
  | 'background'
  | 'transfers'
  | 'workflow'
  | 'speaks'
  | 'remotes'
  | 'reflection'
  | 'guardrails'
  | 'users'
  | 'other'

/** How a line is drawn, told apart by its pattern alone, and what it means. `dash` is as in SVG; a whole line has none. */
interface LineForm {
  readonly words: string
  readonly width: number
  readonly dash?: string
}

/** In the order of the legend. */
export const lineForms: Readonly<Record<LineLook, LineForm>> = {
  asks: { words: 'asks, and waits for the answer', width: 1.5 },
  background: { words: 'asks, and may go on meanwhile', width: 1.5, dash: '8 5' },
  transfers: { words: 'hands over', width: 2, dash: '0.1 5' },
  workflow: { words: 'runs as a step', width: 3 },
  speaks: { words: 'speaks a protocol', width: 1.5, dash: '9 4 0.1 4' },
  remotes: { words: 'calls on another server', width: 1.5, dash: '16 6' },
  reflection: { words: 'has its answers criticised by', width: 1.5, dash: '2 3' },
  guardrails: { words: 'is checked by', width: 1.5, dash: '6 2 1 2' },
  users: { words: 'may ask a person', width: 1.5, dash: '3 6' },
  other: { words: 'reaches in another way', width: 1.5, dash: '9 4 0.1 4 0.1 4' },
}

/** One line from an agent to another. `label` is empty for an agent that is only asked. */
export interface DrawnEdge {
  readonly from: string
  readonly to: string
  readonly kinds: readonly string[]
  readonly label: string
  readonly look: LineLook
  /** Its place among the lines between the same two, of how many. */
  readonly place: number
  readonly of: number
}

/** What an edge of that kind does; an unknown kind stays as it is. */
export function edgeVerb(kind: string): string {
  if (kind === 'users') return 'may ask'
  return Object.hasOwn(edgeWords, kind) ? edgeWords[kind as Edge['kind']].active : kind
}

/** One edge in words: `boss asks mid`, `buyer speaks stock-request with warehouse`, `letter, step 1: draft`. */
export function edgeLine({ from, to, kind, step, description }: GraphEdge): string {
  if (kind === 'workflow' && typeof step === 'number') return `${from}, step ${step}: ${to}`
  if (kind === 'transfers') return `${from} hands over to ${to}`
  if (kind === 'speaks') return `${from} speaks ${description.replace(/ \((?:initiator|responder)\)$/, '')} with ${to}`
  return `${from} ${edgeVerb(kind)} ${to}`
}

type GraphEdge = AgentGraph['edges'][number]

/** The lines of a graph: edges of one look between the same two agents are one line, with all its steps. */
export function drawnEdges({ edges }: Pick<AgentGraph, 'edges'>): DrawnEdge[] {
  const pairs = new Map<string, Map<LineLook, GraphEdge[]>>()
  for (const edge of edges) {
    const key = `${edge.from} ${edge.to}`
    const lines = pairs.get(key) ?? new Map<LineLook, GraphEdge[]>()
    pairs.set(key, lines)
    const look = lineLook(edge)
    lines.set(look, [...(lines.get(look) ?? []), edge])
  }
  return [...pairs.values()].flatMap((lines) =>
    [...lines].map(([look, found], place): DrawnEdge => {
      const [{ from, to }] = found as [GraphEdge]
      const kinds = [...new Set(found.map(({ kind }) => kind))]
      return { from, to, kinds, label: labelOf(found), look, place, of: lines.size }
    }),
  )
}

function labelOf(edges: readonly GraphEdge[]): string {
  const steps = edges.flatMap(({ kind, step }) => (kind === 'workflow' ? (step ?? []) : []))
  if (steps.length > 0) return `${steps.length === 1 ? 'step' : 'steps'} ${steps.join(', ')}`
  const verbs = edges.flatMap(({ kind }) => (kind === 'subAgents' ? [] : [edgeVerb(kind)]))
  return [...new Set(verbs)].join(', ')
}

function lineLook({ kind, blocking }: GraphEdge): LineLook {
  if (kind === 'subAgents') return blocking === 'never' || blocking === 'model' ? 'background' : 'asks'
  return kind !== 'other' && Object.hasOwn(lineForms, kind) ? (kind as LineLook) : 'other'
}
