/** Writing while a run works, and what a failed node says, against a real server. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { closePages, inspect, missing, openBrowser, openPage } from './support/browser.ts'
import { startStatesServer, type StatesServer } from './support/states-server.ts'
import { startStub } from './support/stub-server.ts'

describe('words while a run works', { skip: missing(), timeout: 300_000 }, () => {
  let browser: Browser
  let server: StatesServer
  before(async () => {
    browser = await openBrowser()
    server = await startStatesServer()
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  async function begin(page: Page, url: string, at: { agent: string; words: string }): Promise<void> {
    await page.goto(`${url}/conversations?agent=${at.agent}`)
    await page.getByLabel('First message').fill(at.words)
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.waitForURL(/\/conversations\/[\w-]+:/)
  }

  test('are sent, and the run reads them at its next step', async () => {
    const { page, complaints, close } = await openPage(browser, server.url)
    await begin(page, server.url, { agent: 'purchasing', words: 'hold on' })
    await page.locator('[data-testid=answer][data-state=running]').waitFor()
    await inspect(page, 'running')
    const message = page.getByLabel('Message', { exact: true })
    await message.fill('and buy chairs')
    await page.keyboard.press('Enter')
    await page.getByTestId('chat').getByText('and buy chairs').waitFor()
    assert.equal(await message.inputValue(), '')
    assert.equal(await page.locator('[data-testid=answer][data-state=running]').count(), 1, 'no second run began')
    server.open()
    await page.getByTestId('answer').getByText('Noted: and buy chairs').waitFor()
    assert.deepEqual(complaints, [])
    await close()
  })

  test('a failed node and a failed run say what failed in words', async () => {
    const { page, complaints, close } = await openPage(browser, server.url)
    await begin(page, server.url, { agent: 'purchasing', words: 'break it' })
    await page.locator('[data-testid=answer][data-state=failed]').waitFor()
    await page.getByRole('treeitem').first().click()
    await page.getByTestId('detail').getByRole('alert').waitFor()
    await inspect(page, 'failed-node')
    const words = await page.locator('body').textContent()
    assert.doesNotMatch(words ?? '', /\[object Object\]|undefined/)
    assert.match((await page.getByTestId('detail').getByRole('alert').textContent()) ?? '', /model/)
    assert.deepEqual(complaints, [])
    await close()
  })

  test('ask first where they would close an open action', async () => {
    const stub = await startStub({ pieceMs: 2 })
    const { page, complaints, close } = await openPage(browser, stub.url)
    await page.goto(`${stub.url}/conversations?agent=company-assistant-agent`)
    await page.getByLabel('userId', { exact: true }).fill('employees/3-A')
    await page.getByLabel('country', { exact: true }).fill('France')
    await page.getByLabel('First message').fill('Please rename me to Anna. Who is my manager?')
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.locator('[data-testid=answer][data-state=waiting]').waitFor()
    const message = page.getByLabel('Message', { exact: true })
    await message.fill('never mind')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'An action is open' })
    await dialog.waitFor()
    await inspect(page, 'open-action')
    await dialog.getByRole('button', { name: 'Keep waiting' }).click()
    assert.equal(await dialog.count(), 0)
    assert.equal(await message.inputValue(), 'never mind')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    assert.equal(await dialog.count(), 0)
    assert.deepEqual(complaints, [])
    await close()
    await stub.close()
  })
})
