/** Agents: the list, and one agent with its warnings, its acquaintances, its parameters, its tools and its instructions. */
import type { AgentGraph as Graph } from '@witan/client'
import type { StoredAgent } from '@witan/protocol'
import { Link, Outlet, useMatchRoute } from '@tanstack/react-router'
import { lazy, Suspense, useSyncExternalStore } from 'react'
import { AgentKnowledge } from '../components/agent-knowledge.tsx'
import { AgentOutline } from '../components/agent-outline.tsx'
import { AgentFrame } from '../components/agent-frame.tsx'
import { AgentSign } from '../components/agent-sign.tsx'
import { Findings } from '../components/findings.tsx'
import { GraphEdges } from '../components/graph-edges.tsx'
import { Mark } from '../components/mark.tsx'
import { ModelReads } from '../components/model-reads.tsx'
import { EmptyNote, LoadingNote, UnreadNote } from '../components/note.tsx'
import { ParameterMatrix } from '../components/parameter-matrix.tsx'
import { ParameterTable } from '../components/parameter-table.tsx'
import { JsonBlock, TextBlock } from '../components/json-block.tsx'
import { Callers } from '../components/callers.tsx'
import { Demands } from '../components/demands.tsx'
import { Published } from '../components/published.tsx'
import { Transfers } from '../components/transfers.tsx'
import { ToolList } from '../components/tool-list.tsx'
import { usePrincipal } from '../state/account.ts'
import { arrangeAgents, isOnlyCalled } from '../state/agents.ts'
import { firstConfig } from '../state/first-steps.ts'
import { count } from '../state/format.ts'
import { useAgents, useGraph } from '../state/queries.ts'

/** Where the drawing cannot be loaded, the list says the same. */
const AgentGraph = lazy(() =>
  import('../components/agent-graph.tsx').then(
    ({ AgentGraph: Drawing }) => ({ default: Drawing }),
    () => ({ default: AgentOutline }),
  ),
)

/** A drawing where there is room for one whose letters can be read, else a list. */
function AcquaintanceView({ graph, rootId }: { readonly graph: Graph; readonly rootId: string }) {
  const isWide = useMedia('(min-width: 64rem)')
  if (!isWide) return <AgentOutline graph={graph} rootId={rootId} />
  return (
    <Suspense fallback={<LoadingNote what="the drawing" />}>
      <AgentGraph graph={graph} rootId={rootId} />
    </Suspense>
  )
}

/** The list beside the chosen agent; on a narrow screen one at a time. */
export function AgentsPage() {
  const agents = useAgents()
  const chosen = useMatchRoute()({ to: '/agents/$agentId', fuzzy: true }) !== false
  if (agents.data === undefined) return <UnreadNote query={agents} what="agents" page="Agents" />
  if (agents.data.length === 0) return <NoAgents />
  const { roots, others } = arrangeAgents(agents.data)
  return (
    <div className="grid h-full md:grid-cols-[19rem_minmax(0,1fr)]">
      <nav
        aria-label="Agents"
        className={`overflow-y-auto border-line bg-panel md:border-r ${chosen ? 'hidden md:block' : ''}`}
      >
        <h1 className="sr-only md:hidden">Agents</h1>
        <AgentGroup title="Roots" about="No other agent lists them." agents={roots} />
        <AgentGroup title="Listed by others" about="Their callers reach them." agents={others} />
      </nav>
      <section aria-label="Agent" className={`overflow-y-auto ${chosen ? '' : 'hidden md:block'}`}>
        <Outlet />
      </section>
    </div>
  )
}

function AgentGroup(props: {
  readonly title: string
  readonly about: string
  readonly agents: readonly StoredAgent[]
}) {
  const { title, about, agents } = props
  if (agents.length === 0) return null
  return (
    <section className="pb-2">
      <h2 className="label flex justify-between px-4 pt-4 pb-2" title={about}>
        {title} <span className="tabular-nums">{agents.length}</span>
      </h2>
      <ul>
        {agents.map((agent) => (
          <AgentLine key={agent.id} agent={agent} />
        ))}
      </ul>
    </section>
  )
}

function NoAgents() {
  if (usePrincipal()?.roles.includes('admin') === false)
    return (
      <EmptyNote isPage title="No agents for you">
        You reach none of the agents here. Conversations in which you take part are under{' '}
        <Link to="/conversations" className="text-accent underline">
          Conversations
        </Link>
        .
      </EmptyNote>
    )
  return (
    <EmptyNote isPage title="No agents yet" code={{ label: 'witan.config.ts', text: firstConfig }}>
      Agents stand here with what they may do and whom they know. Define one in{' '}
      <code className="font-mono">witan.config.ts</code>, or save some from a file with{' '}
      <code className="font-mono">witan agents apply</code>. They appear here by themselves.
    </EmptyNote>
  )
}

function AgentLine({ agent }: { readonly agent: StoredAgent }) {
  return (
    <li>
      <Link
        to="/agents/$agentId"
        params={{ agentId: agent.id }}
        className="block border-l-2 border-transparent px-4 py-2 hover:bg-sunken data-[status=active]:border-accent data-[status=active]:bg-accent-soft"
      >
        <span className="flex items-center gap-2">
          <AgentSign id={agent.id} />
          <span className="min-w-0 flex-1 truncate font-medium">{agent.name ?? agent.id}</span>
          {agent.disabled && <Mark>disabled</Mark>}
          {agent.warnings.length > 0 && <Mark tone="wait">▲ {count(agent.warnings.length, 'warning')}</Mark>}
        </span>
        <span className="block truncate text-xs text-muted">{agent.description || 'No description'}</span>
      </Link>
    </li>
  )
}

/** Beside the list while nothing is chosen: its first agent. */
export function FirstAgent() {
  const first = useAgents().data?.[0]
  if (first === undefined) return null
  return (
    <AgentFrame agentId={first.id} tab="overview">
      <AgentOverview agentId={first.id} />
    </AgentFrame>
  )
}

/** What there is to know about one agent. */
export function AgentOverview({ agentId }: { readonly agentId: string }) {
  const agents = useAgents()
  const isAdmin = usePrincipal()?.roles.includes('admin') === true
  const agent = agents.data?.find((one) => one.id === agentId)
  if (agent === undefined) return null
  return (
    <>
      {!isOnlyCalled(agent) && <Findings agent={agent} />}
      {!isOnlyCalled(agent) && <Acquaintances agentId={agent.id} />}
      <section aria-label="Parameters">
        <h2 className="text-base font-semibold">Parameters</h2>
        <ParameterTable parameters={agent.parameters} />
        {isAdmin && !isOnlyCalled(agent) && <ParameterMatrix agent={agent} />}
      </section>
      {!isOnlyCalled(agent) && <Inside agent={agent} />}
    </>
  )
}

/** What only readers and admins are shown. */
function Inside({ agent }: { readonly agent: StoredAgent }) {
  return (
    <>
      <Published agent={agent} />
      <Callers agent={agent} />
      <Demands agent={agent} />
      <Transfers agent={agent} />
      {agent.workflow == null ? <ModelParts agent={agent} /> : <WorkflowPart workflow={agent.workflow} />}
    </>
  )
}

/** What only an agent with a model has. */
function ModelParts({ agent }: { readonly agent: StoredAgent }) {
  const isAdmin = usePrincipal()?.roles.includes('admin') === true
  return (
    <>
      <section aria-label="Tools">
        <h2 className="text-base font-semibold">Tools</h2>
        <ToolList agent={agent} />
      </section>
      <AgentKnowledge agent={agent} />
      {isAdmin ? (
        <ModelReads key={agent.id} agent={agent} />
      ) : (
        <section>
          <h2 className="text-base font-semibold">Instructions</h2>
          <TextBlock label="What its model reads first" text={agent.instructions} />
        </section>
      )}
    </>
  )
}

const orders = { sequence: 'in this order', parallel: 'at once', loop: 'in this order, round after round' } as const

function WorkflowPart({ workflow }: { readonly workflow: NonNullable<StoredAgent['workflow']> }) {
  return (
    <section>
      <h2 className="text-base font-semibold">Workflow</h2>
      <p className="text-muted">It has no model: it runs its agents {orders[workflow.kind]}.</p>
      <div className="mt-2">
        <JsonBlock label={workflow.kind} value={workflow} />
      </div>
    </section>
  )
}

function Acquaintances({ agentId }: { readonly agentId: string }) {
  const graph = useGraph(agentId)
  return (
    <section aria-label="Graph">
      <h2 className="text-base font-semibold">Graph</h2>
      <p className="text-muted">Everything this agent can reach, and the only ways it can.</p>
      <div className="mt-3 overflow-hidden rounded-md border border-line bg-panel">
        {graph.data === undefined && <UnreadNote query={graph} what="the graph" />}
        {graph.data !== undefined && graph.data.nodes.length < 2 && (
          <p className="px-4 py-5 text-muted">It works alone: it lists no other agent.</p>
        )}
        {graph.data !== undefined && graph.data.nodes.length > 1 && (
          <AcquaintanceView key={agentId} graph={graph.data} rootId={agentId} />
        )}
      </div>
      {graph.data !== undefined && graph.data.edges.length > 0 && <GraphEdges graph={graph.data} />}
    </section>
  )
}

/** Follows the query while the page is open. */
function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = window.matchMedia(query)
      media.addEventListener('change', listener)
      return () => media.removeEventListener('change', listener)
    },
    () => window.matchMedia(query).matches,
  )
}
