/** What stands above everything about one agent: its head, and the tabs of its page. */
import { Link, useNavigate } from '@tanstack/react-router'
import type { StoredAgent } from '@witan/protocol'
import type { ChangeVia } from '@witan/protocol/keys'
import type { ReactNode } from 'react'
import { isOnlyCalled } from '../state/agents.ts'
import { formatMoment } from '../state/format.ts'
import { useAgents } from '../state/queries.ts'
import { AgentSign } from './agent-sign.tsx'
import { buttonLook } from './button.tsx'
import { Mark } from './mark.tsx'
import { EmptyNote } from './note.tsx'
import { TabList } from './tab-list.tsx'

const tabs = [
  { value: 'overview', words: 'Overview', to: '/agents/$agentId' },
  { value: 'definition', words: 'Definition', to: '/agents/$agentId/definition' },
  { value: 'revisions', words: 'Revisions', to: '/agents/$agentId/revisions' },
] as const

/** A tab of the page of an agent. */
export type AgentTab = (typeof tabs)[number]['value']

interface FrameProps {
  readonly agentId: string
  readonly tab: AgentTab
  readonly children: ReactNode
}

const tabsId = 'agent-tab'

/** Who may only call the agent sees no tabs: there is nothing behind them. */
export function AgentFrame({ agentId, tab, children }: FrameProps) {
  const navigate = useNavigate()
  const agent = useAgents().data?.find((one) => one.id === agentId)
  if (agent === undefined) return <NoSuchAgent agentId={agentId} />
  if (isOnlyCalled(agent))
    return (
      <article className="mx-auto max-w-5xl space-y-7 p-4 md:p-6">
        <AgentHead agent={agent} />
        {children}
      </article>
    )
  const onChoose = (chosen: AgentTab) => {
    const { to } = tabs.find(({ value }) => value === chosen) ?? tabs[0]
    void navigate({ to, params: { agentId } })
  }
  return (
    <article className="mx-auto max-w-5xl p-4 md:p-6">
      <AgentHead agent={agent} />
      <div className="-mx-4 mt-4 md:mx-0">
        <TabList id={tabsId} label="Agent" tabs={tabs} chosen={tab} onChoose={onChoose} />
      </div>
      <div role="tabpanel" id={`${tabsId}-panel`} aria-labelledby={`${tabsId}-${tab}`} className="space-y-7 pt-5">
        {children}
      </div>
    </article>
  )
}

function NoSuchAgent({ agentId }: { readonly agentId: string }) {
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
