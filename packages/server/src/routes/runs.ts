/** Runs: start or resume one and wait, stream or leave; read one; cancel one. */
import type { AcceptedRun } from '@witan/core'
import { isWitanError } from '@witan/protocol'
import { runRequestSchema, runResultSchema, runStateSchema } from '@witan/protocol/schemas'
import { z } from 'zod'
import { wantsStream } from '../accept.ts'
import { type Call, conversationId, defineRoute, param, type Reply, type Route } from '../route.ts'
import { runFrames } from '../run-frames.ts'
import { waitFor } from '../wait.ts'

const tag = 'runs'
const acceptedSchema = z.object({ runId: z.string() })

/** Runs of a conversation, and everything under /api/v1/runs. */
export const runRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/api/v1/conversations/{id}/runs',
    name: 'run',
    tag,
    summary:
      'Runs a prompt, or resumes the waiting run with responses. Answers when it ends or waits for somebody; with `wait: false` at once; as a stream with its events and then its result.',
    body: runRequestSchema,
    answers: {
      200: { schema: runResultSchema, description: 'What the run came to, or what it waits for.', stream: true },
      202: { schema: acceptedSchema, description: 'The run is stored and goes on by itself.' },
    },
    handle: run,
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/runs/{id}',
    name: 'getRun',
    tag,
    summary: 'The state of a run, with the tree of its calls.',
    answers: { 200: { schema: runStateSchema, description: 'The run as it stands.' } },
    handle: async (call) => ({ status: 200, body: await call.witan.getRun(param(call, 'id')) }),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/runs/{id}/cancel',
    name: 'cancelRun',
    tag,
    summary: 'Cancels a run and everything below it.',
    body: z.strictObject({ tasks: z.boolean().default(false) }),
    bodyOptional: true,
    answers: { 202: { schema: acceptedSchema, description: 'The cancel is stored.' } },
    handle: async (call) => {
      const runId = param(call, 'id')
      await call.witan.cancelRun(runId)
      return { status: 202, body: { runId } }
    },
  }),
]

type RunCall = Call<unknown, z.output<typeof runRequestSchema>>

async function run(call: RunCall): Promise<Reply> {
  const { witan, body, gone } = call
  const accepted = await witan.run(conversationId(call), body)
  accepted.result.catch(() => undefined)
  const cancel = (): void => cancelQuietly(call, accepted.runId)
  const leave = body.onDisconnect === 'cancel' ? cancel : undefined
  if (wantsStream(call.headers, 'json')) return streamed(call, accepted, leave)
  const stored = { status: 202, body: { runId: accepted.runId } }
  if (!body.wait) return stored
  if (leave !== undefined) gone.addEventListener('abort', leave)
  if (gone.aborted) leave?.()
  try {
    const result = await waitFor(accepted.result, call.halt)
    return result === null ? stored : { status: 200, body: result }
  } finally {
    if (leave !== undefined) gone.removeEventListener('abort', leave)
  }
}

function streamed(call: RunCall, accepted: AcceptedRun, leave: (() => void) | undefined): Reply {
  const { verbose } = call.body
  return {
    frames: (signal) => runFrames(call.witan, accepted, { verbose, signal }),
    outcome: async () => ({ status: 200, body: await accepted.result }),
    onEnd: (end) => (end === 'disconnected' || end === 'slow' ? leave?.() : undefined),
  }
}

/** A run that has ended meanwhile needs no cancel. */
function cancelQuietly({ witan, log }: RunCall, runId: string): void {
  witan.cancelRun(runId).catch((error: unknown) => {
    if (!isWitanError(error)) log('error', 'a run could not be cancelled after its reader left', { runId, error })
  })
}
