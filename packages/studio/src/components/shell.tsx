/** The frame of every page: where one can go, and whether a real model answers. */
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { signOut, usePrincipal, useReadsAll } from '../state/account.ts'
import { useConnection } from '../state/connection.ts'
import { useHasMcpServers } from '../state/mcp-queries.ts'
import { Button } from './button.tsx'
import { SignInForm } from './sign-in-form.tsx'
import { useAgents, useWaiting } from '../state/queries.ts'
import { scriptedNotice } from '../state/scripted.ts'

const linkLook =
  'flex h-12 items-center border-b-2 border-transparent px-1 text-sm font-medium text-muted hover:text-ink data-[status=active]:border-accent data-[status=active]:text-ink'

/** Header, banner, page. A caller who has not signed in gets the sign-in page instead. */
export function Shell() {
  const principal = usePrincipal()
  const isStranger = useConnection() === 'locked' && principal === undefined
  const nav = useActiveInSight()
  if (isStranger) return <SignInPage />
  return (
    <div className="flex h-full flex-col">
      <a href="#page" className="sr-only focus:not-sr-only focus:absolute focus:z-10 focus:bg-panel focus:p-2">
        Skip to the page
      </a>
      <header className="shrink-0">
        <div className="flex h-12 items-stretch gap-4 border-b md:gap-6 border-line bg-panel px-4">
          <Link to="/agents" className="flex items-center gap-2 font-semibold">
            <Sign />
            <span className="max-[27rem]:sr-only">Witan</span>
          </Link>
          <nav ref={nav} aria-label="Main" className="flex min-w-0 gap-3 overflow-x-auto sm:gap-5">
            <Link to="/agents" className={linkLook}>
              Agents
            </Link>
            <Link to="/conversations" className={linkLook}>
              Conversations
            </Link>
            <WaitingLink />
            <MoreLinks />
          </nav>
          <Account />
        </div>
        <ConnectionNote />
        <ScriptedBanner />
      </header>
      <main id="page" className="min-h-0 flex-1">
        <Outlet />
      </main>
    </div>
  )
}

/** On a narrow screen the links scroll: the one of this page comes into sight. */
function useActiveInSight() {
  const nav = useRef<HTMLElement>(null)
  const { pathname } = useLocation()
  const readsAll = useReadsAll()
  const hasMcp = useHasMcpServers()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page has another link, and some come later than others.
  useEffect(() => {
    nav.current?.querySelector('[data-status=active]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [pathname, readsAll, hasMcp])
  return nav
}

function SignInPage() {
  return (
    <main id="page" className="flex h-full flex-col items-center justify-center gap-6 p-4">
      <p className="flex items-center gap-2 text-lg font-semibold">
        <Sign />
        Witan
      </p>
      <div className="w-full max-w-md rounded-lg border border-line bg-panel p-5">
        <SignInForm />
      </div>
    </main>
  )
}

/** The number of open interruptions that the caller is asked to answer, as a link; the page's title shows it too, for a tab in the background. */
function WaitingLink() {
  const { items = [], isMore = false } = useWaiting('mine').data ?? {}
  const shown = isMore ? `${items.length}+` : String(items.length)
  useEffect(() => {
    document.title = items.length === 0 ? 'Witan Studio' : `(${shown}) Witan Studio`
  }, [items.length, shown])
  return (
    <Link to="/waiting" className={linkLook} data-testid="waiting-link">
      Waiting
      {items.length > 0 && (
        <span className="ml-1.5 rounded-full bg-wait px-1.5 text-xs leading-[18px] font-semibold text-panel tabular-nums">
          {shown}
          <span className="sr-only"> for you</span>
        </span>
      )}
    </Link>
  )
}

/** What agents remember about the caller; knowledge, MCP servers and figures for whom the server has them to read. */
function MoreLinks() {
  const readsAll = useReadsAll()
  const hasMcp = useHasMcpServers()
  const isOnMcp = useLocation().pathname === '/mcp'
  return (
    <>
      {readsAll && (
        <Link to="/knowledge" className={linkLook}>
          Knowledge
        </Link>
      )}
      {readsAll && (hasMcp || isOnMcp) && (
        <Link to="/mcp" className={linkLook}>
          MCP
        </Link>
      )}
      <Link to="/memory" className={linkLook}>
        Memory
      </Link>
      {readsAll && (
        <Link to="/health" className={linkLook}>
          Health
        </Link>
      )}
    </>
  )
}

function ScriptedBanner() {
  const agents = useAgents()
  const notice = scriptedNotice(agents.data ?? [])
  if (notice === null) return null
  return (
    <p
      role="note"
      data-testid="scripted"
      className="shrink-0 border-b border-wait-line bg-wait-soft px-4 py-1.5 text-xs text-wait"
    >
      <strong className="font-semibold">Scripted model.</strong> {notice}
    </p>
  )
}

function Sign() {
  return (
    <svg
      viewBox="0 0 24 24"
      className="size-5 text-accent"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      aria-hidden="true"
    >
      <path d="M12 7.4V12M12 12l-5.6 4M12 12l5.6 4" />
      <circle cx="12" cy="5" r="2.3" />
      <circle cx="4.9" cy="17.6" r="2.3" />
      <circle cx="19.1" cy="17.6" r="2.3" />
    </svg>
  )
}

/** Who has signed in, and the way out; nothing for the one principal of a server of this machine. */
function Account() {
  const principal = usePrincipal()
  if (principal === undefined || (principal.id === 'user:local' && principal.database === 'default')) return null
  const { id, database, roles } = principal
  return (
    <div data-testid="account" className="ml-auto flex min-w-0 items-center gap-2 text-sm">
      <span
        className="min-w-0 truncate"
        title={`${id} in the database ${database}; roles: ${roles.length === 0 ? 'none' : roles.join(', ')}`}
      >
        <span className="font-medium">{id.replace(/^user:/, '')}</span>
        <span className="text-muted max-[40rem]:hidden"> in {database}</span>
      </span>
      <Button look="quiet" onClick={() => void signOut()}>
        Sign out
      </Button>
    </div>
  )
}

/** Says that the server does not answer just now, or asks who this is; nothing while it answers. The page below stays as it is. */
function ConnectionNote() {
  const connection = useConnection()
  if (connection === 'locked')
    return (
      <div className="shrink-0 border-b border-wait-line bg-wait-soft px-4 py-3">
        <SignInForm isKept />
      </div>
    )
  if (connection === 'open') return null
  return (
    <p
      role="status"
      data-testid="reconnecting"
      className="shrink-0 border-b border-wait-line bg-wait-soft px-4 py-2 text-wait"
    >
      <strong className="font-semibold">Reconnecting …</strong> The server does not answer. What you see and what you
      typed stays, and everything goes on by itself once it is back.
    </p>
  )
}
