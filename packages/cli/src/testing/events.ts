/** Events for tests: a run told in a few words a line. */
import type { AnyEvent } from '@witan/protocol'

/** What a told event may say; everything else is filled in. */
export type Told = Pick<AnyEvent, 'type' | 'callId'> & Partial<AnyEvent>

/** Numbers the events from 1 and sets each 100 ms after the one before. Deltas carry no seq. */
export function tell(...told: readonly Told[]): AnyEvent[] {
  let seq = 0
  const next = () => {
    seq += 1
    return { seq }
  }
  return told.map((one, index) => ({
    ...(one.type === 'delta' ? {} : next()),
    kind: null,
    parentCallId: null,
    rootCallId: 'root',
    conversationId: 'chats/1',
    document: 'chats/1',
    author: 'x',
    agentPath: 'front-desk',
    invocationId: 'root',
    branch: null,
    branchPath: [],
    authorKind: 'agent' as const,
    at: new Date(Date.UTC(2026, 0, 1) + index * 100).toISOString(),
    content: {},
    actions: {},
    ...one,
  }))
}

/** The moment of the last event. */
export function momentOf(events: readonly AnyEvent[]): number {
  return Date.parse(events.at(-1)?.at ?? '')
}

/** A call of the front desk, its clerk, a query and an action, up to the answer. */
export const wholeRun: readonly Told[] = [
  { type: 'message', callId: 'root', content: { author: 'user', text: 'Who am I?' } },
  { type: 'start', kind: 'agent', callId: 'root', content: { message: 'Who am I?' } },
  {
    type: 'end',
    kind: 'model',
    callId: 'root',
    content: { model: 'm/1', usage: { inputTokens: 100, outputTokens: 20 } },
  },
  {
    type: 'start',
    kind: 'agent',
    callId: 'clerk',
    parentCallId: 'root',
    agentPath: 'front-desk/clerk',
    content: { message: 'Who is it?' },
  },
  {
    type: 'start',
    kind: 'tool',
    callId: 'query',
    parentCallId: 'clerk',
    content: { name: 'get-me', arguments: { full: true }, bound: ['userId'] },
  },
  { type: 'end', kind: 'tool', callId: 'query', parentCallId: 'clerk', content: { result: [{ name: 'Janet' }] } },
  {
    type: 'start',
    kind: 'tool',
    callId: 'act',
    parentCallId: 'clerk',
    content: { name: 'Stamp', arguments: { as: 'paid' }, bound: [] },
  },
  {
    type: 'action_required',
    callId: 'act',
    parentCallId: 'clerk',
    content: { id: 'i_1', name: 'Stamp', callId: 'act', arguments: { as: 'paid' } },
  },
  { type: 'resolved', callId: 'act', parentCallId: 'clerk', content: { id: 'i_1', state: 'answered', by: 'anna' } },
  { type: 'end', kind: 'tool', callId: 'act', parentCallId: 'clerk', content: { result: 'done' } },
  {
    type: 'end',
    kind: 'model',
    callId: 'clerk',
    parentCallId: 'root',
    content: { model: 'm/1', usage: { inputTokens: 1000, outputTokens: 5 } },
  },
  {
    type: 'end',
    kind: 'agent',
    callId: 'clerk',
    parentCallId: 'root',
    content: { text: 'It is Janet.', finishReason: 'stop' },
  },
  { type: 'end', kind: 'agent', callId: 'root', content: { text: 'You are Janet.', finishReason: 'stop' } },
]
