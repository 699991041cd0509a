/** One MCP server: how it stands, who uses it, what its pins say, its tools, and asking it anew. */
import { Link } from '@tanstack/react-router'
import { shownText } from '@witan/protocol/shown'
import type { McpServerView } from '@witan/protocol/tools'
import { useId } from 'react'
import { usePrincipal } from '../state/account.ts'
import { type McpUser, mcpStates, pinAdvice, usersOf } from '../state/mcp.ts'
import { useMcpRefresh } from '../state/mcp-queries.ts'
import { useAgents } from '../state/queries.ts'
import { useNow } from '../state/use-now.ts'
import { AgentName } from './agent-sign.tsx'
import { Button } from './button.tsx'
import { McpToolList } from './mcp-tool-list.tsx'
import { ProblemNote } from './note.tsx'
import { Pill } from './pill.tsx'
import { StateLabel, StateMark } from './state-mark.tsx'

/** Whatever the server says of itself is text, and shown as such. */
export function McpServerCard({ server, isOpen }: { readonly server: McpServerView; readonly isOpen: boolean }) {
  const { name, transport, state, error } = server
  const title = useId()
  const isAdmin = usePrincipal()?.roles.includes('admin') === true
  const asked = useMcpRefresh(name)
  const { sign, words } = mcpStates[state]
  return (
    <article aria-labelledby={title} className="overflow-hidden rounded-md border border-line bg-panel">
      <div className="flex flex-col gap-2 px-4 py-3">
        <div className="flex items-start gap-3">
          <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3 gap-y-1 pt-1.5">
            <h2 id={title} className="min-w-0 break-all text-base font-semibold">
              {shownText(name)}
            </h2>
            <Pill>{transport}</Pill>
            <StateLabel state={sign} words={words} />
          </div>
          {isAdmin && <RefreshButton name={name} isBusy={asked.since !== null} onRefresh={asked.refresh} />}
        </div>
        <Facts server={server} />
        <Users users={usersOf(useAgents().data ?? [], name)} />
        <Progress since={asked.since} />
        {asked.since === null && <Problem error={asked.error ?? (state === 'failed' ? error : null)} />}
        <Pins server={server} />
      </div>
      <McpToolList server={server} isOpen={isOpen} />
    </article>
  )
}

interface RefreshProps {
  readonly name: string
  readonly isBusy: boolean
  readonly onRefresh: () => void
}

/** It keeps the focus while it works. */
function RefreshButton({ name, isBusy, onRefresh }: RefreshProps) {
  return (
    <Button aria-disabled={isBusy} onClick={onRefresh}>
      {isBusy && (
        <span aria-hidden="true" className="contents">
          <StateMark state="running" />
        </span>
      )}
      {isBusy ? 'Refreshing' : 'Refresh'}
      <span className="sr-only"> {name}</span>
    </Button>
  )
}

/** A status is announced when it changes; the seconds alone are not read aloud. */
function Progress({ since }: { readonly since: number | null }) {
  const now = useNow(since !== null, 1000)
  return (
    <div role="status" className={since === null ? 'sr-only' : 'text-muted'}>
      {since !== null && (
        <>
          Connects to the server and asks for its tools …
          <span aria-hidden="true" className="tabular-nums">
            {now - since >= 1000 && ` ${Math.floor((now - since) / 1000)} s`}
          </span>
        </>
      )}
    </div>
  )
}

/** The words of the engine, or what a refresh was answered with. */
function Problem({ error }: { readonly error: unknown }) {
  if (error === null) return null
  if (typeof error !== 'string') return <ProblemNote error={error} />
  return (
    <p className="break-words rounded-md border border-fail-line bg-fail-soft px-3 py-2 text-fail">
      {shownText(error)}
    </p>
  )
}

function Facts({ server: { serverInfo, protocolVersion } }: { readonly server: McpServerView }) {
  if (serverInfo === null && protocolVersion === null) return null
  return (
    <dl className="flex flex-wrap gap-x-6 gap-y-1 text-xs tabular-nums">
      {serverInfo !== null && <Fact name="Server" value={`${serverInfo.name} ${serverInfo.version}`} />}
      {protocolVersion !== null && <Fact name="Protocol" value={protocolVersion} />}
    </dl>
  )
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div className="flex min-w-0 gap-1.5">
      <dt className="shrink-0 text-muted">{name}</dt>
      <dd className="line-clamp-3 min-w-0 break-words">{shownText(value)}</dd>
    </div>
  )
}

function Users({ users }: { readonly users: readonly McpUser[] }) {
  if (users.length === 0)
    return (
      <p className="text-xs text-muted">
        No agent uses it. An agent does with <code className="font-mono">mcp</code> in its definition.
      </p>
    )
  return (
    <p className="break-words text-xs text-muted">
      Used by{' '}
      {users.map(({ agent, use }, index) => (
        <span key={agent.id}>
          {index > 0 && ', '}
          <Link
            to="/agents/$agentId"
            params={{ agentId: agent.id }}
            className="font-medium text-accent underline underline-offset-2"
          >
            <AgentName id={agent.id} />
          </Link>
          {use.tools !== null && (
            <>
              {' '}
              (<span className="break-all font-mono">{shownText(use.tools.join(', '))}</span>)
            </>
          )}
        </span>
      ))}
    </p>
  )
}

function Pins({ server }: { readonly server: McpServerView }) {
  const advice = pinAdvice(server)
  if (advice === null) return null
  return (
    <p className="break-words text-xs text-muted">
      {advice.words}{' '}
      <code className="inline-block max-w-full break-words rounded bg-sunken px-1.5 font-mono text-ink">
        {advice.command}
      </code>
    </p>
  )
}
