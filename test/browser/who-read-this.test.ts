/** From what was said to the model calls that read it, and back: by mouse, by the keys alone, and by the address. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Client, createClient } from '@witan/client'
import type { Browser, Page } from 'playwright-core'
import { closePages, inspect, missing, openBrowser, openPage } from './support/browser.ts'
import { startStatesServer, type StatesServer } from './support/states-server.ts'

describe('who read this, in the Studio', { skip: missing(), timeout: 120_000 }, () => {
  let browser: Browser
  let server: StatesServer
  let client: Client
  before(async () => {
    browser = await openBrowser()
    server = await startStatesServer()
    client = createClient({ url: server.url })
    const chat = client.conversation('purchasing', { id: 'chats/read' })
    await chat.run('Please note the chairs.')
    await chat.run('Please pay the carpenter.')
  })
  after(async () => {
    client?.close()
    await closePages()
    await server?.close()
  })

  async function inChat(use: (page: Page) => Promise<void>, { search = '', width = 1440 } = {}): Promise<void> {
    const { page, complaints, close } = await openPage(browser, server.url, { width })
    try {
      await page.goto(`${server.url}/conversations/chats:read${search}`)
      await page.getByTestId('answer').first().waitFor()
      await use(page)
      assert.deepEqual(complaints, [])
    } finally {
      await close()
    }
  }

  const menuOf = (page: Page, who: string) => page.getByRole('button', { name: `Menu of what ${who} said` })
  const readers = (page: Page) => page.getByRole('dialog', { name: 'Who read this' }).getByRole('link')
  const detail = (page: Page) => page.getByRole('region', { name: /^Details of Model call/ })
  const focused = (page: Page) => page.evaluate<string>('document.activeElement.textContent')
  /** The seq of the first message of a person. */
  const firstSeq = async () => {
    const { events } = await client.conversations.events('chats/read', { verbose: true })
    return events.find(({ type }) => type === 'message')?.seq ?? assert.fail('no message')
  }

  test('a message leads to each model call that read it, and that leads back to the message', () =>
    inChat(async (page) => {
      await menuOf(page, 'You').first().click()
      await inspect(page, 'message-menu')
      await page.getByRole('menuitem', { name: 'Who read this' }).click()
      await readers(page).first().waitFor()
      await inspect(page, 'who-read-this')
      const items = await client.conversations.modelCalls.readers('chats/read', await firstSeq())
      assert.equal(await readers(page).count(), items.length)
      assert.ok(items.length === 2, 'the second run reads it too')
      await page.getByRole('dialog').getByText('Please note the chairs.').waitFor()
      await readers(page).last().click()
      await detail(page).waitFor()
      assert.match(page.url(), new RegExp(`node=model-${items.at(-1)?.first}\\b`))
      assert.match(await focused(page), /^Model call 1/)
      const messages = detail(page).getByRole('list', { name: 'Messages' })
      await detail(page)
        .getByRole('button', { name: /messages as before/ })
        .click()
      await messages.getByText('Please note the chairs.', { exact: true }).waitFor()
      await detail(page).getByRole('button', { name: 'Please pay the carpenter.' }).click()
      assert.match(await focused(page), /^You.*Please pay the carpenter\.$/)
      await page.goBack()
      await readers(page).first().waitFor()
    }))

  test('by the keys alone: the menu, its readers, a model call, the message, and the way back', () =>
    inChat(async (page) => {
      await menuOf(page, 'You').first().focus()
      await page.keyboard.press('Enter')
      assert.equal(await focused(page), 'Who read this')
      await page.keyboard.press('ArrowDown')
      assert.equal(await focused(page), 'Copy')
      await page.keyboard.press('Escape')
      assert.equal(await page.getByRole('menu').count(), 0)
      assert.equal(await page.evaluate('document.activeElement.getAttribute("aria-expanded")'), 'false')
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('End')
      await page.keyboard.press('Home')
      await page.keyboard.press('Enter')
      await readers(page).first().waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      assert.match(
        await page.evaluate<string>('document.activeElement.getAttribute("aria-label")'),
        /^Menu of what You said$/,
        'the focus goes back',
      )
      await page.keyboard.press('Enter')
      await page.keyboard.press('Enter')
      await readers(page).first().waitFor()
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await detail(page).waitFor()
      assert.match(await focused(page), /^Model call 1/)
      await detail(page).getByRole('button', { name: 'Please note the chairs.' }).focus()
      await page.keyboard.press('Enter')
      assert.match(await focused(page), /^You.*Please note the chairs\.$/)
      await page.keyboard.press('Tab')
      assert.match(
        await page.evaluate<string>('document.activeElement.getAttribute("aria-label")'),
        /^Menu of what You/,
      )
    }))

  test('an answer and a result of a tool have readers too, and one that nobody read yet says so', () =>
    inChat(async (page) => {
      await menuOf(page, 'Purchasing desk').first().click()
      await page.getByRole('menuitem', { name: 'Who read this' }).click()
      await readers(page).filter({ hasText: 'Purchasing desk said it itself' }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Approve', exact: true }).first().click()
      await page.getByTestId('answer').nth(1).getByText('It came to').waitFor()
      await page
        .getByRole('treeitem', { name: /paid|pay/ })
        .last()
        .click()
      await page.getByTestId('detail').getByRole('button', { name: 'Who read this' }).click()
      await readers(page).filter({ hasText: 'Clerk as the result of its call' }).waitFor()
      await page.keyboard.press('Escape')
      await menuOf(page, 'Purchasing desk').last().click()
      await page.getByRole('menuitem', { name: 'Who read this' }).click()
      await page.getByText('No model has read it yet.').waitFor()
    }))

  test('the address has it, also on a narrow screen', () =>
    inChat(
      async (page) => {
        await readers(page).first().waitFor()
        assert.ok(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'))
        await inspect(page, 'who-read-this-360')
        await readers(page).first().click()
        await detail(page).waitFor()
        await detail(page).getByRole('button', { name: 'Please note the chairs.' }).click()
        assert.match(await focused(page), /^You.*Please note the chairs\.$/)
      },
      { search: '?readers=1', width: 360 },
    ))

  test('an address with an entry that is not there says so', async () => {
    const { page, close } = await openPage(browser, server.url, { expects: /404/ })
    await page.goto(`${server.url}/conversations/chats:read?readers=99999`)
    await page.getByRole('dialog').getByRole('alert').waitFor()
    await close()
  })
})
