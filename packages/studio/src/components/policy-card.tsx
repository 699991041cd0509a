/** A condition of a remote agent, or the demand of an own one: resolved, with data where it asks for some, or declined. */
import type { Interruption } from '@witan/protocol'
import { type Condition, conditionOf } from '@witan/protocol/condition'
import { shownText } from '@witan/protocol/shown'
import { useState } from 'react'
import { formatElapsed } from '../state/format.ts'
import { readJsonObject } from '../state/typed.ts'
import { useAnswer } from '../state/use-answer.ts'
import { Button, buttonLook } from './button.tsx'
import { Card, Field } from './card.tsx'
import { JsonBlock, TextBlock } from './json-block.tsx'

/** No model reads the condition; declined, its agent learns only that it was not met. */
export function PolicyCard({ policy }: { readonly policy: Interruption & { readonly kind: 'policy' } }) {
  const [text, setText] = useState('{}')
  const [problem, setProblem] = useState<string | null>(null)
  const { sending, error, send } = useAnswer(policy.id)
  const condition = conditionOf(policy.policy)
  const submit = () => {
    const read = readJsonObject(text)
    setProblem(read.problem)
    if (read.problem === null) send({ answer: { resolution: read.value } })
  }
  return (
    <Card
      of={policy}
      title={policy.issuer}
      says={askedFor(condition.kind)}
      error={error}
      onSubmit={submit}
      buttons={
        <>
          <Button type="submit" look="primary" disabled={sending}>
            {sending ? 'Sent, continuing …' : 'Resolve'}
          </Button>
          <Button look="danger" disabled={sending} onClick={() => send({ answer: { decision: 'declined' } })}>
            Decline
          </Button>
        </>
      }
    >
      <Words condition={condition} />
      <Facts condition={condition} by={policy.agent === policy.issuer ? null : policy.agent} />
      {condition.url !== null && <Link url={new URL(condition.url)} label={condition.actionLabel} />}
      <details>
        <summary className="w-fit cursor-pointer text-xs text-accent">Show as JSON</summary>
        <JsonBlock label="Condition" value={policy.policy} />
      </details>
      <details open={problem !== null || undefined}>
        <summary className="w-fit cursor-pointer text-xs text-accent">Resolve with data</summary>
        <Field label="Resolution (JSON)" code value={text} problem={problem} onChange={setText} />
      </details>
    </Card>
  )
}

const asks: Readonly<Record<string, string>> = {
  payment_required: 'asks for a payment',
  consent_required: 'asks for consent',
  unauthorized: 'asks who calls',
  forbidden: 'refuses the call',
  unavailable_for_legal_reasons: 'refuses the call for legal reasons',
  too_many_requests: 'asks to call later',
  service_unavailable: 'is not available now',
}

function askedFor(kind: string): string {
  return Object.hasOwn(asks, kind) ? (asks[kind] ?? '') : 'has a condition'
}

/** Its own words, as text. */
function Words({ condition: { title, message } }: { readonly condition: Condition }) {
  return (
    <>
      {title !== null && <p className="line-clamp-4 break-words font-medium">{shownText(title)}</p>}
      {message !== '' && <TextBlock label="In its own words" text={message} />}
    </>
  )
}

function Facts({ condition, by }: { readonly condition: Condition; readonly by: string | null }) {
  const { kind, code, retryAfterSeconds } = condition
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-xs">
      <Fact name="Kind" value={kind} />
      {code !== null && <Fact name="Code" value={code} />}
      {by !== null && <Fact name="Passed on by" value={by} />}
      {retryAfterSeconds !== null && <Fact name="Again in" value={formatElapsed(retryAfterSeconds * 1000)} />}
    </dl>
  )
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="line-clamp-3 break-all font-mono">{shownText(value)}</dd>
    </>
  )
}

const longestLabel = 60

/** Where it leads stands in it, whatever its issuer calls it. */
function Link({ url, label }: { readonly url: URL; readonly label: string | null }) {
  const words = shownText(label ?? 'Open')
  return (
    <p>
      <a
        href={url.href}
        target="_blank"
        rel="noopener noreferrer nofollow"
        title={url.href}
        className={`${buttonLook('plain')} max-w-full flex-wrap break-all`}
      >
        <span className="min-w-0">{words.length > longestLabel ? `${words.slice(0, longestLabel)}…` : words}</span>
        <span className="font-normal text-muted">↗ {url.host}</span>
      </a>
    </p>
  )
}
