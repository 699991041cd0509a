/** The pages of the Studio and their addresses. */
import { createRootRoute, createRoute, createRouter, Link, redirect } from '@tanstack/react-router'
import { useCallback } from 'react'
import { EmptyNote, ProblemNote } from './components/note.tsx'
import { Shell } from './components/shell.tsx'
import { AgentPage, AgentsPage, FirstAgent } from './pages/agents-page.tsx'
import { ConversationPage } from './pages/conversation-page.tsx'
import { type ConversationPlace, placeIn } from './state/place.ts'
import { ConversationsPage } from './pages/conversations-page.tsx'
import { HealthPage } from './pages/health-page.tsx'
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
    return <AgentPage agentId={agent.useParams().agentId} />
  },
})

const revisions = createRoute({
  getParentRoute: () => agents,
  path: '$agentId/revisions',
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

const health = createRoute({ getParentRoute: () => root, path: '/health', component: HealthPage })

/** The router of the one page there is. */
export const router = createRouter({
  routeTree: root.addChildren([
    home,
    agents.addChildren([firstAgent, agent, revisions]),
    conversations,
    conversation,
    waiting,
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
  return (
    <div className="mx-auto max-w-2xl space-y-3 p-4 md:pt-6" data-testid="page-failed">
      <h1 className="text-base font-semibold">This page has failed</h1>
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
