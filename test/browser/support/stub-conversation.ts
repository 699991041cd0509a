/** One conversation of the stub: its log, who reads it, the action that waits, and the run that plays. */
import type { ConversationLine } from '@witan/protocol'
import type { Conversation, AnyEvent, Interruption, RunResult } from '@witan/protocol'
import { emptyCounters } from '@witan/protocol/entries'
import { eventSchema } from '@witan/protocol/schemas'
import { runFor, type Stage } from './canned-run.ts'

type Given = Partial<AnyEvent> & Pick<AnyEvent, 'type' | 'kind' | 'callId' | 'agentPath'>

interface Run {
  readonly runId: string
  status: 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled'
  readonly startedAt: string
  endedAt: string | null
}

/** Plays canned runs; every event is checked against the protocol before anybody reads it. */
export interface StubConversation {
  readonly id: string
  readonly agent: string
  readonly pieceMs: number
  readonly createdAt: string
  readonly log: AnyEvent[]
  readonly readers: Set<(event: AnyEvent) => void>
  readonly runs: Run[]
  readonly open: Map<string, { readonly interruption: Interruption; readonly answer: (value: unknown) => void }>
  /** The texts that are being written now, by call. */
  readonly texts: Map<string, AnyEvent>
}

/** A conversation in which nothing was said yet; `pieceMs` is the pause between two pieces of a text. */
export function createConversation(id: string, agent: string, pieceMs: number): StubConversation {
  const createdAt = new Date().toISOString()
  return { id, agent, pieceMs, createdAt, log: [], readers: new Set(), runs: [], open: new Map(), texts: new Map() }
}

/** What a late reader gets first: the texts that are being written now. */
export function snapshotsOf(on: StubConversation): AnyEvent[] {
  return [...on.texts.values()]
}

/** Starts the run that the prompt asks for, and says when it ends or waits. */
export async function startRun(on: StubConversation, prompt: string): Promise<RunResult> {
  const run: Run = {
    runId: `c_${on.id.split('/')[1]}_${on.runs.length + 1}`,
    status: 'running',
    startedAt: new Date().toISOString(),
    endedAt: null,
  }
  on.runs.push(run)
  const at = { callId: run.runId, agentPath: on.agent }
  put(on, run, { ...at, type: 'message', kind: null, author: 'user', content: { author: 'user', text: prompt } })
  const parameters = on.agent === 'company-assistant-agent' ? { country: 'France' } : {}
  put(on, run, {
    ...at,
    type: 'start',
    kind: 'agent',
    content: { message: prompt, parameters, hidden: false, originRunId: null },
  })
  return await new Promise((settled) => {
    const settle = () => settled(result(on, run))
    const played = stage(on, run, settle)
    void runFor(on.agent, prompt)(played).then(settle)
  })
}

/** Answers an open action; false where none of that id is open. */
export function answerAction(on: StubConversation, id: string, value: unknown): Interruption | null {
  const open = on.open.get(id)
  if (open === undefined) return null
  on.open.delete(id)
  open.answer(value)
  return { ...open.interruption, state: 'answered' }
}

/** Stops a run; false where it has ended. */
export function cancelRun(on: StubConversation, runId: string): boolean {
  const run = on.runs.find((one) => one.runId === runId)
  if (run === undefined || run.endedAt !== null) return false
  const at = { callId: runId, agentPath: on.agent }
  put(on, run, { ...at, type: 'cancel', kind: null, content: { by: 'user', tasks: false } })
  const content = { text: '', output: null, finishReason: 'cancelled', usage: null, backgroundTasks: [] }
  put(on, run, { ...at, type: 'end', kind: 'agent', content })
  on.open.clear()
  return true
}

/** The row a second client reads. */
export function rowOf(on: StubConversation): Conversation {
  const active = on.runs.find((run) => run.endedAt === null)
  return {
    id: on.id,
    agent: on.agent,
    createdAt: on.createdAt,
    lastMessageAt: on.log.at(-1)?.at ?? on.createdAt,
    expiresAt: null,
    lastSeq: on.log.length,
    activeRunId: active?.runId ?? null,
    status: active === undefined ? 'idle' : active.status === 'waiting' ? 'waiting' : 'running',
    interruptions: [...on.open.values()].map(({ interruption }) =>
      interruption.kind === 'action'
        ? { ...interruption, arguments: { ...interruption.arguments, userId: 'employees/3-A' } }
        : interruption,
    ),
    tasks: [],
    runs: on.runs.map((run) => ({ ...run, hidden: false, originRunId: null })),
    runCount: on.runs.length,
  }
}

/** The line of it in a list. */
export function lineOf(on: StubConversation): ConversationLine {
  const { interruptions: _interruptions, tasks: _tasks, runs, ...row } = rowOf(on)
  const [first] = on.log
  const firstMessage = first?.type === 'message' ? String(first.content.text).slice(0, 200) : null
  return { ...row, firstMessage, lastRun: runs.at(-1) ?? null }
}

/** What waits in it. */
export function waitingIn(on: StubConversation): Interruption[] {
  const { id: conversationId, createdAt } = on
  return [...on.open.values()].map(({ interruption }) => ({ ...interruption, conversationId, createdAt }))
}

function stage(on: StubConversation, run: Run, settle: () => void): Stage {
  return {
    runId: run.runId,
    put: (event) => put(on, run, event),
    pause: () => new Promise((resolve) => setTimeout(resolve, on.pieceMs)),
    answered: async (action) => {
      const parentCallId = action.agentPath.endsWith('user-info-agent') ? `${run.runId}_info` : run.runId
      const at = { callId: action.callId, agentPath: action.agentPath, parentCallId }
      const { name } = action
      put(on, run, {
        ...at,
        type: 'start',
        kind: 'tool',
        content: { name, arguments: action.arguments, bound: ['userId'] },
      })
      const interruption: Interruption = {
        id: `i_${on.id.replace('/', '_')}_${action.callId}`,
        kind: 'action',
        path: action.path,
        agent: 'user-info-agent',
        callId: action.callId,
        addressee: null,
        state: 'open',
        expiresAt: null,
        name,
        arguments: action.arguments,
      }
      return await new Promise((resolve) => {
        const answer = (value: unknown) => {
          run.status = 'running'
          put(on, run, {
            ...at,
            type: 'resolved',
            kind: null,
            content: { id: interruption.id, state: 'answered', by: 'user' },
          })
          resolve(value)
        }
        on.open.set(interruption.id, { interruption, answer })
        run.status = 'waiting'
        put(on, run, { ...at, type: 'action_required', kind: null, content: { ...interruption } })
        settle()
      })
    },
  }
}

function put(on: StubConversation, run: Run, given: Given): void {
  if (run.endedAt !== null) return
  const agentIds = given.agentPath.split('/').slice(1)
  const event = eventSchema.parse({
    ...(given.type === 'delta' ? {} : { seq: on.log.length + 1 }),
    parentCallId: null,
    rootCallId: run.runId,
    conversationId: on.id,
    document: [on.id, ...agentIds].join('/'),
    author: given.agentPath.split('/').at(-1),
    invocationId: [run.runId, ...agentIds.map((id) => `sub.${id}`)].join('.'),
    branch: null,
    branchPath: [],
    authorKind: 'agent' as const,
    at: new Date().toISOString(),
    content: {},
    actions: {},
    ...given,
  })
  if (event.type !== 'delta') on.log.push(event)
  if (event.callId === run.runId && event.kind === 'agent' && (event.type === 'end' || event.type === 'error')) {
    run.endedAt = event.at
    run.status =
      event.type === 'error' ? 'failed' : event.content.finishReason === 'cancelled' ? 'cancelled' : 'completed'
  }
  keepText(on, event)
  for (const reader of on.readers) reader(event)
}

function keepText(on: StubConversation, event: AnyEvent): void {
  if (event.type !== 'delta') {
    on.texts.delete(event.callId)
    return
  }
  const before = on.texts.get(event.callId)?.content.text ?? ''
  const text = `${before}${event.content.text}`
  on.texts.set(event.callId, { ...event, content: { ...event.content, text, snapshot: true } })
}

function result(on: StubConversation, run: Run): RunResult {
  return {
    runId: run.runId,
    conversationId: on.id,
    traceId: '0'.repeat(32),
    agent: 'root',
    status: run.status === 'running' ? 'waiting' : run.status,
    text: '',
    output: null,
    finishReason: run.status === 'completed' ? 'stop' : 'waiting',
    interruptions: [...on.open.values()].map(({ interruption }) => interruption),
    tasks: [],
    usage: { ...emptyCounters(), byAgent: {} },
    elapsedMs: 0,
    error: null,
  }
}
