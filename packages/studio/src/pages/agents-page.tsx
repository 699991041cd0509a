/** Agents: the list, and one agent with its warnings, its acquaintances, its parameters, its tools and its instructions. */
import type { AgentGraph as Graph } from '@witan/client'
import type { StoredAgent } from '@witan/protocol'
import type { ChangeVia } from '@witan/protocol/keys'
import { Link, Outlet, useMatchRoute } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useSyncExternalStore } from 'react'
import { AgentOutline } from '../components/agent-outline.tsx'
import { AgentSign } from '../components/agent-sign.tsx'
import { buttonLook } from '../components/button.tsx'
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
import { count, formatMoment } from '../state/format.ts'
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
  return first === undefined ? null : <AgentPage agentId={first.id} />
}

/** One agent. */
export function AgentPage({ agentId }: { readonly agentId: string }) {
  const agents = useAgents()
  const isAdmin = usePrincipal()?.roles.includes('admin') === true
  const agent = agents.data?.find((one) => one.id === agentId)
  if (agent === undefined) {
    return (
      <EmptyNote isPage title="There is no such agent">
        "{agentId}" is not in this database. Choose one from the list of{' '}
        <Link to="/agents" className="text-accent underline">
          agents
        </Link>
        .
      </EmptyNote>
    )
  }
  return (
    <article className="mx-auto max-w-5xl space-y-7 p-4 md:p-6">
      <AgentHead agent={agent} />
      {agent.warnings.length > 0 && <Warnings agent={agent} />}
      {!isOnlyCalled(agent) && <Acquaintances agentId={agent.id} />}
      <section aria-label="Parameters">
        <h2 className="text-base font-semibold">Parameters</h2>
        <ParameterTable parameters={agent.parameters} />
        {isAdmin && !isOnlyCalled(agent) && <ParameterMatrix agent={agent} />}
      </section>
      {!isOnlyCalled(agent) && <Inside agent={agent} />}
    </article>
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

const modelTones = { language: '', script: 'text-wait', none: 'text-fail' } as const

function AgentHead({ agent }: { readonly agent: StoredAgent }) {
  return (
    <header className="flex flex-wrap items-start gap-x-6 gap-y-3">
      <div className="min-w-0 flex-1 basis-72">
        <Link to="/agents" className="text-accent md:hidden">
          ← All agents
        </Link>
        <h1 className="flex items-center gap-2.5 break-words text-lg font-semibold">
          <AgentSign id={agent.id} large />
          {agent.name ?? agent.id}
        </h1>
        <p className="mt-1 max-w-prose text-pretty break-words">{agent.description || 'No description.'}</p>
        <dl className="mt-3 flex flex-wrap gap-x-6 gap-y-1 text-xs">
          <Fact name="Id" value={agent.id} />
          {!isOnlyCalled(agent) && <InsideFacts agent={agent} />}
        </dl>
      </div>
      <Link to="/conversations" search={{ agent: agent.id }} className={buttonLook('primary')}>
        New conversation
      </Link>
    </header>
  )
}

function InsideFacts({ agent }: { readonly agent: StoredAgent }) {
  return (
    <>
      {agent.workflow == null ? <ModelFacts agent={agent} /> : <Fact name="Workflow" value={agent.workflow.kind} />}
      <Fact name="Revision" value={`${agent.revision} (${agent.source === 'code' ? 'from code' : 'data'})`}>
        <Link to="/agents/$agentId/revisions" params={{ agentId: agent.id }} className="text-accent underline">
          all revisions
        </Link>
      </Fact>
      <SavedFact agent={agent} />
    </>
  )
}

const vias = {
  key: 'with an API key',
  token: 'with a token',
  local: 'on this machine',
  code: 'from code',
  import: 'with an import',
} as const satisfies Readonly<Record<ChangeVia, string>>

/** Who made the current revision. Nothing if an earlier version stored it. */
function SavedFact({ agent: { by, via, at } }: { readonly agent: StoredAgent }) {
  if (by == null || via == null || at == null) return null
  return (
    <Fact name="Saved by" value={by}>
      <span>
        {vias[via]}, <time dateTime={at}>{formatMoment(at)}</time>
      </span>
    </Fact>
  )
}

function ModelFacts({ agent: { model, modelKind } }: { readonly agent: StoredAgent }) {
  return (
    <Fact name="Model" value={model} tone={modelTones[modelKind ?? 'none']}>
      {modelKind === 'script' && <Mark tone="wait">a script, no language model</Mark>}
      {modelKind === null && <Mark tone="fail">this server has no such model</Mark>}
    </Fact>
  )
}

interface FactProps {
  readonly name: string
  readonly value: string
  readonly tone?: string
  readonly children?: ReactNode
}

function Fact({ name, value, tone = '', children }: FactProps) {
  return (
    <div className="flex min-w-0 gap-2">
      <dt className="text-muted">{name}</dt>
      <dd className="flex min-w-0 gap-2">
        <span className={`min-w-0 break-all font-mono ${tone}`}>{value}</span>
        {children}
      </dd>
    </div>
  )
}

function Warnings({ agent }: { readonly agent: StoredAgent }) {
  return (
    <section aria-label="Findings">
      <h2 className="text-base font-semibold">Findings</h2>
      <ul className="mt-2 space-y-2">
        {agent.warnings.map((warning) => (
          <li
            key={`${warning.code} ${warning.agent} ${warning.path} ${warning.detail}`}
            className="rounded-md border border-wait-line bg-wait-soft px-3 py-2"
          >
            <p className="break-words">{warning.detail}</p>
            <p className="break-words text-muted">{warning.hint}</p>
            <p className="mt-1 break-all font-mono text-xs text-wait">
              {warning.code} {warning.path}
            </p>
          </li>
        ))}
      </ul>
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
