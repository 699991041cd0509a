/** Work in the background in the Studio, against a real server: listed, steered, asked about, stopped, and told of. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { type BackgroundServer, startBackgroundServer } from './support/background-server.ts'
import { closePages, missing, openBrowser, openPage } from './support/browser.ts'

const skip = missing()

describe('tasks in the Studio', { skip, timeout: 300_000 }, () => {
  let browser: Browser
  let server: BackgroundServer
  before(async () => {
    browser = await openBrowser()
    server = await startBackgroundServer()
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  test('a task is listed, asked about, told something, stopped, and told of by a marked follow-up [F22] [F26] [F27]', async () => {
    const { page, complaints, close } = await openPage(browser, server.url)
    await page.goto(`${server.url}/conversations?agent=desk`)
    await page.getByLabel('First message').fill('Please count')
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.getByText('Two of us are at it.').waitFor()
    const tasks = page.getByTestId('tasks')
    await tasks.getByText('2 tasks at work in the background').waitFor()
    await page.getByRole('treeitem').filter({ hasText: 'counter' }).getByText('background').waitFor()
    assert.equal(await page.getByTestId('answer').getAttribute('data-state'), 'completed', 'its run waits for nobody')

    await page.getByRole('button', { name: 'Steer counter' }).click()
    await tasks.getByRole('button', { name: 'Ask how far it is' }).click()
    await tasks.getByText('Half of it is counted.').waitFor()
    await tasks.getByRole('textbox').fill('boxes only')
    await tasks.getByRole('button', { name: 'Tell it' }).click()
    await tasks.getByText('It reads it at its next step.').waitFor()
    assert.equal(await tasks.getByRole('textbox').inputValue(), '')
    await tasks.getByRole('button', { name: /^counter/ }).click()
    await page.getByTestId('detail').getByText('[from @local to @counter] boxes only').waitFor()

    await page.getByRole('button', { name: 'Steer auditor' }).click()
    await tasks.getByRole('button', { name: 'Stop task' }).click()
    await tasks.getByText('1 task ended').waitFor()
    await tasks.getByText('1 task at work in the background').waitFor()

    server.open()
    await page.getByText('The count is in.').waitFor()
    const followUp = page.getByTestId('answer').nth(1)
    await followUp.getByText('follow-up').waitFor()
    await page.getByTestId('detail').getByText('12 boxes, boxes only').waitFor()
    await tasks.getByText('2 tasks ended').waitFor()
    await page.reload()
    await page.getByTestId('answer').nth(1).getByText('follow-up').waitFor()
    await tasks.getByText('2 tasks ended').click()
    assert.equal(await tasks.locator('li[data-state=cancelled]').count(), 1)
    assert.equal(await tasks.locator('li[data-state=completed]').count(), 1)
    await page.setViewportSize({ width: 380, height: 800 })
    assert.ok(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'))
    assert.deepEqual(complaints, [])
    await close()
  })
})
