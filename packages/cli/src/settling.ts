/** What a run waits for, asked at the terminal one after the other; an answer that comes from elsewhere ends the question. */
import type { Client } from '@witan/client'
import type { Event, EventOf, Interruption, InterruptionKind, RunResult } from '@witan/protocol'
import { isWitanError } from '@witan/protocol'
import { verdictOf } from '@witan/protocol/condition'
import { askFor } from './answering.ts'
import { conditionOf } from './approval-condition.ts'
import { canAsk } from './confirming.ts'
import type { Stage } from './stage.ts'
import type { RunView } from './tree/view.ts'

/** How far a run has come, and the last event that was seen of it. */
interface Reached {
  readonly result: RunResult
  readonly lastSeq: number
}

/** Asks and continues the run until it waits for nothing more, or the person leaves a question open. */
export async function settle(stage: Stage, view: RunView, reached: Reached): Promise<RunResult> {
  const { terminal, connection, chat } = stage
  const { client } = connection
  let { result, lastSeq } = reached
  while (result.status === 'waiting' && canAsk(terminal)) {
    view.pause()
    if (!(await askAll(stage, view, { result, lastSeq }))) return await stillOpen(client, result)
    const stop = new AbortController()
    const follow = followInto(view, client.events(chat.id, { from: lastSeq, verbose: true, signal: stop.signal }))
    result = await chat.resume().finally(() => stop.abort())
    lastSeq = Math.max(lastSeq, await follow)
    for (const event of await eventsSince(client, chat.id, lastSeq)) {
      view.take(event)
      lastSeq = event.seq ?? lastSeq
    }
  }
  return result
}

/** All stored events of a conversation after that one. */
export async function eventsSince(client: Client, conversationId: string, from: number): Promise<readonly Event[]> {
  const events: Event[] = []
  for (;;) {
    const page = await client.conversations.events(conversationId, { from: events.at(-1)?.seq ?? from, verbose: true })
    events.push(...page.events)
    if (!page.more || page.events.length === 0) return events
  }
}

/** False where one was left open. */
async function askAll(stage: Stage, view: RunView, { result, lastSeq }: Reached): Promise<boolean> {
  const watched = watchSettled(stage, { result, lastSeq })
  try {
    for (const open of result.interruptions) {
      const settled = watched.of(open.id)
      if (!settled.aborted && !(await askUntilTaken(stage, view, { open, settled }))) return false
    }
    return true
  } finally {
    watched.close()
  }
}

/** A part of them may have been answered before one was left open. */
async function stillOpen(client: Client, result: RunResult): Promise<RunResult> {
  const { interruptions } = await client.conversations.get(result.conversationId)
  const open = new Set(interruptions.map(({ id }) => id))
  return { ...result, interruptions: result.interruptions.filter(({ id }) => open.has(id)) }
}

interface Question {
  readonly open: Interruption
  /** Aborts when it is no longer open; the reason is a phrase. */
  readonly settled: AbortSignal
}

/** What the server says of an answer that comes too late. */
const tooLate = ['ALREADY_ANSWERED', 'QUESTION_EXPIRED', 'RUN_FINISHED']

/** False where it is left open. An answer that the server does not take is asked for again, with what is wrong. */
async function askUntilTaken(stage: Stage, view: RunView, { open, settled }: Question): Promise<boolean> {
  const { terminal, connection } = stage
  const condition = await conditionOf(connection.client, open)
  for (let trouble: string | undefined; ; ) {
    const asked = await askFor(terminal, open, { trouble, settled, condition })
    view.wrote(asked.columns)
    if (settled.aborted) return true
    if (asked.answer === null) return false
    try {
      await connection.client.interruptions.answer(open.id, asked.answer)
      return true
    } catch (error) {
      if (!isWitanError(error)) throw error
      if (tooLate.includes(error.code)) return true
      if (error.code !== 'ANSWER_INVALID') throw error
      trouble = error.message
    }
  }
}

interface Watched {
  of(interruptionId: string): AbortSignal
  close(): void
}

/** Follows the events while a question is open: it may be answered elsewhere or expire, and its run may be cancelled. */
function watchSettled({ connection, chat }: Stage, { result, lastSeq }: Reached): Watched {
  const stop = new AbortController()
  const questions = new Map(result.interruptions.map(({ id }) => [id, new AbortController()] as const))
  const kinds = new Map(result.interruptions.map(({ id, kind }) => [id, kind] as const))
  const take = (event: Event) => {
    const { type, kind, callId } = event
    if (type === 'resolved')
      questions.get(event.content.id)?.abort(phraseOf(event.content, kinds.get(event.content.id)))
    const isOver = kind === 'agent' && callId === result.runId && (type === 'end' || type === 'error')
    if (isOver) for (const question of questions.values()) question.abort('The run has ended.')
  }
  const read = async () => {
    const events = connection.client.events(chat.id, { from: lastSeq, verbose: true, signal: stop.signal })
    for await (const event of events) take(event)
  }
  // Without the stream the question stays on screen; the server refuses a late answer.
  read().catch(() => {})
  return { of: (id) => questions.get(id)?.signal ?? stop.signal, close: () => stop.abort() }
}

function phraseOf({ state, by, answer }: EventOf<'resolved'>['content'], kind: InterruptionKind = 'question'): string {
  if (state !== 'answered') return `It is ${state}.`
  const word = verdictOf(kind, answer)
  const how = `${word.charAt(0).toUpperCase()}${word.slice(1)} elsewhere`
  return by === null ? `${how}.` : `${how}, by ${by}.`
}

async function followInto(view: RunView, events: ReturnType<Client['events']>): Promise<number> {
  let lastSeq = 0
  for await (const event of events) {
    view.take(event)
    lastSeq = event.seq ?? lastSeq
  }
  return lastSeq
}
