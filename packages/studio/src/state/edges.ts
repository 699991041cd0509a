/** The edges of a graph of agents as they are drawn: one line for each pair, in words. */
import type { AgentGraph } from '@witan/client'
import { type Edge, edgeWords } from '@witan/protocol/edges'

/** How a line is drawn: whole for an agent that is waited for, in dashes where it may work in the background, in dots for a hand-over. */
export type LineLook = 'waits' | 'background' | 'transfer'

/** One line from an agent to another. `label` is empty for an agent that is only asked. */
export interface DrawnEdge {
  readonly from: string
  readonly to: string
  readonly kinds: readonly string[]
  readonly label: string
  readonly look: LineLook
}

/** What a line of each look means, for the legend. */
export const lookWords: Readonly<Record<LineLook, string>> = {
  waits: 'waits for the answer',
  background: 'may go on while it works',
  transfer: 'hands over',
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

interface Pair {
  readonly from: string
  readonly to: string
  readonly edges: GraphEdge[]
}

/** The lines of a graph: edges between the same two agents are one line, with all its kinds and steps. */
export function drawnEdges({ edges }: Pick<AgentGraph, 'edges'>): DrawnEdge[] {
  const pairs = new Map<string, Pair>()
  for (const edge of edges) {
    const { from, to } = edge
    const key = `${from} ${to}`
    const pair = pairs.get(key) ?? { from, to, edges: [] }
    pairs.set(key, pair)
    pair.edges.push(edge)
  }
  return [...pairs.values()].map(({ from, to, edges: found }) => {
    const kinds = [...new Set(found.map(({ kind }) => kind))]
    return { from, to, kinds, label: labelOf(found, kinds), look: lineLook(found) }
  })
}

type GraphEdge = AgentGraph['edges'][number]

function labelOf(edges: readonly GraphEdge[], kinds: readonly string[]): string {
  if (kinds.every((kind) => kind === 'subAgents')) return ''
  const steps = edges.flatMap(({ step }) => step ?? [])
  const words = (kind: string) =>
    kind !== 'workflow' || steps.length === 0
      ? edgeVerb(kind)
      : `${steps.length === 1 ? 'step' : 'steps'} ${steps.join(', ')}`
  return kinds.map(words).join(', ')
}

function lineLook(edges: readonly GraphEdge[]): LineLook {
  if (edges.every(({ kind }) => kind === 'transfers')) return 'transfer'
  const isAlone = ({ kind, blocking }: GraphEdge) =>
    (kind === 'subAgents' || kind === 'remotes') && (blocking === 'never' || blocking === 'model')
  return edges.every(isAlone) ? 'background' : 'waits'
}
