/** The document of a long conversation in the Studio: its newest messages, and the earlier ones when they are asked for. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createClient } from '@witan/client'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import type { Browser } from 'playwright-core'
import { closePages, missing, openBrowser, openPage } from './support/browser.ts'

const skip = missing()

describe('documents in the Studio', { skip, timeout: 300_000 }, () => {
  let browser: Browser
  let server: WitanServer
  before(async () => {
    browser = await openBrowser()
    const file = fileURLToPath(new URL('./support/talking.config.ts', import.meta.url))
    server = await startServer(await loadConfig({ file, env: { WITAN_LOG_LEVEL: 'error' } }))
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  test('earlier messages are shown page by page, each once, until the first one stands there [Rb54]', async () => {
    const client = createClient({ url: server.url })
    const chat = client.conversation('talker', { id: 'chats/long' })
    for (let count = 1; count <= 120; count += 1) await chat.run(`note ${count}.`)
    client.close()
    const { page, complaints, close } = await openPage(browser, server.url)
    await page.goto(`${server.url}/conversations/chats:long`)
    await page.getByRole('treeitem').first().click()
    await page.getByRole('button', { name: 'Open document' }).click()
    const document = page.getByTestId('document')
    const note = (count: number) => document.getByText(`note ${count}.`, { exact: true })
    const earlier = document.getByRole('button', { name: 'Show earlier messages' })
    await note(120).waitFor()
    assert.equal(await note(70).count(), 0)
    await earlier.click()
    await note(70).waitFor()
    assert.equal(await note(1).count(), 0)
    await earlier.click()
    await note(1).waitFor()
    await earlier.waitFor({ state: 'detached' })
    for (const count of [1, 20, 21, 70, 71, 120]) assert.equal(await note(count).count(), 1, `note ${count}`)
    assert.deepEqual(complaints, [])
    await close()
  })
})
