/** One run read as events, over lost connections too. */
import type { Event, EventPage, RunResult, RunState } from '@witan/protocol'
import { ClientError, invalidReply } from './error.ts'
import { followEvents, opened, openFrames, refuseWentBack, takenOver } from './events.ts'
import { backoffMs } from './timing.ts'
import {
  conversationSegment,
  isInProgress,
  isUnreachable,
  maxTries,
  parseReply,
  type RequestOptions,
  retryAfterMs,
  segment,
  type Transport,
  withKey,
} from './transport.ts'

/** A run as its events: read it once. */
export interface RunStream<Result> extends AsyncIterable<Event> {
  /** Reads the remaining events and returns the result; fails with the stream's error, or with `STREAM_LEFT` if its loop was left early. */
  result(): Promise<Result>
}

/** The run and conversation that are read, and the last seq that was delivered. */
export interface Reading {
  readonly conversationId: string
  readonly verbose: boolean
  readonly signal: AbortSignal | undefined
  lastSeq: number
}

/** A server's reply to a run: its result, or only its id if the server stops and the run goes on at its next start. */
export type RunReply = RunResult | { readonly runId: string }

/** Whether the reply is a result already. */
export function isResult(reply: RunReply): reply is RunResult {
  return 'status' in reply
}

const pollMs = 2_000
const maxReadFailures = 8

/**
 * Posts a run and yields its events; returns its result. If the connection is lost before the first event the same
 * post is sent again under the same key; after it, the run is followed to its result.
 */
export async function* streamRun(
  transport: Transport,
  reading: Reading,
  post: Pick<RequestOptions, 'body' | 'headers'>,
): AsyncGenerator<Event, RunResult, undefined> {
  const path = `/api/v1/conversations/${conversationSegment(reading.conversationId)}/runs`
  const url = transport.address(path)
  const request = withKey({ ...post, signal: reading.signal })
  let failures = 0
  for (;;) {
    let runId: string | null = null
    try {
      for await (const frame of openFrames(transport, { method: 'POST', path, request })) {
        if (frame === opened) continue
        refuseWentBack(frame)
        if (frame.event === takenOver) break
        if (frame.event === 'result') {
          const reply = parseReply(url, frame.data) as RunReply
          if (!isResult(reply)) return yield* followRun(transport, reading, reply.runId)
          if (failures > 0) yield* catchUp(transport, reading, reply.runId)
          return reply
        }
        const event = parseReply(url, frame.data) as Event
        runId = event.rootCallId
        if (isNew(reading, event)) yield event
      }
    } catch (error) {
      if (failures > 0 && isInProgress(error)) {
        await transport.timing.pause(retryAfterMs(error), reading.signal)
        continue
      }
      if (!isUnreachable(error) || (runId === null && failures === maxTries - 1)) throw error
    }
    if (runId !== null) return yield* followRun(transport, reading, runId)
    failures += 1
    if (failures === maxTries) throw invalidReply(url, 'the stream of the run ends without a result')
    await transport.timing.pause(backoffMs(transport.timing, failures), reading.signal)
  }
}

/** Yields the events of a live run until it ends or waits; returns its result. */
export async function* followRun(
  transport: Transport,
  reading: Reading,
  runId: string,
): AsyncGenerator<Event, RunResult, undefined> {
  const read = () => readResult(transport, reading, runId)
  const stop = new AbortController()
  const signal = AbortSignal.any([transport.untilClosed(reading.signal), stop.signal])
  const query = { from: reading.lastSeq, verbose: reading.verbose, signal }
  const events = followEvents(transport, reading.conversationId, query)
  let result = await read()
  let next: Promise<IteratorResult<Event, void>> | null = null
  try {
    while (!result) {
      next ??= events.next()
      const step = await within(transport, next, pollMs)
      if (step === null) {
        result = await read()
        continue
      }
      next = null
      if (step.done) {
        reading.signal?.throwIfAborted()
        result = await read()
        if (!result) throw invalidReply(transport.address(`/api/v1/runs/${runId}`), 'the events ended before the run')
        break
      }
      const event = step.value
      if (isNew(reading, event) && event.rootCallId === runId) yield event
      if (mayRest(event, runId)) result = await read()
    }
  } finally {
    next?.catch(() => {})
    stop.abort()
    await events.return().catch(() => {})
  }
  yield* catchUp(transport, reading, runId)
  return result
}

/** Stored events of the run that were not delivered yet. */
async function* catchUp(transport: Transport, reading: Reading, runId: string): AsyncGenerator<Event, void, undefined> {
  const path = `/api/v1/conversations/${conversationSegment(reading.conversationId)}/events`
  for (;;) {
    const query = { from: reading.lastSeq, verbose: reading.verbose }
    const page = await transport.json<EventPage>('GET', path, { query, signal: reading.signal })
    for (const event of page.events) {
      if (isNew(reading, event) && event.rootCallId === runId) yield event
    }
    if (!page.more || page.events.length === 0) return
  }
}

/** The result, or null while the run goes on. Waits about half a minute for a server that restarts. */
async function readResult(transport: Transport, reading: Reading, runId: string): Promise<RunResult | null> {
  const { signal } = reading
  for (let failures = 0; ; ) {
    try {
      const state = await transport.json<RunState>('GET', `/api/v1/runs/${segment(runId)}`, { signal })
      return state.status === 'running' ? null : state.result
    } catch (error) {
      failures += 1
      if (!isUnreachable(error) || failures === maxReadFailures) throw error
      await transport.timing.pause(backoffMs(transport.timing, failures), signal)
    }
  }
}

/** Only a run's state says that it waits, not the log. After these events the state may have changed. */
function mayRest(event: Event, runId: string): boolean {
  const isRootEnd = event.callId === runId && (event.type === 'end' || event.type === 'error')
  return isRootEnd || event.type.endsWith('_required')
}

/** Records an event as delivered; false if it was delivered before. */
function isNew(reading: Reading, event: Event): boolean {
  if (event.seq === undefined) return true
  if (event.seq <= reading.lastSeq) return false
  reading.lastSeq = event.seq
  return true
}

/** The value, or null if it takes longer. */
async function within<Value>(transport: Transport, value: Promise<Value>, ms: number): Promise<Value | null> {
  const stop = new AbortController()
  const late = transport.timing.pause(ms, stop.signal).then(
    () => null,
    () => null,
  )
  try {
    return await Promise.race([value, late])
  } finally {
    stop.abort()
  }
}

/** Wraps a run's generator for the caller. */
export function toRunStream<Result>(run: AsyncGenerator<Event, RunResult, undefined>): RunStream<Result> {
  let ended: { readonly result: RunResult } | { readonly error: unknown } | null = null
  async function* read(): AsyncGenerator<Event, void, undefined> {
    try {
      ended = { result: yield* run }
    } catch (error) {
      ended = { error }
      throw error
    }
  }
  const events = read()
  return {
    [Symbol.asyncIterator]: () => events,
    result: async () => {
      while (ended === null && !(await events.next()).done);
      if (ended === null) {
        throw new ClientError('STREAM_LEFT', 'The stream was left before its run came to a result.', {
          hint: 'The run goes on at the server; `resume()` of the conversation gives its result.',
        })
      }
      if ('error' in ended) throw ended.error
      return ended.result as Result
    },
  }
}
