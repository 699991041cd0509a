/**
 * A story that is told to its end whatever happens between: two prompts through three levels, with reads, a keyed effect that is held
 * for its approval, a question and an action; then a hand-over that returns, with a workflow in a workflow below it.
 */
import assert from 'node:assert/strict'
import { createRuntime, defineTool, type Runtime, type Store } from '@witan/core'
import { call, lastUserMessage, scriptedModel } from '@witan/core/testing'
import type { Document, AnyEvent, RunResult } from '@witan/protocol'
import { z } from 'zod'
import { assertAlternates, assertEpochs, assertSound, assertUsage, storedEntries } from '../../support/claims.ts'
import type { FakeClock } from '../../support/clock.ts'
import { agent, allEvents, cast, settle } from '../../support/stage.ts'

export const conversation = 'chats/1'
const prompts = ['order it', 'thank you'] as const

/** Counts what tools did, by call id; it outlives the runtimes. */
interface Ledger {
  /** How often a call was executed. */
  readonly executed: Map<string, number>
  /** What a service that honours the key applied. */
  readonly applied: Set<string>
}

const agents = [
  agent('root', {
    subAgents: [{ agent: 'mid' }, { agent: 'side' }],
    transfers: [{ agent: 'guest', returnsTo: 'caller' }],
  }),
  agent('guest', { tools: ['book'], subAgents: [{ agent: 'line' }] }),
  { id: 'line', workflow: { kind: 'sequence' as const, agents: ['one', 'panel'] } },
  { id: 'panel', workflow: { kind: 'parallel' as const, agents: ['one', 'two'] } },
  agent('one'),
  agent('two', { tools: ['stock'] }),
  agent('mid', { questions: true, subAgents: [{ agent: 'leaf' }], parameters: [{ name: 'region' }] }),
  agent('leaf', {
    tools: ['stock', 'book'],
    actions: [{ name: 'Confirm' }],
    approvals: ['book'],
    parameters: [{ name: 'region' }, { name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' }],
  }),
  agent('side', {
    tools: ['stock'],
    outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  }),
]

const script = cast({
  root: (request, turn) => {
    const first = lastUserMessage(request) === prompts[0]
    if (lastUserMessage(request).includes('[from @guest')) return 'all done'
    if (turn > 0) return first ? 'all done' : call('transfer_to_agent', { agent_name: 'guest' })
    const mid = { name: 'mid', arguments: { message: first ? 'book' : 'report', region: first ? 'north' : 'south' } }
    return { toolCalls: first ? [mid, { name: 'side', arguments: { message: 'count' } }] : [mid] }
  },
  guest: (_request, turn) => {
    const line = { name: 'line', arguments: { message: 'in order' } }
    return turn === 0 ? { toolCalls: [line, { name: 'book', arguments: {} }] } : 'guest done'
  },
  one: () => 'one done',
  two: (_request, turn) => (turn === 0 ? call('stock') : 'two done'),
  mid: (request, turn) => {
    if (turn === 0) return call('leaf', { message: lastUserMessage(request) })
    const isFirst = lastUserMessage(request) === 'book'
    return turn === 1 && isFirst ? call('ask_question', { questions: [{ id: 'q', text: 'Well?' }] }) : 'mid done'
  },
  leaf: (request, turn) => {
    if (lastUserMessage(request) === 'report') return 'nothing new'
    return [{ toolCalls: ['stock', 'book'].map((name) => ({ name, arguments: {} })) }, call('Confirm'), 'leaf done'][
      turn
    ]
  },
  side: (request, turn) =>
    lastUserMessage(request).startsWith('[from @witan') ? '{"n":4}' : [call('stock'), 'not json'][turn],
})

/** A runtime of the story. */
export function openStory(store: Store, ledger: Ledger, clock: FakeClock) {
  const model = scriptedModel(script)
  const reports: unknown[] = []
  const count = (id: string) => ledger.executed.set(id, 1 + (ledger.executed.get(id) ?? 0))
  const tool = (name: string, effect: 'none' | 'keyed') =>
    defineTool({
      name,
      description: name,
      parameters: z.object({}),
      effect,
      execute: (_args, { callId }) => {
        count(`${effect} ${callId}`)
        if (effect === 'keyed') ledger.applied.add(callId)
        return `${name} ok`
      },
    })
  const runtime = createRuntime({
    store,
    clock,
    models: { 'play/model': model },
    agents,
    tools: [tool('stock', 'none'), tool('book', 'keyed')],
    retry: { tries: 1 },
    report: (error) => reports.push(error),
  })
  return { runtime, requests: model.requests, reports }
}

export const newLedger = (): Ledger => ({ executed: new Map(), applied: new Set() })

const answers: Readonly<Record<string, unknown>> = {
  action: { ok: true },
  approval: { decision: 'approved' },
  question: { q: { text: 'yes' } },
}

/** What a client does that may have been cut off at any point: it looks how far things are, and takes the next step. True at the end. */
export async function nextStep(runtime: Runtime): Promise<boolean> {
  const state = await runtime.getConversation(conversation).catch((error: { code?: string }) => {
    if (error.code === 'NOT_FOUND') return null
    throw error
  })
  if (state === null) {
    await runtime.start({
      agent: 'root',
      id: conversation,
      prompt: prompts[0],
      parameters: { userId: { value: 'Users/1', sendToModel: false } },
    })
    return false
  }
  if (state.status === 'running') {
    await settle(1)
    return false
  }
  const open = state.interruptions[0]
  if (open !== undefined) {
    await runtime.answerInterruption(open.id, { answer: answers[open.kind] })
    return false
  }
  const { messages } = await runtime.getDocument(conversation)
  const said = messages.filter(({ role }) => role === 'user').length
  const prompt = prompts[said]
  if (prompt === undefined) return true
  await runtime.run(conversation, { prompt })
  return false
}

/** What the story came to, without ids and times. */
interface Ending {
  readonly results: readonly unknown[]
  readonly documents: readonly unknown[]
  readonly tree: readonly string[]
}

/** Reads the ending, and holds the log to every invariant on the way. */
export async function readEnding(runtime: Runtime, store: Store): Promise<Ending> {
  const events = await allEvents(runtime, conversation)
  assertSound(events)
  assertEpochs(await storedEntries(store, conversation))
  const said = events.filter(({ type }) => type === 'message')
  assert.deepEqual(
    said.filter(({ author }) => author === 'user').map(({ content }) => content['text']),
    [...prompts],
    'I1: not every message stands in the log exactly once',
  )
  assert.equal(events.filter(({ type }) => type === 'resolved').length, 3, 'I8: not exactly one answer each')
  const { runs } = await runtime.getConversation(conversation)
  const results: unknown[] = []
  for (const { runId } of runs) {
    const result = (await runtime.getRun(runId)).result as RunResult
    assertUsage(result, events)
    const { status, text, output, finishReason, usage, error } = result
    results.push(withoutComplete({ status, text, output, finishReason, usage, error }))
  }
  const documents: unknown[] = []
  for (const path of [...new Set(events.map(({ document }) => document))].sort())
    documents.push(withoutComplete(plain(await runtime.getDocument(path))))
  return { results, documents, tree: treeOf(events) }
}

/** A crash may cut a model call off: `assertUsage` holds that the usage says so. */
function withoutComplete(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, held: unknown) => (key === 'complete' ? undefined : held)))
}

function plain({ messages, createdAt: _created, lastMessageAt: _last, ...rest }: Document): unknown {
  return { ...rest, messages: messages.map(({ seq: _seq, date: _date, ...message }) => message) }
}

/** Every event by what it says and where, but for notices and model calls that were cut off, in no order: parallel branches may come in any. */
function treeOf(events: readonly AnyEvent[]): readonly string[] {
  return events
    .filter(({ type, kind }) => type !== 'notice' && (type !== 'error' || kind !== 'model'))
    .map(({ type, kind, agentPath, author, document, content }) =>
      JSON.stringify(withoutComplete([type, kind, agentPath, author, document, withoutIds(content)])),
    )
    .sort()
}

function withoutIds(content: Readonly<Record<string, unknown>>): unknown {
  // Whoever goes on asks a model again: in another attempt, later, and perhaps with more of the log before it.
  const { id: _id, callId: _call, attempt: _attempt, startedAt: _at, readUpTo: _upTo, handedFrom, ...rest } = content
  return typeof handedFrom === 'string' ? { ...rest, handedFrom: 'a call' } : rest
}

export function assertHistories(requests: Parameters<typeof assertAlternates>[0][]): void {
  for (const request of requests) assertAlternates(request)
}
