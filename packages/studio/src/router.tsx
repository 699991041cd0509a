/** The pages of the Studio and their addresses. */
import { createRootRoute, createRoute, createRouter, Link, Outlet, redirect, useLocation } from '@tanstack/react-router'
import { lazy, Suspense, useCallback } from 'react'
import { EmptyNote, LoadingNote, ProblemNote } from './components/note.tsx'
import { Shell } from './components/shell.tsx'
import { AgentFrame, type AgentTab } from './components/agent-frame.tsx'
import { AgentOverview, AgentsPage, FirstAgent } from './pages/agents-page.tsx'
import { ConversationPage } from './pages/conversation-page.tsx'
import { type ConversationPlace, placeIn } from './state/place.ts'
import { ConversationsPage } from './pages/conversations-page.tsx'
import { DefinitionPage } from './pages/definition-page.tsx'
import { HealthPage } from './pages/health-page.tsx'
import type { MemoryPlace } from './pages/memory-page.tsx'
import type { BasePlace } from './pages/knowledge-base-page.tsx'
import { type Compared, RevisionsPage } from './pages/revisions-page.tsx'
import { WaitingPage } from './pages/waiting-page.tsx'
import { fromSegment } from './state/address.ts'
import { pageProblem } from './state/problem.ts'

const root = createRootRoute({ component: Shell, notFoundComponent: NothingHere, errorComponent: FrameFailed })

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/agents', replace: true })
  },
})

const agents = createRoute({ getParentRoute: () => root, path: '/agents', component: AgentsPage })
const firstAgent = createRoute({ getParentRoute: () => agents, path: '/', component: FirstAgent })
const agent = createRoute({
  getParentRoute: () => agents,
  path: '$agentId',
  component: function AgentRoute() {
    const { agentId } = agent.useParams()
    const tab = useLocation().pathname.split('/')[3] as AgentTab | undefined
    return (
      <AgentFrame agentId={agentId} tab={tab ?? 'overview'}>
        <Outlet />
      </AgentFrame>
    )
  },
})

const overview = createRoute({
  getParentRoute: () => agent,
  path: '/',
  errorComponent: TabFailed,
  component: function OverviewRoute() {
    return <AgentOverview agentId={overview.useParams().agentId} />
  },
})

const definition = createRoute({
  getParentRoute: () => agent,
  path: 'definition',
  errorComponent: TabFailed,
  validateSearch: ({ field }: Record<string, unknown>): { field?: string } =>
    typeof field === 'string' ? { field } : {},
  component: function DefinitionRoute() {
    return <DefinitionPage agentId={definition.useParams().agentId} field={definition.useSearch().field} />
  },
})

const revisions = createRoute({
  getParentRoute: () => agent,
  path: 'revisions',
  errorComponent: TabFailed,
  validateSearch: (search: Record<string, unknown>): Compared => ({
    ...numberIn('from', search.from),
    ...numberIn('to', search.to),
  }),
  component: function RevisionsRoute() {
    const navigate = revisions.useNavigate()
    return (
      <RevisionsPage
        agentId={revisions.useParams().agentId}
        compared={revisions.useSearch()}
        onCompare={(search) => void navigate({ search, replace: true, resetScroll: false })}
      />
    )
  },
})

/** A revision in an address; nothing for anything else. */
function numberIn<Name extends string>(name: Name, value: unknown): { readonly [Key in Name]?: number } {
  const isRevision = typeof value === 'number' && Number.isInteger(value) && value >= 1
  return isRevision ? ({ [name]: value } as { readonly [Key in Name]?: number }) : {}
}

const conversations = createRoute({
  getParentRoute: () => root,
  path: '/conversations',
  validateSearch: (search: Record<string, unknown>): { agent?: string } =>
    typeof search.agent === 'string' ? { agent: search.agent } : {},
  component: function ConversationsRoute() {
    return <ConversationsPage agentId={conversations.useSearch().agent} />
  },
})

const conversation = createRoute({
  getParentRoute: () => root,
  path: '/conversations/$conversation',
  validateSearch: placeIn,
  component: function ConversationRoute() {
    const id = fromSegment(conversation.useParams().conversation)
    const place = conversation.useSearch()
    const navigate = conversation.useNavigate()
    const onPlace = useCallback(
      (change: Partial<ConversationPlace>) =>
        void navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false }),
      [navigate],
    )
    return <ConversationPage key={id} conversationId={id} place={place} onPlace={onPlace} />
  },
})

const waiting = createRoute({ getParentRoute: () => root, path: '/waiting', component: WaitingPage })

/** What few visits need is loaded when it is opened. */
const KnowledgePage = lazy(() => import('./pages/knowledge-page.tsx').then((page) => ({ default: page.KnowledgePage })))
const KnowledgeBasePage = lazy(() =>
  import('./pages/knowledge-base-page.tsx').then((page) => ({ default: page.KnowledgeBasePage })),
)
const KnowledgeDocumentPage = lazy(() =>
  import('./pages/knowledge-document-page.tsx').then((page) => ({ default: page.KnowledgeDocumentPage })),
)
const NewBasePage = lazy(() =>
  import('./pages/knowledge-edit-page.tsx').then((page) => ({ default: page.NewBasePage })),
)
const EditBasePage = lazy(() =>
  import('./pages/knowledge-edit-page.tsx').then((page) => ({ default: page.EditBasePage })),
)

const knowledge = createRoute({
  getParentRoute: () => root,
  path: '/knowledge',
  component: () => (
    <Suspense fallback={<LoadingNote what="the page" />}>
      <Outlet />
    </Suspense>
  ),
})
const bases = createRoute({ getParentRoute: () => knowledge, path: '/', component: () => <KnowledgePage /> })
const newBase = createRoute({ getParentRoute: () => knowledge, path: 'new', component: () => <NewBasePage /> })
const base = createRoute({
  getParentRoute: () => knowledge,
  path: '$baseId',
  validateSearch: (search: Record<string, unknown>): BasePlace => ({
    ...textIn('prefix', search.prefix),
    ...textIn('ingest', search.ingest),
  }),
  component: function BaseRoute() {
    const { baseId } = base.useParams()
    const navigate = base.useNavigate()
    return (
      <KnowledgeBasePage
        key={baseId}
        baseId={baseId}
        place={base.useSearch()}
        onPlace={(search) => void navigate({ search, replace: true, resetScroll: false })}
      />
    )
  },
})
const editBase = createRoute({
  getParentRoute: () => knowledge,
  path: '$baseId/edit',
  component: function EditBaseRoute() {
    return <EditBasePage baseId={editBase.useParams().baseId} />
  },
})
const knowledgeDocument = createRoute({
  getParentRoute: () => knowledge,
  path: '$baseId/document',
  // A key may be like a path, with parts that a browser would take away: so it stands in the query.
  validateSearch: (search: Record<string, unknown>): { key?: string; passage?: string } => ({
    ...textIn('key', search.key),
    ...textIn('passage', search.passage),
  }),
  component: function KnowledgeDocumentRoute() {
    const { baseId } = knowledgeDocument.useParams()
    const { key = '', passage } = knowledgeDocument.useSearch()
    return (
      <KnowledgeDocumentPage key={`${baseId} ${key} ${passage}`} baseId={baseId} documentKey={key} passage={passage} />
    )
  },
})

const McpPage = lazy(() => import('./pages/mcp-page.tsx').then((page) => ({ default: page.McpPage })))
const mcp = createRoute({
  getParentRoute: () => root,
  path: '/mcp',
  component: () => (
    <Suspense fallback={<LoadingNote what="the page" />}>
      <McpPage />
    </Suspense>
  ),
})

const MemoryPage = lazy(() => import('./pages/memory-page.tsx').then((page) => ({ default: page.MemoryPage })))
const memory = createRoute({
  getParentRoute: () => root,
  path: '/memory',
  validateSearch: (search: Record<string, unknown>): MemoryPlace => ({
    ...textIn('subject', search.subject),
    ...(search.whose === 'all' ? { whose: 'all' } : {}),
  }),
  component: function MemoryRoute() {
    const navigate = memory.useNavigate()
    return (
      <Suspense fallback={<LoadingNote what="the page" />}>
        <MemoryPage place={memory.useSearch()} onPlace={(search) => void navigate({ search, resetScroll: false })} />
      </Suspense>
    )
  },
})

/** A text in an address; nothing for an empty one, and for anything else. */
function textIn<Name extends string>(name: Name, value: unknown): { readonly [Key in Name]?: string } {
  return typeof value === 'string' && value !== '' ? ({ [name]: value } as { readonly [Key in Name]?: string }) : {}
}

const health = createRoute({ getParentRoute: () => root, path: '/health', component: HealthPage })

/** The router of the one page there is. */
export const router = createRouter({
  routeTree: root.addChildren([
    home,
    agents.addChildren([firstAgent, agent.addChildren([overview, definition, revisions])]),
    conversations,
    conversation,
    waiting,
    knowledge.addChildren([bases, newBase, base, editBase, knowledgeDocument]),
    mcp,
    memory,
    health,
  ]),
  defaultErrorComponent: PageFailed,
  defaultPreload: false,
  pathParamsAllowedCharacters: [':'],
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

function NothingHere() {
  return (
    <EmptyNote isPage title="There is no such page">
      Go to the{' '}
      <Link to="/agents" className="text-accent underline">
        agents
      </Link>{' '}
      or the{' '}
      <Link to="/conversations" className="text-accent underline">
        conversations
      </Link>
      .
    </EmptyNote>
  )
}

/** In the place of a page that an error has stopped. The frame around it stays, and leads elsewhere. */
function PageFailed({ error }: { readonly error: unknown }) {
  return <Failed error={error} />
}

/** In the place of a tab of an agent: the page has its heading already. */
function TabFailed({ error }: { readonly error: unknown }) {
  return <Failed error={error} isTab />
}

function Failed({ error, isTab = false }: { readonly error: unknown; readonly isTab?: boolean }) {
  const Title = isTab ? 'h2' : 'h1'
  return (
    <div className="mx-auto max-w-2xl space-y-3 p-4 md:pt-6" data-testid="page-failed">
      <Title className="text-base font-semibold">This page has failed</Title>
      <ProblemNote error={pageProblem(error)} onRetry={() => window.location.reload()} />
    </div>
  )
}

/** In the place of everything, where the frame itself has failed. */
function FrameFailed({ error }: { readonly error: unknown }) {
  return (
    <main id="page">
      <PageFailed error={error} />
    </main>
  )
}
