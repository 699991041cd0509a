/** Model calls in the Studio: nodes of the tree, and what each was asked and replied. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import type { Browser, Page } from 'playwright-core'
import { closePages, inspect, missing, openBrowser, openPage } from './support/browser.ts'
import { marks, startLargePrompt } from './support/large-prompt.ts'
import { startStatesServer, type StatesServer } from './support/states-server.ts'

describe('model calls in the Studio', { skip: missing(), timeout: 120_000 }, () => {
  let browser: Browser
  let server: StatesServer
  before(async () => {
    browser = await openBrowser()
    server = await startStatesServer()
    const client = createClient({ url: server.url })
    for (const id of ['chats/pay', 'chats/break'])
      await client
        .conversation('purchasing', { id })
        .run(`Please ${id.slice(6)}.`)
        .catch(() => {})
    client.close()
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  const node = (page: Page, name: RegExp) => page.getByRole('tree').getByRole('treeitem', { name })
  const detail = (page: Page) => page.getByTestId('detail')

  test('are nodes of the tree, which a box hides', async () => {
    const { page, complaints, close } = await openPage(browser, server.url)
    await page.goto(`${server.url}/conversations/chats:pay`)
    const first = node(page, /^Model call 1, scripted\/desk, [\d,]+ tokens, [\d.]+ m?s$/)
    await first.waitFor()
    assert.deepEqual([await first.getAttribute('aria-level'), await first.getAttribute('aria-setsize')], ['2', '2'])
    await node(page, /^Model call 1, scripted\/clerk/).waitFor()
    await inspect(page, 'model-calls')
    await page.getByRole('checkbox', { name: 'Model calls' }).uncheck()
    await first.waitFor({ state: 'detached' })
    assert.equal(await page.getByRole('treeitem').count(), 3)
    await page.getByRole('checkbox', { name: 'Model calls' }).check()
    await first.waitFor()
    assert.deepEqual(complaints, [])
    await close()
  })

  test('show what was asked and replied, by the keys alone, and a reload shows the same', async () => {
    const { page, complaints, close } = await openPage(browser, server.url)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto(`${server.url}/conversations/chats:pay`)
    await node(page, /^Model call 1, scripted\/desk/).waitFor()
    await node(page, /Purchasing desk/)
      .first()
      .focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/*node=model-*')
    await page.reload()
    await detail(page).getByRole('tab', { name: 'Request' }).waitFor()
    const messages = detail(page).getByRole('list', { name: 'Messages' }).getByRole('listitem')
    const texts = await messages.allTextContents()
    assert.match(texts[0] ?? '', /^system\s*Buy\./)
    assert.match(texts[1] ?? '', /^user\s*Please pay\./)
    await detail(page).getByRole('list', { name: 'Tools' }).getByText('a-clerk').first().waitFor()
    await detail(page).getByText('This is exactly what was sent.').waitFor()
    await inspect(page, 'model-call')
    await detail(page).getByRole('tab', { name: 'Request' }).focus()
    await page.keyboard.press('ArrowRight')
    await detail(page)
      .getByText(/^a-clerk\(/)
      .waitFor()
    await detail(page).getByRole('button', { name: 'Copy as JSON' }).click()
    const copied = JSON.parse(await page.evaluate<string>('navigator.clipboard.readText()')) as { id: string }
    const client = createClient({ url: server.url })
    assert.deepEqual(copied, await client.conversations.modelCalls.get('chats/pay', copied.id))
    client.close()
    assert.deepEqual(complaints, [])
    await close()
  })

  test('that failed say so', async () => {
    const { page, complaints, close } = await openPage(browser, server.url)
    await page.goto(`${server.url}/conversations/chats:break`)
    await node(page, /^Model call 1, scripted\/desk, .*failed: MODEL_/).click()
    await detail(page).getByText('the model broke').first().waitFor()
    await detail(page).getByRole('tab', { name: 'Reply' }).click()
    await detail(page).getByText('There is no reply.').waitFor()
    assert.deepEqual(complaints, [])
    await close()
  })

  test('of two megabytes open within a second, scroll, and fold what is as before', async () => {
    const large = await startLargePrompt()
    const { page, complaints, close } = await openPage(browser, large.url)
    await page.goto(`${large.url}/conversations/chats:long`)
    await node(page, /^Model call 1, scripted\/reader/).waitFor()
    const from = Date.now()
    await node(page, /^Model call 1, scripted\/reader/).click()
    await detail(page).getByRole('list', { name: 'Messages' }).waitFor()
    const openedMs = Date.now() - from
    console.log(`a prompt of 2 MB opened in ${openedMs} ms`)
    await detail(page).getByRole('button', { name: '4 messages as before' }).click()
    const box = detail(page).getByRole('group', { name: 'Text of the user' }).first()
    await box.focus()
    await page.keyboard.press('End')
    await box.getByText(marks[0] ?? '').waitFor()
    assert.deepEqual(complaints, [])
    await close()
    await large.close()
  })
})
