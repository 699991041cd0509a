/** The cards of the Studio for everything that waits, in a real browser against a real server whose agent asks in every way. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import type { Browser, Page } from 'playwright-core'
import { closePages, missing, openBrowser, openPage, inspect } from './support/browser.ts'

const skip = missing()

describe('the cards of the Studio', { skip, timeout: 300_000 }, () => {
  let browser: Browser
  let server: WitanServer

  before(async () => {
    browser = await openBrowser()
    const file = fileURLToPath(new URL('./support/asking.config.ts', import.meta.url))
    server = await startServer(await loadConfig({ file, env: { WITAN_LOG_LEVEL: 'error' } }))
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  async function inConversation(prompt: string, use: (page: Page) => Promise<void>, expects?: RegExp): Promise<void> {
    const options = expects === undefined ? {} : { expects }
    const { page, complaints, close } = await openPage(browser, server.url, options)
    try {
      await page.goto(`${server.url}/conversations?agent=asker`)
      await page.getByLabel('First message').fill(prompt)
      await page.getByRole('button', { name: 'Start', exact: true }).click()
      await page.waitForURL(/\/conversations\/[\w-]+:/)
      await use(page)
      assert.deepEqual(complaints, [])
    } finally {
      await close()
    }
  }

  const done = (page: Page) => page.locator('[data-testid=answer][data-state=completed]').waitFor()
  const chat = (page: Page) => page.getByTestId('chat')

  test('an approval shows exactly what will be called; it is changed, approved, and then it runs', () =>
    inConversation(
      'pay',
      async (page) => {
        const card = chat(page).getByTestId('approval')
        await card.getByRole('heading', { name: 'pay' }).waitFor()
        await card.getByText('"amount": 5').waitFor()
        await inspect(page, 'approval')
        await page.getByRole('treeitem').filter({ hasText: 'pay' }).last().click()
        await page.getByTestId('detail').getByTestId('approval').waitFor()
        await card.getByRole('button', { name: 'Change arguments' }).click()
        await card.getByLabel('Arguments (JSON)').fill('{ "amount": 500 }')
        await card.getByRole('button', { name: 'Approve with changes' }).click()
        await card.getByText(/do not fit `pay`/).waitFor()
        assert.equal(await page.locator('[data-testid=answer][data-state=waiting]').count(), 1)
        await card.getByLabel('Arguments (JSON)').fill('{ "amount": 7 }')
        await card.getByRole('button', { name: 'Approve with changes' }).click()
        await done(page)
        await chat(page).getByText('It came to: paid 7').waitFor()
        for (const again of [false, true]) {
          if (again) await page.reload()
          await done(page)
          const decision = chat(page).getByTestId('decisions')
          await decision.getByText('was approved with a change by user:local').waitFor()
          await decision.getByText('amount: 5 → 7').waitFor()
          await decision.getByText('to: the carpenter → left out').waitFor()
          await decision.locator('time').waitFor()
          await page.getByRole('treeitem').filter({ hasText: 'pay' }).last().click()
          const detail = page.getByTestId('detail')
          await detail.getByText('was approved with a change by user:local').waitFor()
          await detail.getByText('Waited for people').waitFor()
        }
        await inspect(page, 'decision')
      },
      /422/,
    ))

  test('a denial with a reason is read by the model, and nothing runs', () =>
    inConversation('pay', async (page) => {
      const card = chat(page).getByTestId('approval')
      await card.getByLabel(/Reason/).fill('not today')
      await page.keyboard.press('Enter')
      await card.getByRole('button', { name: 'Deny' }).waitFor()
      await card.getByRole('button', { name: 'Deny' }).click()
      await chat(page).getByText('denied: not today').waitFor()
      const decision = chat(page).getByTestId('decisions')
      await decision.getByText('was denied by user:local').waitFor()
      await decision.getByText('“not today”').waitFor()
    }))

  test('questions offer their options, several and in words, and wait for what is required', () =>
    inConversation('choose', async (page) => {
      const card = chat(page).getByTestId('question')
      const send = card.getByRole('button', { name: 'Send answer' })
      await card.getByText('Which colour shall the door have?').waitFor()
      assert.equal(await send.isDisabled(), true)
      await card.getByLabel('Green').check()
      await card.getByLabel('A bell').check()
      await card.getByLabel('A lamp').check()
      await card.getByLabel('What else? In your own words').fill('a mat')
      await inspect(page, 'question')
      await send.click()
      await done(page)
      await chat(page).getByText('"options":["bell","lamp"],"text":"a mat"').waitFor()
      await page.reload()
      const decision = chat(page).getByTestId('decisions')
      await decision.getByText('asked, and was answered by user:local').waitFor()
      await decision.getByText('Which colour shall the door have? Green').waitFor()
      await decision.getByText('What else? A bell, A lamp, a mat').waitFor()
      await decision.getByText('Why? no answer').waitFor()
      await inspect(page, 'answered')
    }))

  test('a message gets a reply, an action plain words', () =>
    inConversation('write', async (page) => {
      const card = chat(page).getByTestId('message')
      await card.getByText('How many?').waitFor()
      await card.getByText(/for anna/).waitFor()
      await inspect(page, 'message')
      await card.getByLabel('Reply').fill('forty')
      await card.getByRole('button', { name: 'Send reply' }).click()
      const action = chat(page).getByTestId('action')
      await action.getByLabel('Answer (text or JSON)').fill('done, they said')
      await inspect(page, 'action')
      await action.getByRole('button', { name: 'Send answer' }).click()
      await chat(page).getByText('It came to: done, they said').waitFor()
      const decisions = chat(page).getByTestId('decisions')
      await decisions.getByText('How many? forty').waitFor()
      const order = decisions.locator('li').filter({ hasText: 'Order' })
      await order.getByText('was answered by user:local').waitFor()
      await order.getByText('Answer: done, they said').waitFor()
    }))

  test('rows that a tool gives are a table, fifty at first, and JSON on request', () =>
    inConversation('staff', async (page) => {
      await done(page)
      await page.getByRole('treeitem').filter({ hasText: 'staff' }).last().click()
      const detail = page.getByTestId('detail')
      const rows = detail.getByTestId('rows').locator('tbody tr')
      await rows.first().waitFor()
      assert.deepEqual(await rows.first().locator('td').allTextContents(), ['1', 'Person 1', '<b>bold</b>'])
      assert.equal(await rows.count(), 50)
      await inspect(page, 'rows')
      await detail.getByRole('button', { name: 'Show all 60 rows' }).click()
      assert.equal(await rows.count(), 60)
      await detail.getByRole('button', { name: 'As JSON' }).click()
      await detail.getByText('"name": "Person 60"').waitFor()
    }))
})
