/** What a model was asked and what it replied, whole. */
import type { ModelCall } from '@witan/protocol/schemas'
import { shownText } from '@witan/protocol/shown'
import type { ChatMessage } from '@witan/client'
import { type RefObject, useEffect, useId, useRef, useState } from 'react'
import { count, formatElapsed, formatNumber } from '../state/format.ts'
import { formatCost } from '../state/health.ts'
import { modelMs, modelWords, purposes } from '../state/model-calls.ts'
import { plainText } from '../state/plain-text.ts'
import { useAgentName } from '../state/queries.ts'
import { useModelCall } from '../state/use-model-calls.ts'
import { Button } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import { JsonBlock } from './json-block.tsx'
import { LongText } from './long-text.tsx'
import { ProblemNote, UnreadNote } from './note.tsx'
import { Pill } from './pill.tsx'
import { TabList } from './tab-list.tsx'

interface DetailProps {
  readonly conversationId: string
  readonly id: string
  /** What people said in its conversation. */
  readonly messages: readonly ChatMessage[]
  /** Shows one of them in the chat. */
  readonly onMessage: (seq: number) => void
  readonly onClose: () => void
  /** Whether it takes the focus when it has been read, once. */
  readonly arrives: RefObject<boolean>
}

type Part = 'request' | 'reply'

/** Reads it when it is shown: it may be 4 MiB. */
export function ModelCallDetail({ conversationId, id, onClose, arrives, ...rest }: DetailProps) {
  const query = useModelCall(conversationId, id)
  const [part, setPart] = useState<Part>('request')
  const tabsId = useId()
  const { data: call } = query
  const heading = useRef<HTMLHeadingElement>(null)
  const isRead = call !== undefined
  useEffect(() => {
    if (!isRead || !arrives.current) return
    arrives.current = false
    heading.current?.focus()
  }, [isRead, arrives])
  if (call === undefined) return <UnreadNote query={query} what="the model call" />
  const words = modelWords(call, Date.now())
  return (
    <section aria-label={`Details of ${words}`} data-testid="detail" className="space-y-3 p-4">
      <header className="flex items-start gap-2">
        <div className="min-w-0 flex-1">
          <h3 ref={heading} tabIndex={-1} className="flex flex-wrap items-center gap-x-2 font-semibold">
            Model call {call.number}
            <Pill>{purposes[call.purpose]}</Pill>
          </h3>
          <p className="break-all font-mono text-xs text-muted">{call.agentPath}</p>
        </div>
        <CopyButton text={() => JSON.stringify(call, null, 2)} words="Copy as JSON" />
        <Button look="quiet" aria-label="Close the details" onClick={onClose}>
          Close
        </Button>
      </header>
      <Facts call={call} />
      <ReadUpTo call={call} {...rest} />
      <Trust call={call} />
      {call.error !== null && <ProblemNote error={{ ...call.error, hint: '' }} />}
      <TabList
        id={tabsId}
        label="Model call"
        tabs={[
          { value: 'request', words: 'Request' },
          { value: 'reply', words: 'Reply' },
        ]}
        chosen={part}
        onChoose={setPart}
      />
      <div role="tabpanel" id={`${tabsId}-panel`} aria-labelledby={`${tabsId}-${part}`} className="space-y-3">
        {part === 'request' ? <Request call={call} /> : <Reply call={call} />}
      </div>
    </section>
  )
}

function Facts({ call }: { readonly call: ModelCall }) {
  const { usage, costUsd, model, answeredBy, startedAt, attempt, tries, finishReason } = call
  const facts: readonly (readonly [string, string | null])[] = [
    ['Model', answeredBy === null ? model : `${model}, as ${answeredBy}`],
    ['Took', formatElapsed(modelMs(call, Date.now()))],
    ['Began', startedAt === null ? null : new Date(startedAt).toLocaleTimeString()],
    ['Tokens', usage === null ? null : tokensOf(usage)],
    ['Cost', costUsd === null ? null : formatCost(costUsd)],
    ['Attempt', attempt > 1 ? String(attempt) : null],
    ['Tries', tries > 1 ? `${tries}: ${call.retries.map(({ detail }) => detail).join('; ')}` : null],
    ['Ended by', finishReason],
  ]
  return (
    <dl className="flex flex-wrap gap-x-5 gap-y-1 text-xs tabular-nums">
      {facts.map(([name, value]) =>
        value === null ? null : (
          <div key={name} className="flex gap-1.5">
            <dt className="text-muted">{name}</dt>
            <dd className="break-all">{shownText(value)}</dd>
          </div>
        ),
      )}
    </dl>
  )
}

/** The way back from a model call to the last message that it had read. */
function ReadUpTo({
  call,
  messages,
  onMessage,
}: { readonly call: ModelCall } & Pick<DetailProps, 'messages' | 'onMessage'>) {
  const message = messages.find(({ seq }) => seq === call.readUpTo)
  if (message === undefined) return null
  const words = plainText(message.text)
  return (
    <p className="flex items-baseline gap-1.5 text-xs">
      <span className="shrink-0 text-muted">Last message that it had read</span>
      <button
        type="button"
        onClick={() => onMessage(message.seq)}
        className="min-w-0 truncate text-accent underline-offset-2 hover:underline"
      >
        {words === '' ? 'a message without text' : words.slice(0, 200)}
      </button>
    </p>
  )
}

function tokensOf({ inputTokens, outputTokens, cachedInputTokens }: ModelCall['usage'] & {}): string {
  const cached = cachedInputTokens > 0 ? ` (${formatNumber(cachedInputTokens)} cached)` : ''
  return `${formatNumber(inputTokens ?? 0)} in${cached}, ${formatNumber(outputTokens ?? 0)} out`
}

/** Whether it is what was really sent, in words. */
function Trust({ call: { exact, changed = [], masked, leftOut = 0 } }: { readonly call: ModelCall }) {
  const notes = [
    ...(exact === false
      ? [`This is computed, and not exactly what was sent: ${changed.join(', ') || 'something'} changed since.`]
      : []),
    ...(exact === null ? ['The log does not tell whether this is exactly what was sent.'] : []),
    ...(masked ? ['Hidden values are replaced by [hidden] here.'] : []),
    ...(leftOut > 0
      ? [`${count(leftOut, 'message')}, the oldest, are left out: the request is too long to show.`]
      : []),
  ]
  if (notes.length === 0) return <p className="text-xs text-muted">This is exactly what was sent.</p>
  return (
    <ul className="space-y-1 rounded-md border border-wait-line bg-wait-soft px-3 py-2 text-xs">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  )
}

function Request({ call: { request, agent, sameAsBefore, leftOut = 0 } }: { readonly call: ModelCall }) {
  const nameOf = useAgentName()
  const [showsAll, setShowsAll] = useState(false)
  if (request === null) return <p className="text-muted">What such a call is asked is not kept.</p>
  const folded = showsAll ? 0 : Math.max(0, sameAsBefore - leftOut)
  return (
    <>
      {folded > 0 && <Button onClick={() => setShowsAll(true)}>{count(folded, 'message')} as before</Button>}
      <ul aria-label="Messages" className="space-y-2">
        {request.messages.slice(folded).map((message, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a message is known by its place.
          <Message key={folded + index} message={message} speaker={speakerOf(message, nameOf(agent))} />
        ))}
      </ul>
      <Settings request={request} />
      {request.tools.length > 0 && (
        <div>
          <p className="label">Tools</p>
          <ul aria-label="Tools" className="mt-1 space-y-2">
            {request.tools.map(({ name, description, parameters }) => (
              <li key={name} className="rounded-md border border-line px-3 py-2">
                <p className="break-words font-mono text-xs">{name}</p>
                <p className="break-words text-muted">{shownText(description)}</p>
                <JsonBlock label="" value={parameters} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  )
}

type Asked = ModelCall['request'] & {}

function Settings({ request }: { readonly request: Asked }) {
  const { toolChoice, temperature, reasoningEffort, maxOutputTokens, output } = request
  const all = [
    ['Tool choice', toolChoice],
    ['Temperature', temperature],
    ['Reasoning effort', reasoningEffort],
    ['Most output tokens', maxOutputTokens],
    ['Form of the answer', output?.name ?? null],
  ] as const
  return (
    <dl className="flex flex-wrap gap-x-5 gap-y-1 text-xs">
      {all.map(([name, value]) =>
        value === null ? null : (
          <div key={name} className="flex gap-1.5">
            <dt className="text-muted">{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  )
}

type AskedMessage = Asked['messages'][number]

interface MessageProps {
  readonly message: AskedMessage
  /** Who said it, beside its role; null where the role says it. */
  readonly speaker: string | null
}

function Message({ message, speaker }: MessageProps) {
  const { role, content, toolCalls = [], attached = [], kept } = message
  return (
    <li className="rounded-md border border-line px-3 py-2">
      <p className="text-xs font-semibold">
        {role}
        {speaker !== null && <span className="font-normal text-muted"> {shownText(speaker)}</span>}
      </p>
      {content !== '' && <LongText label={`Text of the ${role}`} text={content} />}
      {toolCalls.map((call) => (
        <p key={call.id} className="mt-1 break-words font-mono text-xs">
          {call.name}({shownText(call.arguments)})
        </p>
      ))}
      {attached.map(({ digest, name, mediaType, bytes }) => (
        <p key={digest} className="mt-1 text-xs text-muted">
          {shownText(name ?? 'a file')}, {mediaType}, {formatNumber(bytes)} bytes
        </p>
      ))}
      {kept !== undefined && (
        <p className="mt-1 text-xs text-muted">
          {formatNumber(kept.bytes)} bytes that only {shownText(kept.by)} can read
        </p>
      )}
    </li>
  )
}

/** A tool by its name, the agent itself, and somebody else as the first line of the message names them. */
function speakerOf({ role, name, content }: AskedMessage, agent: string): string | null {
  if (name !== undefined) return name
  if (role === 'assistant') return agent
  return role === 'user' ? (/^\[from (\S+)/.exec(content)?.[1] ?? null) : null
}

function Reply({ call: { reply, status } }: { readonly call: ModelCall }) {
  if (reply === null)
    return <p className="text-muted">{status === 'running' ? 'It works still.' : 'There is no reply.'}</p>
  return (
    <>
      {reply.reasoning !== null && <LongText label="Reasoning" text={reply.reasoning} />}
      {reply.text !== '' && <LongText label="Text of the reply" text={reply.text} />}
      {reply.toolCalls.map((call) => (
        <p key={call.id} className="break-words font-mono text-xs">
          {call.name}({shownText(call.arguments)})
        </p>
      ))}
    </>
  )
}
