/** The configurations of `examples/keys`: each loads, and its agent asks its vendor for its model with the key of its variable. */
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createLog, loadConfig, openRuntime } from '@witan/server'
import { filesOf, readPage, root } from './pages.ts'

/** What each sends: where to, for which model, and the variable that holds its key. */
const expected: Readonly<Record<string, readonly [url: string, model: string, variable: string | null]>> = {
  anthropic: ['https://api.anthropic.com/v1', 'claude-haiku-4-5', 'ANTHROPIC_API_KEY'],
  google: [
    'https://generativelanguage.googleapis.com/v1beta/openai',
    'gemini-flash-latest',
    'GOOGLE_GENERATIVE_AI_API_KEY',
  ],
  local: ['http://127.0.0.1:11434/v1', 'qwen3:8b', null],
  mistral: ['https://api.mistral.ai/v1', 'mistral-small-latest', 'MISTRAL_API_KEY'],
  openai: ['https://api.openai.com/v1', 'gpt-5-mini', 'OPENAI_API_KEY'],
  openrouter: ['https://openrouter.ai/api/v1', 'qwen/qwen3-32b', 'OPENROUTER_API_KEY'],
}

interface Sent {
  readonly url: string
  readonly authorization: string | null
  readonly model: unknown
}

describe('the configurations of examples/keys', () => {
  const { fetch } = globalThis
  const sent: Sent[] = []
  before(() => {
    globalThis.fetch = async (input, init) => {
      const request = new Request(input, init)
      const { model } = (await request.json()) as { model: unknown }
      sent.push({ url: request.url, authorization: request.headers.get('authorization'), model })
      const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }]
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
      return Response.json({ id: '1', object: 'chat.completion', created: 1, model, choices, usage })
    }
  })
  after(() => {
    globalThis.fetch = fetch
  })

  test('each of them is known here, and stands in the page on keys', () => {
    const files = globSync('examples/keys/*.config.ts', { cwd: root }).map((path) => basename(path, '.config.ts'))
    assert.deepEqual(files.sort(), Object.keys(expected).sort())
    const shown = filesOf('docs/guides/own-key.md').map((path) => basename(path, '.config.ts'))
    assert.deepEqual([...shown].sort(), files)
  })

  for (const [vendor, [url, model, variable]] of Object.entries(expected)) {
    test(`${vendor} is asked for ${model} with the key of ${variable ?? 'nobody'}`, async () => {
      const file = join(root, `examples/keys/${vendor}.config.ts`)
      const known = variable === null ? undefined : process.env[variable]
      if (variable !== null) process.env[variable] = 'a-key'
      try {
        const config = await loadConfig({ file, env: { ...process.env, WITAN_STORE_URL: 'memory:' } })
        const runtime = await openRuntime(config, createLog('silent'))
        assert.equal((await runtime.conversation('helper').run('Hello')).text, 'Hello.')
        await runtime.close()
      } finally {
        if (variable !== null) {
          if (known === undefined) delete process.env[variable]
          else process.env[variable] = known
        }
      }
      const authorization = variable === null ? null : 'Bearer a-key'
      assert.deepEqual(sent.splice(0), [{ url: `${url}/chat/completions`, authorization, model }])
    })
  }

  test('the Northwind example and its page name the same models', () => {
    const places = ['examples/northwind/model.ts', 'examples/northwind/README.md']
    for (const vendor of ['openai', 'anthropic', 'google']) {
      const [, model = '', variable] = expected[vendor] ?? []
      for (const place of places) {
        const lines = readPage(place).split('\n')
        const near = lines.findIndex((line) => line.includes(variable ?? ''))
        assert.ok(
          lines.slice(near, near + 3).some((line) => line.includes(model)),
          `${place}: ${vendor}`,
        )
      }
    }
  })
})
