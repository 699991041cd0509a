/** Several people in the Studio: they are added, speak, are asked, and leave. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createClient } from '@witan/client'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import type { Browser, Page } from 'playwright-core'
import { closePages, missing, openBrowser, openPage, inspect } from './support/browser.ts'

const skip = missing()

describe('people in the Studio', { skip, timeout: 300_000 }, () => {
  let browser: Browser
  let server: WitanServer

  before(async () => {
    browser = await openBrowser()
    const file = fileURLToPath(new URL('./support/people.config.ts', import.meta.url))
    server = await startServer(await loadConfig({ file, env: { WITAN_LOG_LEVEL: 'error' } }))
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  const chat = (page: Page) => page.getByTestId('chat')
  const done = (page: Page, count: number) =>
    page
      .locator('[data-testid=answer][data-state=completed]')
      .nth(count - 1)
      .waitFor()
  const say = async (page: Page, words: string, as?: string) => {
    if (as !== undefined) await page.getByLabel('Write as').selectOption(as)
    await page.getByLabel('Message').fill(words)
    await page.getByRole('button', { name: 'Send', exact: true }).click()
  }

  test('people are added and removed; each message shows who wrote it, and the agent reads it', async () => {
    const client = createClient({ url: server.url })
    await client.conversations.start({
      agent: 'host',
      id: 'chats/1',
      users: [{ id: 'anna', name: 'Anna', roles: ['buyer'] }],
    })
    client.close()
    const { page, complaints, close } = await openPage(browser, server.url, { expects: /422/ })
    try {
      await page.goto(`${server.url}/conversations/chats:1`)
      const people = page.getByTestId('people')
      await people.getByText('Anna').waitFor()
      await people.getByText('buyer').waitFor()
      await say(page, 'I am alone.', 'anna')
      await done(page, 1)
      await chat(page).getByText('I read: I am alone.').waitFor()
      await people.getByRole('button', { name: 'Change' }).click()
      await people.getByLabel('Id of the person').fill('host')
      await people.getByRole('button', { name: 'Add' }).click()
      await people.getByText(/`host` is the id of an agent/).waitFor()
      await people.getByLabel('Id of the person').fill('bob')
      await people.getByLabel('Name, if no agent gives one').fill('Bob')
      await people.getByRole('button', { name: 'Add' }).click()
      await people.getByTestId('person').nth(1).waitFor()
      await chat(page).getByTestId('change').getByText('Bob joined').waitFor()
      await say(page, 'Hello, I am new.', 'bob')
      await done(page, 2)
      await chat(page).getByText('I read: [from @bob to @host] Hello, I am new.').waitFor()
      await inspect(page, 'people')
      await say(page, 'Please ask.', 'anna')
      const card = chat(page).getByTestId('message')
      await card.getByText('Which day?').waitFor()
      await page.getByTestId('waiting-link').click()
      // It is addressed to Anna: it does not count as waiting for who looks here.
      assert.doesNotMatch((await page.getByTestId('waiting-link').textContent()) ?? '', /\d/)
      await page.getByText('Nothing waits for you').waitFor()
      await page.getByRole('button', { name: 'Everything' }).click()
      await page.getByTestId('waiting').getByText('Which day?').waitFor()
      await page.getByRole('button', { name: 'For me' }).click()
      await page.getByText('Nothing is addressed to you').waitFor()
      await inspect(page, 'waiting-for-me')
      await page.goBack()
      await people.getByRole('button', { name: 'Change' }).click()
      await people.getByRole('button', { name: 'Remove Bob' }).click()
      await done(page, 3)
      await chat(page)
        .getByText(/It came to: .*Bob has left the conversation/)
        .waitFor()
      await chat(page).getByTestId('change').getByText('Bob left').waitFor()
      await page.reload()
      await done(page, 3)
      assert.deepEqual(await chat(page).locator('[data-message] > div:first-child > p').allTextContents(), [
        'Anna',
        'Bob',
        'Anna',
      ])
      await inspect(page, 'people-left')
      assert.deepEqual(complaints, [])
    } finally {
      await close()
    }
  })
})
