/** Lists in the Studio: states, what waits, search, agents by name, and the sign of an agent wherever it stands. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer } from '@witan/server'
import type { Browser, Page } from 'playwright-core'
import { closePages, missing, openBrowser, openPage, inspect } from './support/browser.ts'
import { type StatesServer, startStatesServer } from './support/states-server.ts'

describe('the lists of the Studio', { skip: missing(), timeout: 300_000 }, () => {
  let browser: Browser
  let server: StatesServer

  before(async () => {
    browser = await openBrowser()
    server = await startStatesServer()
    const client = createClient({ url: server.url })
    const say = (id: string, prompt: string, agent = 'purchasing') => {
      const chat = client.conversation(agent, { id }).onUnhandledAction(() => {})
      return chat.run(prompt)
    }
    await say('chats/done', 'Which chairs do we have in Zürich?')
    await say('chats/failed', 'Please break the printer')
    await say('chats/waiting', 'Please pay the carpenter')
    void say('chats/running', 'Please hold the line').catch(() => {})
    await say('chats/filed', 'Keep this letter', 'z-archive')
  })
  after(async () => {
    server?.open()
    await closePages()
    await server?.close()
  })

  async function inPage(use: (page: Page) => Promise<void>, width?: number): Promise<void> {
    const { page, complaints, close } = await openPage(browser, server.url, width === undefined ? {} : { width })
    try {
      await use(page)
      assert.deepEqual(complaints, [])
    } finally {
      await close()
    }
  }

  /** Opens the clerk again, with other fields than the server has. */
  async function changeAgents(page: Page, fields: object): Promise<void> {
    await page.unrouteAll({ behavior: 'wait' })
    await page.route(/\/api\/v1\/agents(\?|$)/, async (route) => {
      const response = await route.fetch()
      const { items, ...rest } = (await response.json()) as { items: object[] }
      await route.fulfill({ response, json: { ...rest, items: items.map((one) => ({ ...one, ...fields })) } })
    })
    await page.goto(`${server.url}/agents/a-clerk`)
  }

  const line = (page: Page, words: string) => page.getByTestId('recent').locator('li').filter({ hasText: words })

  test('conversations show their words, their agent by name and their state', () =>
    inPage(async (page) => {
      await page.goto(`${server.url}/conversations`)
      await line(page, 'Please pay the carpenter').getByText('waits for you').waitFor()
      await line(page, 'Please break the printer').getByText('failed').waitFor()
      await line(page, 'Please hold the line').getByText('running').waitFor()
      await line(page, 'Keep this letter').getByText('Archive').waitFor()
      assert.equal(await line(page, 'Which chairs').getAttribute('data-state'), null)
      await inspect(page, 'lists')
    }))

  test('a conversation that goes on stands first, whenever it began', () =>
    inPage(async (page) => {
      await page.goto(`${server.url}/conversations`)
      await line(page, 'Which chairs').waitFor()
      await createClient({ url: server.url }).conversation('purchasing', { id: 'chats/done' }).run('And tables?')
      const first = page.getByTestId('recent').locator('li').first()
      await first.filter({ hasText: 'Which chairs' }).waitFor()
    }))

  test('the list is searched by words, by agent and by id, and says when nothing is found', () =>
    inPage(async (page) => {
      await page.goto(`${server.url}/conversations`)
      const field = page.getByLabel('Search conversations')
      await field.fill('zürich CHAIRS')
      await line(page, 'Please pay').waitFor({ state: 'detached' })
      assert.equal(await page.getByTestId('recent').locator('li').count(), 1)
      await field.fill('archive')
      await line(page, 'Keep this letter').waitFor()
      await field.fill('chats/fai')
      await line(page, 'Please break the printer').waitFor()
      await field.fill('no such words')
      await page.getByText('No conversation has “no such words”').waitFor()
      await field.fill('')
      await line(page, 'Please pay').waitFor()
      await field.press('Tab')
      await page.keyboard.press('Enter')
      await page.waitForURL(/\/conversations\/chats:/)
    }))

  test('how long a call waits stands below its name, which keeps its room', () =>
    inPage(async (page) => {
      await page.goto(`${server.url}/conversations/chats:waiting`)
      await page.getByRole('button', { name: /^Run/ }).click()
      const row = page.getByRole('treeitem').first()
      const time = row.getByTitle('Time that it waited for people')
      await time.waitFor()
      const name = row.getByText('Purchasing desk')
      const [above, below] = [await name.boundingBox(), await time.boundingBox()]
      assert.ok(above !== null && below !== null && below.y >= above.y + above.height)
      assert.ok(await name.evaluate((shown) => shown.scrollWidth <= shown.clientWidth))
    }, 400))

  test('the header counts what waits and leads to it; answered there, it waits no more', () =>
    inPage(async (page) => {
      await page.goto(`${server.url}/agents`)
      const link = page.getByTestId('waiting-link')
      await link.getByText('1').waitFor()
      assert.equal(await page.title(), '(1) Witan Studio')
      await link.click()
      await page.getByRole('heading', { name: 'Waits for you' }).waitFor()
      await page.getByTestId('approval').getByText('"the carpenter"').waitFor()
      await inspect(page, 'waiting')
      await page.getByRole('link', { name: 'Open the conversation' }).click()
      await page.waitForURL(/chats:waiting$/)
      await page.getByTestId('chat').getByTestId('approval').waitFor()
      await page.goBack()
      await page.getByTestId('approval').getByRole('button', { name: 'Approve' }).click()
      await page.getByText('Nothing waits for you').waitFor()
      assert.equal(await page.title(), 'Witan Studio')
      await page.goto(`${server.url}/conversations/chats:waiting`)
      await page.getByTestId('chat').getByText('It came to: paid 5 to the carpenter').waitFor()
    }))

  test('agents stand by name, those that nobody lists first', () =>
    inPage(async (page) => {
      await page.goto(`${server.url}/agents`)
      const names = page.locator('nav[aria-label=Agents] li .font-medium')
      await names.first().waitFor()
      assert.deepEqual(await names.allTextContents(), ['Archive', 'Purchasing desk', 'Clerk'])
      await inspect(page, 'agents')
      await page.goto(`${server.url}/conversations`)
      const options = page.locator('select option')
      await options.first().waitFor({ state: 'attached' })
      assert.deepEqual(await options.allTextContents(), [
        'Archive (z-archive)',
        'Purchasing desk (purchasing)',
        'Clerk (a-clerk)',
      ])
    }))

  test('an agent says who saved its revision, how and when', () =>
    inPage(async (page) => {
      const saved = page.getByText('Saved by', { exact: true }).locator('xpath=..')
      await page.goto(`${server.url}/agents/a-clerk`)
      await saved.getByText('user:local').waitFor()
      assert.match((await saved.textContent()) ?? '', /^Saved byuser:localfrom code, .*\d/)
      await inspect(page, 'saved-by')
      const at = '2026-11-27T09:30:00.000Z'
      const attack = '\u202etxt.exe <img src=x onerror="window.__attacked=1">'
      for (const [by, via, words] of [
        ['user:anna', 'key', 'with an API key'],
        ['user:bob@shop.example', 'token', 'with a token'],
        ['user:local', 'local', 'on this machine'],
        ['user:local', 'import', 'with an import'],
        [`user:${attack}`, 'token', 'with a token'],
      ] as const) {
        await changeAgents(page, { by, via, at })
        await saved.getByText(words).waitFor()
        assert.equal(await saved.locator('dd > span').first().textContent(), by)
        assert.equal(await saved.locator('time').getAttribute('datetime'), at)
      }
      await changeAgents(page, { by: null, via: null, at: null })
      await page.getByText('Revision', { exact: true }).waitFor()
      assert.equal(await saved.count(), 0, 'an earlier version stored it')
      assert.equal(await page.evaluate('window.__attacked'), undefined)
    }))

  test('an empty list takes up the first agent by itself', async () => {
    const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
    const model = scriptedModel(() => 'Hello.', { id: 'scripted/any' })
    const bare = { ...config, auth: { mode: 'none' }, models: { 'scripted/any': model } } as const
    const empty = await startServer({ ...bare, server: { ...config.server, port: 0 } })
    const { page, complaints, close } = await openPage(browser, empty.url)
    try {
      await page.goto(`${empty.url}/agents`)
      await page.getByText('No agents yet').waitFor()
      const newcomer = { id: 'newcomer', model: 'scripted/any', instructions: 'Greet.' }
      await createClient({ url: empty.url }).agents.save(newcomer)
      await page.getByRole('navigation', { name: 'Agents' }).getByText('newcomer').waitFor()
      assert.deepEqual(complaints, [])
    } finally {
      await close()
      await empty.close()
    }
  })

  test('an agent has the same sign in lists, graph, chat and tree', () =>
    inPage(async (page) => {
      const colours = async (within: string, id: string) => {
        const sign = page.locator(`${within} [data-agent="${id}"]`).first()
        await sign.waitFor()
        const selector = JSON.stringify(`${within} [data-agent="${id}"]`)
        const colour = await page.evaluate(`getComputedStyle(document.querySelector(${selector})).backgroundColor`)
        return `${await sign.textContent()} ${colour}`
      }
      await page.goto(`${server.url}/agents/purchasing`)
      const desk = await colours('nav[aria-label=Agents]', 'purchasing')
      const clerk = await colours('nav[aria-label=Agents]', 'a-clerk')
      assert.match(desk, /^P oklch/)
      assert.match(clerk, /^C oklch/)
      assert.notEqual(desk.slice(1), clerk.slice(1))
      assert.equal(await colours('[data-testid=graph]', 'purchasing'), desk)
      assert.equal(await colours('[data-testid=graph]', 'a-clerk'), clerk)
      await page.goto(`${server.url}/conversations/chats:waiting`)
      assert.equal(await colours('[data-testid=chat]', 'purchasing'), desk)
      assert.equal(await colours('[data-testid=tree]', 'a-clerk'), clerk)
      await page.getByRole('treeitem').filter({ hasText: 'Clerk' }).first().waitFor()
    }))

  test('fits a screen of 400 pixels', () =>
    inPage(async (page) => {
      for (const [path, words] of [
        ['/conversations', 'Please break the printer'],
        ['/agents', 'Purchasing desk'],
        ['/waiting', 'Nothing waits for you'],
        ['/conversations/chats:failed', 'MODEL_CALL_FAILED'],
      ] as const) {
        await page.goto(`${server.url}${path}`)
        await page.getByText(words).first().waitFor()
        assert.ok(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'), path)
      }
      await page.goto(`${server.url}/conversations`)
      await line(page, 'Please break the printer').waitFor()
      await inspect(page, 'lists-narrow')
    }, 400))
})
