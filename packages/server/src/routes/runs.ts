/** Runs: start or resume one, and wait, stream or return at once; read one; cancel one. */
import type { AcceptedRun } from '@witan/core'
import { liftDeadline } from '@witan/core/tooling'
import { isWitanError } from '@witan/protocol'
import { diagramMermaid, diagramText } from '@witan/protocol/protocols'
import {
  exchangesSchema,
  runLineSchema,
  runRequestSchema,
  runResultSchema,
  runStateSchema,
} from '@witan/protocol/schemas'
import { z } from 'zod'
import { wantsStream } from '../accept.ts'
import { type Call, conversationId, defineRoute, param, type Reply, type Route } from '../route.ts'
import { joinConversation, runFrames } from '../run-frames.ts'
import { waitFor } from '../wait.ts'
import { given, pageOf, pageQuery } from './paging.ts'

const tag = 'runs'
const acceptedSchema = z.object({ runId: z.string() })

/** How a run is answered. */
export const runAnswers = {
  200: { schema: runResultSchema, description: 'The result of the run, or its open interruptions.', stream: true },
  202: { schema: acceptedSchema, description: 'The run is stored and goes on by itself.' },
}

/** Runs of a conversation, and everything under /api/v1/runs. */
export const runRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/api/v1/conversations/{id}/runs',
    name: 'run',
    tag,
    summary:
      'Runs a prompt, or resumes the waiting run with responses. Answers when it ends or waits for an answer; with `wait: false` at once; as a stream with its events and then its result.',
    body: runRequestSchema,
    takesFiles: true,
    answers: runAnswers,
    handle: (call) => runIn(call, { id: conversationId(call), receipt: ({ runId }) => ({ runId }) }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/conversations/{id}/runs',
    name: 'listRuns',
    tag,
    summary: 'Lists the runs of a conversation, the newest first.',
    query: z.strictObject(pageQuery),
    answers: { 200: { schema: pageOf(runLineSchema), description: 'A page of runs.' } },
    handle: async (call) => ({
      status: 200,
      body: await call.witan.listRuns(conversationId(call), given(call.query)),
    }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/runs/{id}',
    name: 'getRun',
    tag,
    summary: 'The state of a run, with the tree of its calls.',
    answers: { 200: { schema: runStateSchema, description: 'The current state of the run.' } },
    handle: async (call) => ({ status: 200, body: await call.witan.getRun(param(call, 'id')) }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/runs/{id}/exchanges',
    name: 'getExchanges',
    tag,
    summary: 'What the peers of a run said to each other by their protocols, and what broke a protocol.',
    answers: { 200: { schema: exchangesSchema, description: 'The exchanges, in the order of their beginning.' } },
    handle: async (call) => ({
      status: 200,
      body: { exchanges: await call.witan.getExchanges(param(call, 'id')) },
    }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/runs/{id}/diagram',
    name: 'getDiagram',
    tag,
    summary: 'A run as a sequence diagram: who said what to whom, in numbered arrows.',
    query: z.strictObject({ format: z.enum(['mermaid', 'text']).default('mermaid') }),
    answers: { 200: { schema: null, isBytes: true, description: 'The diagram, as `text/plain`.' } },
    handle: async (call) => {
      const diagram = await call.witan.getDiagram(param(call, 'id'))
      const text = call.query.format === 'text' ? diagramText(diagram) : diagramMermaid(diagram)
      const headers = { 'content-type': 'text/plain; charset=utf-8' }
      return { status: 200, bytes: new TextEncoder().encode(text), headers }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/runs/{id}/cancel',
    name: 'cancelRun',
    tag,
    summary: 'Cancels a run and everything below it; its tasks only if the body says so.',
    body: z.strictObject({ tasks: z.boolean().default(false) }),
    bodyOptional: true,
    answers: { 202: { schema: acceptedSchema, description: 'The cancel is stored.' } },
    handle: async (call) => {
      const runId = param(call, 'id')
      await call.witan.cancelRun(runId, call.body)
      return { status: 202, body: { runId } }
    },
  }),
]

/** A call whose body is a run. */
type RunCall = Call<unknown, z.output<typeof runRequestSchema>>

/** The conversation of a run, and the reply for a run that is stored without waiting for it. */
interface RunPlace {
  readonly id: string
  receipt(run: AcceptedRun): unknown
}

/** Runs in that conversation, and answers as the request asks: with the result, at once, or with a stream. */
export async function runIn(call: RunCall, place: RunPlace): Promise<Reply> {
  const { body } = call
  const gone = call.gone()
  if (wantsStream(call.headers, 'json')) return stream(call, place)
  const accepted = await accept(call, place.id)
  if (!body.wait) return { status: 202, body: place.receipt(accepted) }
  const leave = leaving(call, accepted.runId)
  gone.addEventListener('abort', leave)
  if (gone.aborted) leave()
  try {
    return await outcome(call, accepted, place)
  } finally {
    gone.removeEventListener('abort', leave)
  }
}

/** The result, or where the server stops before there is one, that the run is stored. */
async function outcome(
  { halt }: RunCall,
  accepted: AcceptedRun,
  place: RunPlace,
): Promise<{ status: number; body: unknown }> {
  const result = await waitFor(accepted.result, halt)
  return result === null ? { status: 202, body: place.receipt(accepted) } : { status: 200, body: result }
}

async function stream(call: RunCall, place: RunPlace): Promise<Reply> {
  const follower = await joinConversation(call.witan, place.id, call.body.verbose)
  try {
    const accepted = await accept(call, place.id)
    const leave = leaving(call, accepted.runId)
    return {
      frames: (signal) => runFrames(follower, accepted, signal),
      outcome: () => outcome(call, accepted, place),
      onEnd(end) {
        follower.leave()
        if (end === 'disconnected' || end === 'slow') leave()
      },
    }
  } catch (error) {
    follower.leave()
    throw error
  }
}

async function accept({ witan, body, keyed, headers }: RunCall, id: string): Promise<AcceptedRun> {
  const { noted, ...note } = keyed
  const noting = { ...note, ...traceparentIn(headers) }
  const accepted = noted === undefined ? await witan.run(id, body, noting) : await witan.followRun(noted)
  liftDeadline() // the request is stored: now it waits for the run
  accepted.result.catch(() => undefined) // callers that wait for the result get the error
  return accepted
}

/** The W3C header of a request, which a trace may be linked to. */
export function traceparentIn(headers: Headers): { readonly traceparent?: string } {
  const traceparent = headers.get('traceparent')
  return traceparent === null ? {} : { traceparent }
}

/** A reader that disconnects does not affect the run, unless its request asked for a cancel [D9]. */
function leaving(call: RunCall, runId: string): () => void {
  return () => (call.body.onDisconnect === 'cancel' ? cancelQuietly(call, runId) : undefined)
}

/** A run that has ended meanwhile needs no cancel. */
function cancelQuietly({ witan, log }: RunCall, runId: string): void {
  witan.cancelRun(runId).catch((error: unknown) => {
    if (!isWitanError(error)) log('error', 'a run could not be cancelled after its reader left', { runId, error })
  })
}
