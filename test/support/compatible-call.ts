/** Calls of the adapter for OpenAI-compatible servers, made to a server that answers as told. */
import assert from 'node:assert/strict'
import { ModelCallError, type ModelReply, type ModelRequest, openaiCompatible } from '@witan/core'
import { chunk, createFakeProvider, type FakeAnswer, type FakeProvider } from './fake-provider.ts'

export const request: ModelRequest = {
  messages: [{ role: 'user', content: 'Hi' }],
  tools: [],
  toolChoice: 'none',
  temperature: null,
  reasoningEffort: null,
  output: null,
}

type OpenAICompatibleOptions = Parameters<typeof openaiCompatible>[0]

interface Outcome {
  readonly deltas: readonly string[]
  readonly reply: ModelReply | null
  readonly error: unknown
  readonly provider: FakeProvider
}

export async function play(
  answers: FakeAnswer | readonly FakeAnswer[],
  options: Partial<OpenAICompatibleOptions> = {},
): Promise<Outcome> {
  const provider = await createFakeProvider('chunks' in answers ? [answers] : answers)
  try {
    return { ...(await call({ baseUrl: provider.baseUrl, ...options })), provider }
  } finally {
    await provider.close()
  }
}

export async function call(
  options: Partial<OpenAICompatibleOptions>,
  deltas = true,
): Promise<Omit<Outcome, 'provider'>> {
  const seen: string[] = []
  let reply: ModelReply | null = null
  const model = openaiCompatible({ baseUrl: 'http://127.0.0.1:1/v1', model: 'm', ...options })
  try {
    for await (const part of model.stream(request, { signal: new AbortController().signal, deltas })) {
      if (part.type === 'delta') seen.push(part.text)
      else if (part.type === 'reply') reply = part.reply
    }
  } catch (error) {
    return { deltas: seen, reply, error }
  }
  return { deltas: seen, reply, error: null }
}

export function failure({ error, reply }: Omit<Outcome, 'provider'>): ModelCallError {
  assert.ok(error instanceof ModelCallError, String(error))
  assert.equal(reply, null)
  return error
}

export const hello = [chunk({ role: 'assistant', content: 'Hel' }), chunk({ content: 'lo' }), chunk({}, 'stop')]
export const withoutDone = (answer: FakeAnswer): FakeAnswer => ({ ...answer, chunks: answer.chunks.slice(0, -1) })
export const raw = (...chunks: readonly (string | Uint8Array)[]): FakeAnswer => ({ chunks })
