/** Reads what the event of a start says of its call. */
import type { Event } from '@witan/protocol'
import type { CallView } from './conversation-view.ts'
import type { Call } from './folded-call.ts'
import { readCaller } from './read-interruption.ts'
import { readMcp } from './read-mcp.ts'
import { readPlan } from './read-plan.ts'
import { isRecord, number, text, texts } from './read-value.ts'

type StartOf<Kind> = Extract<Event, { readonly type: 'start'; readonly kind: Kind }>

/** The start of an agent's call, or of a tool's. */
type StartEvent = StartOf<'agent'> | StartOf<'tool'>

/** What a start says of its call. */
export function readStart(event: StartEvent): Partial<Call> {
  return event.kind === 'agent' ? agentStart(event) : toolStart(event)
}

function agentStart({ kind, agentPath, author, content }: StartOf<'agent'>): Partial<Call> {
  const { message, parameters, hiddenParameters, hidden, handedFrom, step, caller, remote, plan, mcp } = content
  const name = text(agentPath).split('/').at(-1) || text(author)
  const shown = isRecord(parameters) ? parameters : null
  const rest = { parameters: shown, hiddenParameters: texts(hiddenParameters), hidden: hidden === true }
  const place = { handedFrom: text(handedFrom) || null, step: stepOf(step), remote: text(remote) || null }
  const marks = { isCritic: content.critique === true, guardrail: text(content.guardrail) || null }
  const from = { caller: readCaller(caller), plan: readPlan(null, plan), mcp: readMcp(mcp) }
  const asked = { task: text(message), arguments: null, bound: [] }
  return { kind, name, ...asked, ...rest, ...place, ...from, ...marks }
}

function toolStart({ kind, author, content }: StartOf<'tool'>): Partial<Call> {
  const { name, arguments: given, bound } = content
  return { kind, name: text(name) || text(author), arguments: given ?? null, bound: texts(bound) }
}

function stepOf(given: unknown): CallView['step'] {
  if (!isRecord(given)) return null
  const [index, round] = [number(given.index), number(given.round)]
  return index === null ? null : { index, round: round ?? 0 }
}
