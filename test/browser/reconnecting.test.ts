/** A server that goes away, comes back, or asks for its token: nothing that was typed or shown goes, and all goes on by itself. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { createClient } from '@witan/client'
import type { Browser, Page } from 'playwright-core'
import { closePages, missing, openBrowser, openPage, inspect } from './support/browser.ts'
import { type RestartingServer, startRestartingServer } from './support/restarting-server.ts'

const skip = missing()
/** What Chromium says of a server that is away, and of a request without its token. */
const expects = /ERR_CONNECTION|ERR_EMPTY|ERR_INCOMPLETE|ERR_NETWORK|401|404/

describe('a Studio whose server goes away', { skip, timeout: 300_000 }, () => {
  let browser: Browser
  before(async () => {
    browser = await openBrowser()
  })
  after(closePages)

  async function place(context: TestContext, store: 'file' | 'memory' = 'file') {
    const folder = await mkdtemp(join(tmpdir(), 'witan-away-'))
    const server = await startRestartingServer(store === 'memory' ? 'memory:' : `file:${join(folder, 'witan.db')}`)
    const { page, complaints, close } = await openPage(browser, server.url, { expects })
    context.after(async () => {
      await close()
      await server.close()
      await rm(folder, { recursive: true })
    })
    await page.goto(`${server.url}/?token=${server.token}`)
    return { server, page, complaints }
  }

  async function begin(page: Page, server: RestartingServer, prompt: string): Promise<void> {
    await page.goto(`${server.url}/conversations?agent=echo`)
    await page.getByLabel('name', { exact: true }).fill('Anna')
    await page.getByLabel('First message').fill(prompt)
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.waitForURL(/\/conversations\/[\w-]+:/)
  }

  const answers = (page: Page, state: string) => page.locator(`[data-testid=answer][data-state=${state}]`)
  const reconnecting = (page: Page) => page.getByTestId('reconnecting')
  const composer = (page: Page) => page.getByLabel('Message', { exact: true })

  async function prompts(page: Page, server: RestartingServer): Promise<readonly string[]> {
    const id = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '').replace(':', '/')
    const client = createClient({ url: server.url, token: server.token })
    const { events } = await client.conversations.events(id, { verbose: true })
    client.close()
    return events.flatMap((event) => (event.type === 'message' ? [event.content.text] : []))
  }

  test('keeps the chat and what is typed, says so, and sends once what was sent meanwhile', async (context) => {
    const { server, page, complaints } = await place(context)
    await begin(page, server, 'one')
    await answers(page, 'completed').waitFor()
    await composer(page).fill('two, which is')
    await server.stop()
    await reconnecting(page).waitFor()
    await inspect(page, 'reconnecting')
    await page.getByText('Heard: one').waitFor()
    assert.equal(await composer(page).inputValue(), 'two, which is')
    await composer(page).fill('two, which is sent while it is away')
    await page.keyboard.press('Enter')
    await page.getByTestId('chat').getByText('two, which is sent while it is away').waitFor()
    assert.match((await composer(page).getAttribute('placeholder')) ?? '', /message is on its way/)
    await server.start()
    await answers(page, 'completed').nth(1).waitFor()
    await page.getByText('Heard: two, which is sent while it is away').waitFor()
    await reconnecting(page).waitFor({ state: 'detached' })
    assert.deepEqual(await prompts(page, server), ['one', 'two, which is sent while it is away'])
    assert.equal(await page.getByTestId('scripted').count(), 1, 'the pages read again what they had')
    assert.deepEqual(complaints, [])
  })

  test('a run that the server takes up again goes on on the page that showed it', async (context) => {
    const { server, page, complaints } = await place(context)
    await begin(page, server, 'hold on')
    await answers(page, 'running').waitFor()
    const stopped = server.stop()
    await reconnecting(page).waitFor()
    await stopped
    await server.start()
    await answers(page, 'completed').waitFor()
    await page.getByTestId('chat').getByText('Heard: hold on').waitFor()
    assert.deepEqual(complaints, [])
  })

  test('a start that finds no server waits for it; what is written next is there after a reload', async (context) => {
    const { server, page } = await place(context)
    await page.goto(`${server.url}/conversations?agent=echo`)
    await page.getByLabel('name', { exact: true }).fill('Anna')
    await page.getByLabel('First message').fill('from the form')
    await server.stop()
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await reconnecting(page).waitFor()
    assert.equal(await page.getByLabel('First message').inputValue(), 'from the form')
    assert.equal(await page.getByLabel('name', { exact: true }).inputValue(), 'Anna')
    await server.start()
    await page.waitForURL(/\/conversations\/[\w-]+:/)
    await page.getByText('Heard: from the form').waitFor()
    await composer(page).fill('half a th')
    await page.reload()
    await answers(page, 'completed').waitFor()
    assert.equal(await composer(page).inputValue(), 'half a th')
  })

  test('a server with another token is given it in the page, in words, and everything goes on', async (context) => {
    const { server, page, complaints } = await place(context)
    await begin(page, server, 'one')
    await answers(page, 'completed').waitFor()
    await composer(page).fill('still here')
    await server.stop()
    const other = 'B'.repeat(43)
    await server.start(other)
    const form = page.getByTestId('locked')
    await form.getByText('This page needs the token of the server').waitFor()
    await form.getByText(/The terminal in which the server runs shows an address/).waitFor()
    await inspect(page, 'locked')
    assert.equal(await composer(page).inputValue(), 'still here')
    await page.getByText('Heard: one').waitFor()
    await form.getByLabel('Address or token').fill(server.token)
    await page.keyboard.press('Enter')
    await form.getByText('That is not the token of this server.').waitFor()
    await form.getByLabel('Address or token').fill(`${server.url}/?token=${other}`)
    await form.getByRole('button', { name: 'Go on' }).click()
    await form.waitFor({ state: 'detached' })
    await composer(page).press('Enter')
    await page.getByText('Heard: still here').waitFor()
    assert.doesNotMatch(page.url(), /token/)
    assert.deepEqual(complaints, [])
  })

  test('an address with a wrong token leads to a page that asks for the right one', async (context) => {
    const { server, page } = await place(context)
    await page.context().clearCookies()
    await page.goto(`${server.url}/agents?token=wrong`)
    const form = page.getByTestId('locked')
    await form.getByText('That is not the token of this server.').waitFor()
    assert.doesNotMatch(page.url(), /token/)
    await form.getByLabel('Address or token').fill(server.token)
    await form.getByRole('button', { name: 'Go on' }).click()
    await page.getByRole('heading', { name: 'echo' }).waitFor()
    assert.equal(await form.count(), 0)
  })

  test('a conversation that the server has lost stays to be read, and nothing in it seems to run', async (context) => {
    const { server, page } = await place(context, 'memory')
    await begin(page, server, 'hold this')
    await answers(page, 'running').waitFor()
    await server.stop()
    await server.start()
    await page.getByText('The server does not have this conversation any more.').waitFor()
    await page.getByTestId('chat').getByText('hold this').waitFor()
    await answers(page, 'cancelled').waitFor()
    assert.ok(await composer(page).isDisabled())
    await inspect(page, 'gone')
    await page.getByRole('link', { name: 'Start a new conversation' }).click()
    await page.getByRole('heading', { name: 'New conversation' }).waitFor()
  })
})
