/** What a model was asked and what it replied, whole. */
import type { ModelCall } from '@witan/protocol/schemas'
import { shownText } from '@witan/protocol/shown'
import { useId, useState } from 'react'
import { count, formatElapsed, formatNumber } from '../state/format.ts'
import { formatCost } from '../state/health.ts'
import { modelMs, modelWords, purposes } from '../state/model-calls.ts'
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
  readonly onClose: () => void
}

type Part = 'request' | 'reply'

/** Reads it when it is shown: it may be 4 MiB. */
export function ModelCallDetail({ conversationId, id, onClose }: DetailProps) {
  const query = useModelCall(conversationId, id)
  const [part, setPart] = useState<Part>('request')
  const tabsId = useId()
  const { data: call } = query
  if (call === undefined) return <UnreadNote query={query} what="the model call" />
  const words = modelWords(call, Date.now())
  return (
    <section aria-label={`Details of ${words}`} data-testid="detail" className="space-y-3 p-4">
      <header className="flex items-start gap-2">
        <div className="min-w-0 flex-1">
          <h3 className="font-semibold">
            Model call {call.number} <Pill>{purposes[call.purpose]}</Pill>
          </h3>
          <p className="break-all font-mono text-xs text-muted">{call.agentPath}</p>
        </div>
        <CopyButton text={() => JSON.stringify(call, null, 2)} words="Copy as JSON" />
        <Button look="quiet" aria-label="Close the details" onClick={onClose}>
          Close
        </Button>
      </header>
      <Facts call={call} />
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

function Request({ call: { request, sameAsBefore, leftOut = 0 } }: { readonly call: ModelCall }) {
  const [showsAll, setShowsAll] = useState(false)
  if (request === null) return <p className="text-muted">What such a call is asked is not kept.</p>
  const folded = showsAll ? 0 : Math.max(0, sameAsBefore - leftOut)
  return (
    <>
      {folded > 0 && (
        <Button look="quiet" onClick={() => setShowsAll(true)}>
          {count(folded, 'message')} as before
        </Button>
      )}
      <ul aria-label="Messages" className="space-y-2">
        {request.messages.slice(folded).map((message, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a message is known by its place.
          <Message key={folded + index} message={message} />
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

function Message({ message }: { readonly message: Asked['messages'][number] }) {
  const { role, content, name, toolCalls = [], attached = [], kept } = message
  return (
    <li className="rounded-md border border-line px-3 py-2">
      <p className="text-xs font-semibold">
        {role}
        {name !== undefined && <span className="font-mono font-normal"> {name}</span>}
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
