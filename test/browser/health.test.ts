/** The health page: open runs, what waits, tokens and cost over time, and what it says where nothing was used yet. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { defineAgent } from '@witan/core'
import { call, lastUserMessage, scriptedModel } from '@witan/core/testing'
import type { WitanServer } from '@witan/server'
import type { Browser, Page } from 'playwright-core'
import { askingServer } from './support/asking-server.ts'
import { closePages, missing, openBrowser, openPage, inspect } from './support/browser.ts'

const usage = { inputTokens: 12_000, outputTokens: 3_000, cachedInputTokens: 0, reasoningTokens: 0 }
const price = { inputPerMillion: 3, outputPerMillion: 15 }
const model = scriptedModel(
  (request) =>
    lastUserMessage(request) === 'ask'
      ? { ...call('ask_user', { message: 'Which day?' }), usage }
      : { text: 'Done.', usage },
  { id: 'scripted/clerk', price },
)
const clerk = defineAgent({ id: 'clerk', instructions: 'Work.', model, users: [{ id: 'anna' }] })

/** Thirty days that end today: they rise and fall, one has no known cost, one is a lower bound, some have nothing. */
function manyDays(): object[] {
  const dayMs = 86_400_000
  return Array.from({ length: 30 }, (_, index) => {
    const key = new Date(Date.now() - (29 - index) * dayMs).toISOString().slice(0, 10)
    const inputTokens = Math.round(240_000 * (1.2 + Math.sin(index / 3)) * (index % 7 > 4 ? 0.2 : 1))
    const outputTokens = Math.round(inputTokens / 5)
    const counters = {
      modelCalls: 40 + index,
      toolCalls: 9,
      inputTokens,
      outputTokens,
      cachedInputTokens: 0,
      reasoningTokens: 0,
    }
    const costUsd = index === 21 ? null : (inputTokens * 3 + outputTokens * 15) / 1e6
    return { key, ...counters, totalTokens: inputTokens + outputTokens, costUsd, complete: index !== 12 }
  }).filter((_, index) => index !== 4 && index !== 5)
}

describe('the health page', { skip: missing() }, () => {
  let browser: Browser
  let server: WitanServer
  before(async () => {
    server = await askingServer([clerk])
    browser = await openBrowser()
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  const textOf = async (page: Page, id: string) => (await page.getByTestId(id).textContent()) ?? ''

  test('says what to do where nothing was used yet, and shows figures as soon as there are some', async () => {
    const { page, complaints, close } = await openPage(browser, server.url)
    await page.goto(server.url)
    await page.getByRole('link', { name: 'Health' }).click()
    await page.getByText('No model was called in 30 days').waitFor()
    assert.equal(await page.getByRole('link', { name: 'Start a conversation' }).getAttribute('href'), '/conversations')
    assert.match(await textOf(page, 'open-runs'), /^Open runs .*conversations00 at work, 0 waiting$/)
    await inspect(page, 'health-empty')
    const client = createClient({ url: server.url })
    await client.conversation('clerk').run('hello')
    await client.conversation('clerk').run('ask')
    client.close()
    await page.reload()
    await page.getByTestId('tokens-plot').waitFor()
    assert.match(await textOf(page, 'tokens'), /in 30 days30,0002 model calls$/)
    assert.match(await textOf(page, 'cost'), /days\$0\.1620$/)
    assert.match(await textOf(page, 'open-runs'), /conversations10 at work, 1 waiting$/)
    assert.match(await textOf(page, 'open-interruptions'), /answer1Answer them$/)
    assert.match(await textOf(page, 'usage-agent'), /clerk230,000\$0\.1620/)
    assert.match(await textOf(page, 'usage-model'), /scripted\/clerk230,000/)
    const bars = page.getByTestId('tokens-plot').locator('svg > g')
    assert.equal(await bars.count(), 30)
    const today = new Date().toISOString().slice(0, 10)
    assert.equal(await bars.last().locator('title').textContent(), `${today}: 24,000 in, 6,000 out`)
    await page.getByRole('button', { name: '7 days' }).click()
    await page.getByText('in 7 days').first().waitFor()
    await page.waitForFunction(`document.querySelectorAll('[data-testid=tokens-plot] svg > g').length === 7`)
    assert.deepEqual(complaints, [])
    await close()
  })

  for (const [width, name] of [
    [1440, 'wide'],
    [390, 'narrow'],
  ] as const) {
    test(`draws thirty days on a ${name} screen, with every figure in a table as well`, async () => {
      const { page, complaints, close } = await openPage(browser, server.url, { width })
      await page.route('**/api/v1/usage?by=day*', (route) =>
        route.fulfill({ json: { items: manyDays(), nextCursor: null } }),
      )
      await page.goto(`${server.url}/health`)
      const plot = page.getByTestId('cost-plot')
      await plot.waitFor()
      assert.equal(await plot.locator('tbody tr').count(), 30)
      assert.equal(await plot.getByText('not known', { exact: true }).count(), 1)
      assert.match(await textOf(page, 'cost'), /≥ \$/)
      assert.match(await textOf(page, 'tokens'), /≥ /)
      const tallest = await page
        .getByTestId('tokens-plot')
        .locator('svg > g')
        .evaluateAll((all) =>
          Math.max(
            ...all.map((one) =>
              [...one.querySelectorAll('rect')]
                .slice(0, 2)
                .reduce((sum, rect) => sum + Number(rect.getAttribute('height')), 0),
            ),
          ),
        )
      assert.ok(tallest > 40 && tallest <= 100, `the tallest bar has ${tallest} of 100`)
      const overflow = Number(
        await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
      )
      assert.ok(overflow <= 0, `the page is ${overflow} px too wide`)
      await inspect(page, `health-${name}`)
      assert.deepEqual(complaints, [])
      await close()
    })
  }
})
