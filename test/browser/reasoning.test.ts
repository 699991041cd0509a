/** Reasoning in the Studio: folded to one line that a click or a key opens, while it is written and later in the document. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defineAgent, type Model } from '@witan/core'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import type { Browser } from 'playwright-core'
import { closePages, missing, openBrowser, openPage, inspect } from './support/browser.ts'

const thoughts = ['The window is wet, ', 'so it rains. <b>Or</b> somebody cleans it.']

describe('reasoning in the Studio', { skip: missing(), timeout: 300_000 }, () => {
  let browser: Browser
  let server: WitanServer
  let next = () => {}

  /** Reasons whenever it is let, then answers whenever it is let. */
  const model: Model = {
    id: 'slow/thinker',
    async *stream(_request, { reasoning }) {
      const pause = () =>
        new Promise<void>((resolve) => {
          next = resolve
        })
      for (const text of reasoning === true ? thoughts : []) {
        yield { type: 'reasoning', text } as const
        await pause()
      }
      yield { type: 'delta', text: 'It rains.' } as const
      await pause()
      const rest = { toolCalls: [], finishReason: 'stop', usage: null, model: null } as const
      yield { type: 'reply', reply: { text: 'It rains.', ...rest, reasoning: thoughts.join('') } } as const
    },
  }

  before(async () => {
    browser = await openBrowser()
    const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
    server = await startServer({
      ...config,
      auth: { mode: 'none' },
      server: { ...config.server, port: 0 },
      agents: [defineAgent({ id: 'thinker', model, instructions: 'Think.', showReasoning: true })],
    })
  })
  after(async () => {
    next()
    await closePages()
    await server?.close()
  })

  test('is folded away, opens with a key, and is never part of the answer', async () => {
    const { page, complaints, close } = await openPage(browser, server.url)
    await page.goto(`${server.url}/conversations?agent=thinker`)
    await page.getByLabel('First message').fill('Does it rain?')
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    const answer = page.getByTestId('answer')
    const fold = answer.getByTestId('reasoning')
    await fold.getByText(/^Thinking for /).waitFor()
    const words = fold.getByText('The window is wet, ')
    assert.equal(await words.isVisible(), false)
    await fold.locator('summary').focus()
    await page.keyboard.press('Enter')
    await words.waitFor({ state: 'visible' })
    next()
    await fold.getByText('<b>Or</b> somebody cleans it.').waitFor({ state: 'visible' })
    await inspect(page, 'reasoning-thinking')
    next()
    await answer.getByText('It rains.', { exact: true }).waitFor()
    await fold.getByText(/^Thought for /).waitFor()
    next()
    await page.locator('[data-testid=answer][data-state=completed]').waitFor()
    assert.equal(await words.isVisible(), true)
    await inspect(page, 'reasoning-thought')
    await page.keyboard.press('Enter')
    await words.waitFor({ state: 'hidden' })
    assert.deepEqual(complaints, [])
    await page.reload()
    await answer.getByText('It rains.', { exact: true }).waitFor()
    await page.getByRole('treeitem').first().click()
    await page.getByRole('button', { name: 'Open document' }).click()
    const stored = page.getByTestId('document').getByTestId('reasoning')
    assert.equal(await stored.getByText(thoughts.join('')).isVisible(), false)
    await stored.getByText('Thought').click()
    await stored.getByText(thoughts.join('')).waitFor({ state: 'visible' })
    await inspect(page, 'reasoning-document')
    assert.deepEqual(complaints, [])
    await close()
  })
})
