/** One call of an agent on a server that is played: what it answers, one reply after the other, and what it was asked. */
import assert from 'node:assert/strict'
import { createRemoteCaller, type RemoteServices } from '@witan/core/tooling'

export type Fetch = RemoteServices['fetch']
type RemoteCall = Parameters<ReturnType<typeof createRemoteCaller>['call']>[0]
type Reply = Awaited<ReturnType<Fetch>>

/** A clock that is set to the time of the next timer as soon as everything waits. */
function hurriedClock() {
  let now = 0
  const timers = new Set<{ readonly at: number; readonly run: () => void }>()
  const hurry = () => {
    const [next] = [...timers].sort((one, other) => one.at - other.at)
    if (next === undefined) return
    timers.delete(next)
    now = Math.max(now, next.at)
    next.run()
  }
  return {
    now: () => now,
    after(ms: number, run: () => void, { background = false } = {}) {
      const timer = { at: now + ms, run }
      timers.add(timer)
      if (!background) setImmediate(() => setImmediate(hurry))
      return () => timers.delete(timer)
    },
  }
}

export const text = (value: object, type = 'application/json', status = 200): Reply => ({
  status,
  header: (name) => (name === 'content-type' ? type : null),
  body: bytesOf(JSON.stringify(value)),
})

async function* bytesOf(json: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(json)
}

/** A stream of these frames; a break-off stands at its end if `breaks`. */
export function streamOf(frames: readonly object[], breaks = false): Reply {
  async function* body(): AsyncGenerator<Uint8Array> {
    for (const frame of frames)
      yield Buffer.from(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: frame })}\n\n`)
    if (breaks) throw new Error('ECONNRESET')
  }
  return { status: 200, header: (name) => (name === 'content-type' ? 'text/event-stream' : null), body: body() }
}

export const task = (state: string, more: object = {}, artifacts: readonly object[] = []) => ({
  task: { id: 't', contextId: 'c', status: { state, ...more }, artifacts },
})
export const bare = (state: string, more: object = {}) =>
  text({ jsonrpc: '2.0', id: 1, result: task(state, more).task })

export interface Played {
  readonly saveNote?: (note: unknown) => Promise<void>
  /** Takes the files of the answer. */
  readonly save?: (draft: unknown) => Promise<unknown>
  readonly answers?: RemoteCall['context']['answers']
  readonly note?: unknown
  readonly isIdempotent?: boolean
}

/** Where the agent of another server is asked. */
export function endpointAt(isIdempotent: boolean) {
  return { url: 'https://b.test/a2a', binding: 'JSONRPC', tenant: null, isStreaming: true, isIdempotent } as const
}

export async function play(
  fetch: Fetch,
  { answers = [], note, isIdempotent = false, saveNote, save = async () => assert.fail('no file') }: Played = {},
) {
  const requests: { readonly method: string; readonly params: Record<string, unknown> }[] = []
  let kept = note
  const endpoint = endpointAt(isIdempotent)
  const caller = createRemoteCaller(
    {
      find: async () => ({ ok: true, endpoint, notice: null }),
      sign: async () => ({ bearer: null, metadata: {}, extensions: [] }),
      sharesBudget: () => false,
      passesIssuers: () => false,
      newId: () => 'id',
      clock: hurriedClock(),
      fetch: async (url, request) => {
        requests.push(JSON.parse(request.body ?? '{}'))
        return fetch(url, request)
      },
    },
    (error) => assert.fail(String(error)),
  )
  const outcome = await caller.call({
    edge: { name: 'docs', address: '@docs@b.test', history: 'agent' },
    from: { id: 'desk', address: null },
    callId: 'c_1',
    message: 'Find it.',
    body: {
      ...{
        run: 'r_1',
        before: undefined,
        answered: 0,
        share: null,
        words: () => [],
        onWords: () => () => {},
        show: () => {},
      },
      saveSpent: async (saved: unknown) => {
        kept = structuredClone(saved)
      },
    },
    context: {
      caller: { database: 'default', principal: { id: 'user:local' }, agent: { limits: { maxIterations: 3 } } },
      signal: new AbortController().signal,
      answers,
      note: kept,
      saveNote: async (saved: unknown) => {
        assert.ok(JSON.stringify(saved).length <= 16_000, 'the engine keeps no longer note')
        await saveNote?.(saved)
        kept = structuredClone(saved)
      },
      artifacts: { save, read: async () => assert.fail('no file') },
    },
  } as unknown as RemoteCall)
  return { outcome, requests, note: kept }
}

export const failureOf = ({ outcome }: Awaited<ReturnType<typeof play>>) =>
  outcome.kind === 'result' ? `${outcome.failure?.code}: ${outcome.failure?.detail}` : outcome.kind
export const methodsOf = ({ requests }: Awaited<ReturnType<typeof play>>) => requests.map(({ method }) => method)

/** Gives one reply after the other, the last one for ever. */
export function inTurn(...replies: readonly (() => Reply | Promise<Reply>)[]): Fetch {
  let at = 0
  return async () => (replies[Math.min(at++, replies.length - 1)] as () => Reply)()
}
