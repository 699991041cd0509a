/** Conversations: start one with an agent and its parameters, or open a recent one. */
import type { StoredAgent } from '@witan/protocol'
import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useMemo, useRef, useState } from 'react'
import { AttachButton, AttachedFiles, takesFiles } from '../components/attach-field.tsx'
import { Button } from '../components/button.tsx'
import { EmptyNote, LoadingNote, ProblemNote, UnreadNote } from '../components/note.tsx'
import { type ParameterDrafts, ParameterForm } from '../components/parameter-form.tsx'
import { ReachNote } from '../components/reach-note.tsx'
import { RecentList } from '../components/recent-list.tsx'
import { arrangeAgents, isOnlyCalled } from '../state/agents.ts'
import { toSegment } from '../state/address.ts'
import { untilAnswered } from '../state/connection.ts'
import { useDraft } from '../state/drafts.ts'
import { firstConfig } from '../state/first-steps.ts'
import { newKey } from '../state/new-key.ts'
import { givenParameters, type ParameterField, parameterFields } from '../state/parameters.ts'
import { takeFiles, useAttachments } from '../state/attachments.ts'
import { sendPrompt } from '../state/prompt.ts'
import { lostWithout } from '../state/unreachable.ts'
import { refreshConversation, useAgents, useGraph } from '../state/queries.ts'
import { witan } from '../state/witan.ts'

/** The form beside the list; below each other on a narrow screen. */
export function ConversationsPage({ agentId }: { readonly agentId: string | undefined }) {
  return (
    <div className="h-full overflow-y-auto md:grid md:grid-cols-[19rem_minmax(0,1fr)] md:overflow-hidden">
      <section aria-label="New conversation" className="order-2 md:overflow-y-auto">
        <NewConversation agentId={agentId} />
      </section>
      <nav
        aria-label="Recent conversations"
        className="order-1 border-t border-line bg-panel md:overflow-y-auto md:border-t-0 md:border-r"
      >
        <p className="label px-4 pt-4 pb-2">Recent conversations</p>
        <RecentList />
      </nav>
    </div>
  )
}

function NewConversation({ agentId }: { readonly agentId: string | undefined }) {
  const agents = useAgents()
  const navigate = useNavigate()
  if (agents.data === undefined) return <UnreadNote query={agents} what="agents" page="New conversation" />
  const usable = agents.data.filter((agent) => !agent.disabled)
  const { roots, others } = arrangeAgents(usable)
  const chosen = usable.find((agent) => agent.id === agentId) ?? usable[0]
  if (chosen === undefined) {
    return (
      <EmptyNote isPage title="No agent to talk to yet" code={{ label: 'witan.config.ts', text: firstConfig }}>
        A conversation needs an agent. Define one in <code className="font-mono">witan.config.ts</code>; then it appears
        here by itself.
      </EmptyNote>
    )
  }
  return (
    <div className="mx-auto max-w-2xl space-y-5 p-4 md:p-6">
      <h1 className="text-lg font-semibold">New conversation</h1>
      <label className="block">
        <span className="label">Agent</span>
        <select
          className="field mt-1"
          value={chosen.id}
          onChange={(event) => void navigate({ to: '/conversations', search: { agent: event.target.value } })}
        >
          <AgentOptions label="Roots" agents={roots} />
          <AgentOptions label="Listed by others" agents={others} />
        </select>
        <span className="mt-1 block text-pretty text-muted">
          {chosen.description}{' '}
          <Link to="/agents/$agentId" params={{ agentId: chosen.id }} className="text-accent underline">
            About this agent
          </Link>
        </span>
      </label>
      <StartForm key={chosen.id} agentId={chosen.id} />
    </div>
  )
}

function AgentOptions({ label, agents }: { readonly label: string; readonly agents: readonly StoredAgent[] }) {
  if (agents.length === 0) return null
  return (
    <optgroup label={label}>
      {agents.map((agent) => (
        <option key={agent.id} value={agent.id}>
          {agent.name === undefined ? agent.id : `${agent.name} (${agent.id})`}
        </option>
      ))}
    </optgroup>
  )
}

function StartForm({ agentId }: { readonly agentId: string }) {
  const { agents, fields, isPending } = useFields(agentId)
  const [drafts, setDrafts] = useState<ParameterDrafts>({})
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({})
  const [prompt, setPrompt] = useDraft('new conversation')
  const { files } = useAttachments('new conversation')
  const isEmpty = prompt.trim() === '' && files.length === 0
  const [starting, setStarting] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const form = useRef<HTMLFormElement>(null)
  const navigate = useNavigate()
  const start = async () => {
    const read = givenParameters(fields, drafts)
    setProblems(read.problems)
    if (Object.keys(read.problems).length > 0) {
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus())
      return
    }
    setStarting(true)
    setError(null)
    try {
      const idempotencyKey = newKey()
      const started = await untilAnswered(() =>
        witan.conversations.start({ agent: agentId, parameters: read.given }, { idempotencyKey }),
      )
      const place = { id: started.id, agent: agentId, afterSeq: 0 }
      sendPrompt(place, { text: prompt, files: takeFiles('new conversation'), author: null })
      setPrompt('')
      refreshConversation(started.id)
      await navigate({ to: '/conversations/$conversation', params: { conversation: toSegment(started.id) } })
    } catch (reason) {
      setError(reason)
      setStarting(false)
    }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void start()
  }
  return (
    <form
      ref={form}
      {...takesFiles({ draft: 'new conversation', disabled: starting })}
      onSubmit={submit}
      className="space-y-5"
      noValidate
    >
      <fieldset className="rounded-md border border-line bg-panel px-4 pt-2 pb-4">
        <legend className="label px-1">Parameters</legend>
        {isPending ? (
          <LoadingNote what="parameters" />
        ) : (
          <ParameterForm fields={fields} drafts={drafts} problems={problems} onChange={setDrafts} />
        )}
      </fieldset>
      <label className="block">
        <span className="label">First message</span>
        <textarea
          className="field mt-1"
          rows={3}
          value={prompt}
          placeholder="What should the agent do?"
          onChange={(event) => setPrompt(event.target.value)}
        />
      </label>
      <div className="mt-2 flex flex-wrap items-center gap-2">
        <AttachButton draft="new conversation" disabled={starting} />
        <AttachedFiles draft="new conversation" disabled={starting} />
      </div>
      <ReachNote lost={lostWithout(agents, agentId, emptyTrusted(fields, drafts))} />
      {error !== null && (
        <div ref={bringIntoView}>
          <ProblemNote error={error} />
        </div>
      )}
      <Button type="submit" look="primary" disabled={starting || isPending || isEmpty}>
        {starting ? 'Starting …' : 'Start'}
      </Button>
    </form>
  )
}

function emptyTrusted(fields: readonly ParameterField[], drafts: ParameterDrafts): string[] {
  return fields.filter(({ name, trusted }) => trusted && (drafts[name]?.text ?? '') === '').map(({ name }) => name)
}

function bringIntoView(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'nearest' })
}

/** What the agent and everything below it declare. */
function useFields(agentId: string) {
  const agents = useAgents()
  const isShort = agents.data?.some((agent) => agent.id === agentId && isOnlyCalled(agent)) === true
  const graph = useGraph(isShort ? undefined : agentId)
  const below = useMemo(() => {
    const all = new Map(agents.data?.map((agent) => [agent.id, agent]))
    const ids = [agentId, ...(graph.data?.nodes ?? []).map((node) => node.id).filter((id) => id !== agentId)]
    return ids.flatMap((id) => all.get(id) ?? [])
  }, [agentId, agents.data, graph.data])
  const fields = useMemo(() => parameterFields(below), [below])
  return { agents: below, fields, isPending: agents.isPending || (graph.isPending && !isShort) }
}
