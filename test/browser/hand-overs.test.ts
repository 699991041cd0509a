/** Hand-overs in the Studio, against a real server: who speaks in the chat, the tree, the document and the graph. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createClient } from '@witan/client'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import type { Browser, Locator, Page } from 'playwright-core'
import { closePages, missing, openBrowser, openPage, inspect } from './support/browser.ts'

describe('hand-overs in the Studio', { skip: missing(), timeout: 300_000 }, () => {
  let browser: Browser
  let server: WitanServer
  before(async () => {
    browser = await openBrowser()
    const file = fileURLToPath(new URL('./support/handing.config.ts', import.meta.url))
    server = await startServer(await loadConfig({ file, env: { WITAN_LOG_LEVEL: 'error' } }))
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  async function inPage(path: string, use: (page: Page) => Promise<void>, width?: number): Promise<void> {
    const { page, complaints, close } = await openPage(browser, server.url, width === undefined ? {} : { width })
    try {
      await page.goto(`${server.url}${path}`)
      await use(page)
      assert.deepEqual(complaints, [])
    } finally {
      await close()
    }
  }

  async function say(id: string, ...prompts: string[]): Promise<void> {
    const client = createClient({ url: server.url })
    const chat = client.conversation('desk', { id }).onUnhandledAction(() => {})
    for (const prompt of prompts) await chat.run(prompt)
    client.close()
  }

  /** The names above the texts of an answer, and the texts. */
  const spoken = async (answer: Locator) => (await answer.getByTestId('spoken').allInnerTexts()).map(oneLine)
  const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim()

  test('[K07] the chat shows the words of the target, once and under its name; the tree and the document name both', async () => {
    await say('chats/bill', 'Was bill 7 paid?')
    await inPage('/conversations/chats:bill', async (page) => {
      const answer = page.getByTestId('answer')
      await answer.getByText('paid on Monday').waitFor()
      assert.deepEqual(await spoken(answer), ['B Billing took over from Front desk Bill 7 was paid on Monday.'])
      const target = page.getByRole('treeitem').filter({ hasText: 'took over from Front desk' })
      await target.click()
      await page.getByTestId('detail').getByText('Took over from').waitFor()
      await page.getByRole('button', { name: 'Open document' }).click()
      const document = page.getByTestId('document')
      await document.getByText('Who spoke in it').waitFor()
      assert.equal(await document.locator('li').filter({ hasText: 'paid' }).getByText('Billing').count(), 1)
      await inspect(page, 'hand-over')
    })
  })

  test('[C25] where control comes back, both have spoken, each under its name', async () => {
    await say('chats/letter', 'Where is my letter?')
    await inPage('/conversations/chats:letter', async (page) => {
      const answer = page.getByTestId('answer')
      await answer.getByText('says the archive').waitFor()
      assert.deepEqual(await spoken(answer), [
        'A Archive took over from Front desk Box 7, second shelf.',
        'F Front desk The letter is in box 7, says the archive. Shall I have it sent to you?',
      ])
      await page.getByRole('treeitem').getByText('gave control back').waitFor()
      await inspect(page, 'hand-over-and-back')
    })
  })

  test('an action of a target waits under its name, and the desk has handed over', async () => {
    await say('chats/stop', 'Please stop bill 7')
    await inPage('/conversations/chats:stop', async (page) => {
      const answer = page.getByTestId('answer')
      await answer.getByText('StopBill').first().waitFor()
      assert.match((await spoken(answer)).join(' | '), /^B Billing took over from Front desk/)
      await page.getByRole('treeitem').first().getByText('handed over to Billing, which speaks now').waitFor()
      await inspect(page, 'hand-over-waits')
    })
    await inPage(
      '/conversations/chats:stop',
      async (page) => {
        await page.getByTestId('answer').getByText('StopBill').first().waitFor()
        assert.ok(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'))
        await inspect(page, 'hand-over-narrow')
      },
      380,
    )
  })

  test('an agent shows to whom it hands over, in its graph and in words', async () => {
    await inPage('/agents/desk', async (page) => {
      const graph = page.getByTestId('graph')
      await graph.getByText('hands over').first().waitFor()
      assert.equal(await graph.getByText('hands over').count(), 2)
      const fill = `getComputedStyle(document.querySelector('.react-flow__edge-textbg')).fill`
      assert.notEqual(await page.evaluate(fill), 'rgb(0, 0, 0)', 'the words can be read')
      const transfers = page.getByTestId('transfers')
      await transfers.getByText('Takes everything about bills.').waitFor()
      await transfers.locator('li').filter({ hasText: 'Archive' }).getByText('gives control back').waitFor()
      const roots = page.getByRole('navigation', { name: 'Agents' }).locator('li')
      await roots.first().getByText('Front desk').waitFor()
      await inspect(page, 'hand-over-agent')
    })
  })
})
