/** Kept parts of a reply go back to the address that they came from, and to no other one of the same host. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createDeepSeek } from '@ai-sdk/deepseek'
import type { Model, ModelReply, ModelRequest } from '../model.ts'
import { readReply } from '../read-reply.ts'
import { aiSdkModel } from './ai-sdk.ts'
import { openaiCompatible } from './openai-compatible.ts'

const bodies: string[] = []
const fetch = (async (_url: unknown, init?: RequestInit) => {
  bodies.push(String(init?.body))
  const message = { role: 'assistant', content: 'Yes.', reasoning_content: 'sealed thought' }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  return Response.json({ id: 'x', object: 'chat.completion', created: 1, model: 'm', choices })
}) as typeof globalThis.fetch

const ways: Readonly<Record<string, (address: string) => Model>> = {
  'our connection': (baseUrl) => openaiCompatible({ baseUrl, model: 'm', fetch }),
  'the AI SDK': (baseURL) => aiSdkModel(createDeepSeek({ baseURL, apiKey: 'k', fetch })('deepseek-v4-pro')),
}

function requestOf(kept: ModelReply['kept']): ModelRequest {
  const messages: ModelRequest['messages'] = [
    { role: 'user', content: 'Well?' },
    { role: 'assistant', content: 'Yes.', ...(kept === undefined ? {} : { kept }) },
    { role: 'user', content: 'Why?' },
  ]
  return { messages, tools: [], toolChoice: 'none', temperature: null, reasoningEffort: null, output: null }
}

async function ask(model: Model, kept?: ModelReply['kept']): Promise<ModelReply> {
  return readReply(model, requestOf(kept), { signal: new AbortController().signal, deltas: false })
}

for (const [name, at] of Object.entries(ways)) {
  describe(`parts that came over ${name}`, () => {
    const others = [
      'https://gate.test/a',
      'http://gate.test:81/a',
      'http://gate.test/b',
      'http://gate.test/a/b',
      'http://other.test/a',
      'http://gate.test/a?deployment=b',
    ]
    for (const other of others) {
      test(`from http://gate.test/a do not go to ${other}`, async () => {
        const { kept } = await ask(at('http://gate.test/a'))
        assert.ok(kept !== undefined)
        await ask(at('http://gate.test/a'), kept)
        assert.match(bodies.at(-1) ?? '', /sealed thought/)
        await ask(at(other), kept)
        assert.doesNotMatch(bodies.at(-1) ?? '', /sealed thought/)
      })
    }

    test('go back to the same query, of which nothing can be read where they are stored', async () => {
      const { kept } = await ask(at('http://gate.test/a?key=sesame'))
      assert.doesNotMatch(JSON.stringify(kept), /sesame/)
      await ask(at('http://gate.test/a?key=sesame'), kept)
      assert.match(bodies.at(-1) ?? '', /sealed thought/)
    })

    test('are not sent back where they were stored under the name of a host alone', async () => {
      const { kept } = await ask(at('http://gate.test/a'))
      for (const by of ['openai-compatible gate.test/m', 'ai-sdk deepseek.chat/deepseek-v4-pro']) {
        await ask(at('http://gate.test/a'), { by, parts: kept?.parts })
        assert.doesNotMatch(bodies.at(-1) ?? '', /sealed thought/)
      }
    })
  })
}
