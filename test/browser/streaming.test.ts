/** The first message of a conversation is streamed by a model that only streams for a reader who is there. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { aiSdkModel, defineAgent } from '@witan/core'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { MockLanguageModelV4 } from 'ai/test'
import type { Browser } from 'playwright-core'
import { closePages, missing, openBrowser, openPage } from './support/browser.ts'

const usage = {
  inputTokens: { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 2, text: undefined, reasoning: undefined },
}

describe('the first message in the Studio', { skip: missing(), timeout: 300_000 }, () => {
  let browser: Browser
  let server: WitanServer
  let open = () => {}
  const called: string[] = []

  /** Says half, and the rest when it is let; how it was called stands in `called`. */
  function provider(): MockLanguageModelV4 {
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const stream = () =>
      new ReadableStream<LanguageModelV4StreamPart>({
        async start(controller) {
          controller.enqueue({ type: 'text-start', id: '1' })
          controller.enqueue({ type: 'text-delta', id: '1', delta: 'The first half' })
          await opened
          controller.enqueue({ type: 'text-delta', id: '1', delta: ' and the second.' })
          controller.enqueue({ type: 'text-end', id: '1' })
          controller.enqueue({ type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage })
          controller.close()
        },
      })
    return new MockLanguageModelV4({
      doStream: async () => {
        called.push('stream')
        return { stream: stream() }
      },
      doGenerate: async () => {
        called.push('generate')
        throw new Error('nobody reads')
      },
    })
  }

  before(async () => {
    browser = await openBrowser()
    const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
    const agent = defineAgent({ id: 'live', model: aiSdkModel(provider()), instructions: 'Speak.' })
    server = await startServer({
      ...config,
      auth: { mode: 'none' },
      server: { ...config.server, port: 0 },
      agents: [agent],
    })
  })
  after(async () => {
    open()
    await closePages()
    await server?.close()
  })

  test('arrives in pieces from a live AI SDK model', async () => {
    const { page, complaints, close } = await openPage(browser, server.url)
    await page.goto(`${server.url}/conversations?agent=live`)
    await page.getByLabel('First message').fill('Hello')
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    const answer = page.getByTestId('answer')
    await answer.getByText('The first half', { exact: true }).waitFor()
    assert.equal(await answer.getAttribute('data-state'), 'running')
    open()
    await answer.getByText('The first half and the second.').waitFor()
    assert.deepEqual(called, ['stream'])
    assert.deepEqual(complaints, [])
    await close()
  })
})
