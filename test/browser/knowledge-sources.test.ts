/** What answers in the Studio came from: sources under them, and what a message found by itself. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { shownText } from '@witan/protocol/shown'
import type { WitanServer } from '@witan/server'
import type { Browser } from 'playwright-core'
import { closePages, inspect, missing, openBrowser } from './support/browser.ts'
import { type InPage, pageOf } from './support/in-page.ts'
import { addDocuments, knowledgeServer } from './support/knowledge-server.ts'

describe('the sources of answers', { skip: missing(), timeout: 120_000 }, () => {
  let browser: Browser
  let server: WitanServer
  before(async () => {
    browser = await openBrowser()
    server = await knowledgeServer()
    await addDocuments(server)
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  const inPage: InPage = (...at) => pageOf(browser, server.url)(...at)

  test('sources stand under an answer and lead to the passage; what was looked up by itself stands in the tree', async () => {
    const client = createClient({ url: server.url })
    const asked = client.conversation('desk', { id: 'chats/sick' })
    await asked.run('How do I report sick leave?')
    const parameters = { customerId: { value: 'alpha', sendToModel: false } }
    const told = client.conversation('lawyer', { id: 'chats/notice', parameters })
    await told.run('What is the notice period of the contract?')
    client.close()
    for (const width of [1440, 360])
      await inPage(
        '/conversations/chats:sick',
        async (page) => {
          const sources = page.getByTestId('answer').getByRole('region', { name: 'Sources' })
          await sources.getByRole('listitem').first().waitFor()
          const text = (await sources.textContent()) ?? ''
          assert.ok(text.includes('Handbook › Absence › Sick leave'), text)
          assert.equal(shownText(text), text, 'nothing hidden is in it')
          assert.equal((await sources.locator('a[href^="https://intranet.example/"]').count()) > 0, true)
          assert.equal(await page.locator('a[href^="javascript"]').count(), 0)
          await inspect(page, `sources-${width}`)
          await sources.getByRole('link', { name: 'Handbook', exact: true }).first().click()
          await page.getByRole('heading', { level: 1, name: 'Handbook' }).waitFor()
          await page.locator('[data-passage]:focus').waitFor()
        },
        width,
      )
    await inPage('/conversations/chats:notice', async (page) => {
      const row = page.getByRole('treeitem').first()
      await row.getByText('found 1 passage').waitFor()
      await row.click()
      const found = page.getByTestId('detail').getByRole('list', { name: 'Looked up by itself' })
      await found.getByText('What is the notice period').waitFor()
      await found.getByRole('link', { name: 'contracts/2026/Alpha.txt' }).waitFor()
      await inspect(page, 'retrieval')
      await page.getByRole('tab', { name: 'Timeline' }).click()
      await page
        .getByRole('list', { name: 'Timeline' })
        .getByRole('button', { name: /found 1 passage/ })
        .waitFor()
    })
  })

  test('of many sources five are shown, and all when they are asked for', async () => {
    const client = createClient({ url: server.url })
    const { sources } = await client.conversation('collector', { id: 'chats/many' }).run('Everything, please.')
    client.close()
    assert.equal(sources?.length, 120)
    await inPage('/conversations/chats:many', async (page) => {
      const list = page.getByTestId('answer').getByRole('region', { name: 'Sources' })
      await list.getByRole('listitem').first().waitFor()
      assert.equal(await list.getByRole('listitem').count(), 5)
      await inspect(page, 'sources-many')
      await list.getByRole('button', { name: 'Show all 120 sources' }).focus()
      await page.keyboard.press('Enter')
      await list.getByText('Card 119').waitFor()
      assert.equal(await list.getByRole('listitem').count(), 120)
    })
  })

  test('[D15] a bound value that is hidden stands nowhere in the conversation that it decided', async () => {
    const client = createClient({ url: server.url })
    const value = 'customer-4711-hidden'
    const text = 'The notice period of the contract is one week.'
    await client.knowledge.documents.ingest('contracts', [
      { key: 'week.txt', text, attributes: { customer: value, year: 2026 } },
    ])
    const parameters = { customerId: { value, sendToModel: false } }
    await client.conversation('lawyer', { id: 'chats/hidden', parameters }).run('What is the notice period?')
    client.close()
    await inPage('/conversations/chats:hidden', async (page) => {
      await page.getByRole('treeitem').first().click()
      await page.getByTestId('detail').getByRole('link', { name: 'contracts/week.txt' }).waitFor()
      assert.ok(!(await page.content()).includes(value))
      await page.getByRole('tab', { name: 'Timeline' }).click()
      await page.getByRole('list', { name: 'Timeline' }).waitFor()
      assert.ok(!(await page.content()).includes(value))
    })
  })
})
