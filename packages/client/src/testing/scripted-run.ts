/** Runs that follow a script: the part of the test server that stands in for agents. */
import type { AnyEvent, Interruption, Prompt, RunResult } from '@witan/protocol'
import { WitanError } from '@witan/protocol'
import { emptyCounters } from '@witan/protocol/entries'

/** What a scripted run does next: write deltas, ask for actions and wait, or end. */
export type Step =
  | { readonly say: string }
  | { readonly act: readonly { readonly path: string; readonly arguments?: Record<string, unknown> }[] }
  | { readonly gate: Promise<void> }
  | { readonly end: string; readonly output?: unknown }

/** Gives a run's steps; answers to the actions so far come by path. */
export type Script = (
  prompt: Prompt,
  answers: Readonly<Record<string, unknown>>,
) => AsyncIterable<Step> | Iterable<Step>

/** A run under way or over. */
export interface Run {
  readonly runId: string
  readonly conversationId: string
  readonly interruptions: Interruption[]
  readonly answers: Record<string, unknown>
  result: RunResult | null
  wake: () => void
}

/** A conversation with its log. */
export interface Talk {
  readonly id: string
  readonly agent: string
  readonly events: AnyEvent[]
  readonly runs: Run[]
  readonly listeners: Set<(event: AnyEvent | null) => void>
}

/** Takes answers and wakes the run once nothing of it is open. */
export function answerAll(talk: Talk, responses: readonly { id: string; response: unknown }[]): Run {
  const run = talk.runs.find((one) => one.interruptions.some(({ id }) => id === responses[0]?.id))
  if (!run) throw new WitanError('ACTION_NOT_FOUND', 'No such open action.')
  for (const { id, response } of responses) {
    const index = run.interruptions.findIndex((one) => one.id === id)
    const open = run.interruptions[index]
    if (open?.state !== 'open') throw new WitanError('ALREADY_ANSWERED', `Action "${id}" was answered already.`)
    run.interruptions[index] = { ...open, state: 'answered' }
    run.answers[open.path] = response
    emit(talk, run, { type: 'resolved', content: { id, state: 'answered', by: 'test' } })
  }
  if (run.interruptions.some((one) => one.state === 'open')) run.result = waitingResult(run)
  else {
    run.result = null
    run.wake()
  }
  return run
}

/** Starts a run; its steps go on by themselves. */
export function startRun(script: Script, talk: Talk, prompt: Prompt): Run {
  const runId = `c_${talk.id.replace('/', '_')}_${talk.runs.length + 1}`
  const run: Run = { runId, conversationId: talk.id, interruptions: [], answers: {}, result: null, wake: () => {} }
  talk.runs.push(run)
  emit(talk, run, { type: 'message', content: { author: 'user', text: prompt } })
  emit(talk, run, { type: 'start', kind: 'agent', content: { message: prompt } })
  void play(talk, run, script(prompt, run.answers))
  return run
}

async function play(talk: Talk, run: Run, steps: AsyncIterable<Step> | Iterable<Step>): Promise<void> {
  for await (const step of steps) {
    if ('gate' in step) await step.gate
    else if ('say' in step) emit(talk, run, { type: 'delta', content: { text: step.say, attempt: 1 } })
    else if ('act' in step) {
      for (const { path, arguments: given = {} } of step.act) {
        const id = `i_${run.runId}_${run.interruptions.length + 1}`
        const [name = '', agent = talk.agent] = path.split('/').reverse()
        const open: Interruption = {
          id,
          kind: 'action',
          path,
          agent,
          callId: `${id}_call`,
          addressee: null,
          state: 'open',
          expiresAt: null,
          name,
          arguments: given,
        }
        run.interruptions.push(open)
        emit(talk, run, { type: 'action_required', content: { ...open } })
      }
      const woken = new Promise<void>((resolve) => {
        run.wake = resolve
      })
      run.result = waitingResult(run)
      for (const listener of talk.listeners) listener(null)
      await woken
    } else {
      run.result = {
        ...waitingResult(run),
        status: 'completed',
        text: step.end,
        output: step.output ?? null,
        finishReason: 'stop',
        interruptions: [],
      }
      emit(talk, run, { type: 'end', kind: 'agent', content: { text: step.end } })
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function waitingResult(run: Run): RunResult {
  const usage = { ...emptyCounters(), byAgent: {} }
  const interruptions = run.interruptions.filter((one) => one.state === 'open')
  const { runId, conversationId } = run
  return {
    runId,
    conversationId,
    traceId: '0'.repeat(32),
    agent: 'root',
    status: 'waiting',
    text: '',
    output: null,
    finishReason: 'waiting',
    interruptions,
    tasks: [],
    usage,
    elapsedMs: 1,
    error: null,
  }
}

function emit(talk: Talk, run: Run, given: Pick<AnyEvent, 'type' | 'content'> & Partial<AnyEvent>): void {
  const seq = given.type === 'delta' ? {} : { seq: talk.events.length + 1 }
  const event: AnyEvent = {
    ...seq,
    kind: null,
    callId: run.runId,
    parentCallId: null,
    rootCallId: run.runId,
    conversationId: talk.id,
    document: talk.id,
    author: talk.agent,
    agentPath: talk.agent,
    invocationId: run.runId,
    branch: null,
    branchPath: [],
    authorKind: 'agent' as const,
    at: new Date(0).toISOString(),
    actions: {},
    ...given,
  }
  if (event.seq !== undefined) talk.events.push(event)
  for (const listener of talk.listeners) listener(event)
}

/** Resolves when the run has a result; a listener hears `null` when a run parks. */
export async function resting(talk: Talk, run: Run): Promise<void> {
  while (run.result === null) {
    await new Promise<void>((resolve) => {
      const once = () => {
        talk.listeners.delete(once)
        resolve()
      }
      talk.listeners.add(once)
    })
  }
}
