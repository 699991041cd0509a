/** Agents of other servers in the Studio: who called, what they demand and ask, where a graph leads to them, and hostile words in all of it. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { defineAgent } from '@witan/core'
import { call, lastUserMessage, scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import type { Browser, Locator, Page } from 'playwright-core'
import { createRemoteServer, type RemoteServer } from '../acceptance/support/remote-server.ts'
import { closePages, inspect, missing, openBrowser, openPage } from './support/browser.ts'
import { type HostileRemote, shopCard, startHostileRemote } from './support/hostile-remote.ts'

/** Passes the words on to the shop, and says what came of it. */
const buyer = scriptedModel(
  (request, turn) =>
    turn === 0
      ? call('shop', { message: lastUserMessage(request) })
      : `It came to: ${String(request.messages.at(-1)?.content)}`,
  { id: 'scripted/buyer' },
)

async function start(shop: HostileRemote, caller: RemoteServer): Promise<WitanServer> {
  const config = await loadConfig({
    cwd: '/',
    env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:', WITAN_AUTH_MODE: 'none' },
  })
  return startServer({
    ...config,
    server: { ...config.server, port: 0, domain: 'here.test' },
    federation: { ...config.federation, resolve: { 'shop.test': shop.url, 'a.test': caller.url } },
    agents: [
      defineAgent({
        ...{ id: 'buyer', name: 'Buyer', description: 'Buys.', instructions: 'Buy.', model: buyer, address: 'buyer' },
        access: {
          call: ['user:local', '@*@a.test', ['@b@c.test', 'for:mailto:anna@c.test', 'from:@d@d.test']],
          tools: { shop: ['role:staff', 'user:local', '@*@a.test'] },
        },
        remotes: [
          { name: 'shop', card: shopCard, description: 'Sells.' },
          { name: 'depot', address: '@depot@far.test', description: 'Stores.', blocking: 'never' as const },
        ],
      }),
      defineAgent({
        ...{ id: 'seller', instructions: 'Sell.', model: scriptedModel(() => 'Sold.', { id: 'scripted/seller' }) },
        demands: [{ kind: 'consent_required', message: 'May we keep your words?', of: ['@*@a.test'] }],
      }),
    ],
  })
}

/** For whom the caller from outside acts. The last would turn what stands behind it. */
const principals = ['@c@c.test', 'mailto:u\u202e@x.test']

describe('agents of other servers in the Studio', { skip: missing(), timeout: 300_000 }, () => {
  let browser: Browser
  let shop: HostileRemote
  let caller: RemoteServer
  let server: WitanServer
  before(async () => {
    shop = await startHostileRemote()
    caller = await createRemoteServer('a.test')
    server = await start(shop, caller)
    browser = await openBrowser()
  })
  after(async () => {
    await closePages()
    await server?.close()
    await caller?.close()
    await shop?.close()
  })

  async function inPage(use: (page: Page) => Promise<void>, width = 1440): Promise<void> {
    const { page, complaints, close } = await openPage(browser, server.url, { width })
    await use(page)
    assert.deepEqual(complaints, [])
    await close()
  }

  /** Begins a conversation, which waits or ends. */
  async function say(words: string, agent = 'buyer'): Promise<string> {
    const client = createClient({ url: server.url })
    const chat = client.conversation(agent)
    chat.onUnhandledAction(() => {})
    const { conversationId } = await chat.run(words)
    client.close()
    return conversationId
  }
  const open = async (page: Page, id: string) => page.goto(`${server.url}/conversations/${id.replace('/', ':')}`)

  test('a condition shows kind, words, issuer and its own link; one is resolved, the other declined', () =>
    inPage(async (page) => {
      await open(page, await say('pay'))
      const cards = page.getByTestId('chat').getByTestId('policy')
      await cards.nth(1).waitFor()
      const [bill, consent] = ['Ten cents', 'May I keep it?'].map((hasText) => cards.filter({ hasText })) as [
        Locator,
        Locator,
      ]
      await bill.getByRole('heading', { name: shopCard }).waitFor()
      for (const words of ['asks for a payment', 'payment_required', 'Ten cents', 'This one is not.', 'BILL_1'])
        await bill.getByText(words).first().waitFor()
      const link = bill.getByRole('link', { name: 'Pay the bill ↗ pay.shop.test' })
      assert.equal(await link.getAttribute('href'), 'https://pay.shop.test/bill?n=1')
      assert.match((await link.getAttribute('rel')) ?? '', /noopener noreferrer/)
      assert.equal(await consent.getByRole('link').count(), 0, 'a link to another domain is none')
      await inspect(page, 'condition')
      await bill.getByText('Resolve with data').click()
      await bill.getByLabel('Resolution (JSON)').fill('{"receipt": "r1"}')
      await bill.getByRole('button', { name: 'Resolve' }).click()
      await bill.waitFor({ state: 'detached' })
      await consent.getByRole('button', { name: 'Decline' }).click()
      await page.getByText('It came to:').waitFor()
      const decisions = page.getByTestId('chat').getByTestId('decisions')
      await decisions.getByText('was resolved by user:local').waitFor()
      await decisions.getByText('was declined by user:local').waitFor()
      await inspect(page, 'condition-settled')
    }))

  test('a question and an action stand under the address that asks', () =>
    inPage(async (page) => {
      for (const [words, kind] of [
        ['ask', 'question'],
        ['act', 'action'],
      ] as const) {
        const id = await say(words)
        await page.goto(`${server.url}/waiting`)
        const item = page.getByRole('listitem').filter({ has: page.getByTestId(kind) })
        await item.getByText(shopCard).first().waitFor()
        await open(page, id)
        await page.getByTestId('chat').getByTestId(kind).waitFor()
      }
    }))

  for (const width of [1440, 360])
    test(`hostile words run nothing and break no page, ${width} pixels wide`, () =>
      inPage(async (page) => {
        for (const words of ['demand', 'ask', 'act', 'fail', 'tell']) {
          await open(page, await say(words))
          await page.getByTestId('answer').waitFor()
          await fits(page, `${words} in the chat`, width)
          if (width < 500) await page.getByRole('button', { name: /^Run/ }).click()
          await page.getByRole('treeitem').last().click()
          await page.getByTestId('detail').waitFor()
          await fits(page, `${words} in the tree`, width)
          await page.getByRole('tab', { name: 'Diagram' }).click()
          await page.getByTestId('diagram').waitFor()
          await fits(page, `${words} in the diagram`, width)
          await inspect(page, `hostile-${words}-${width}`)
        }
        await page.goto(`${server.url}/waiting`)
        await page.getByTestId('waiting').waitFor()
        await fits(page, 'waiting', width)
        await inspect(page, `hostile-waiting-${width}`)
      }, width))

  test('[M24] a run says which address called, for whom, and which hop it is: in the list, above the words, in the tree and in the inbox', () =>
    inPage(async (page) => {
      const id = await called('ask')
      const words = '@b@a.test for @c@c.test (begun by mailto:u\\u202e@x.test), hop 2'
      await open(page, id)
      const list = page.getByTestId('recent').getByRole('listitem').first()
      await list.getByText(`← ${words}`).waitFor()
      await page.getByRole('treeitem').first().getByText(`← ${words}`).waitFor()
      const chat = page.getByTestId('chat')
      await chat.getByText(words, { exact: true }).waitFor()
      assert.equal(await chat.getByText('You', { exact: true }).count(), 0)
      await chat.getByTestId('question').getByText(`called by ${words}`).waitFor()
      await page.getByRole('treeitem').first().click()
      await page.getByTestId('detail').getByText('Called by').waitFor()
      await inspect(page, 'called')
      await page.goto(`${server.url}/waiting`)
      await page.getByText(`called by ${words}`).first().waitFor()
    }))

  test('[M24] the page of an agent says who may call it and for whom, and who may use its tools', () =>
    inPage(async (page) => {
      await page.goto(`${server.url}/agents/buyer`)
      const section = page
        .locator('section')
        .filter({ has: page.getByRole('heading', { name: 'Who may call it' }) })
        .last()
      await section.getByRole('listitem').last().waitFor()
      const lines = await section.getByRole('listitem').allTextContents()
      assert.deepEqual(lines, [
        'the person local',
        'any agent of a.test',
        '@b@c.test acting for mailto:anna@c.test and in work that began with @d@d.test',
        ...['anybody in the role staff', 'the person local', 'any agent of a.test'],
      ])
      await section.getByRole('listitem').last().scrollIntoViewIfNeeded()
      await inspect(page, 'who-may-call')
    }))

  test('[C21] the page of an agent says what it demands, and a person meets that in the chat', () =>
    inPage(async (page) => {
      await page.goto(`${server.url}/agents/seller`)
      const section = page.locator('section').filter({ has: page.getByRole('heading', { name: 'What it demands' }) })
      await section
        .last()
        .getByText('consent_required before each call; met by people here, or any agent of a.test')
        .waitFor()
      await inspect(page, 'demands')
      await open(page, await say('go', 'seller'))
      await page.getByText('asks for consent').first().waitFor()
      await page.getByText('May we keep your words?').first().waitFor()
      await page.getByRole('button', { name: 'Resolve', exact: true }).first().click()
      await page.getByText('Sold.').first().waitFor()
    }))

  test('the graph leads to agents of other servers as to none of here', () =>
    inPage(async (page) => {
      await page.goto(`${server.url}/agents/buyer`)
      const graph = page.getByTestId('graph')
      for (const name of [shopCard, '@depot@far.test']) await graph.getByText(name).first().waitFor()
      assert.equal(await graph.locator('a[href^="/agents/"]').count(), 1, 'only the agent of here is one')
      await graph.getByText('on another server').first().waitFor()
      await inspect(page, 'remote-graph')
    }))

  /** An agent of another server asks the buyer something. */
  async function called(text: string): Promise<string> {
    const messageId = randomUUID()
    const evidence = caller.evidence({ subject: '@b@a.test', audience: '@buyer@here.test', on_behalf_of: principals })
    const metadata = { mentionable: { agent_chain: { hop: 2, max_hops: 4 }, identity_evidence: [evidence] } }
    const message = { messageId, role: 'ROLE_USER', parts: [{ text }], metadata }
    const token = caller.token({ sub: '@b@a.test', aud: '@buyer@here.test', jti: messageId })
    const reply = await fetch(`${server.url}/a2a/buyer`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', authorization: `Bearer ${token}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }),
    })
    const { result } = (await reply.json()) as { result: { task: { contextId: string } } }
    return result.task.contextId
  }
})

/** What turns the direction of writing, or is not seen. */
const hidden = /[\p{Bidi_Control}\u200b]|\p{Cc}(?<!\n)/u

/** Nothing is wider than the page, no card is wider than its column, nothing is hidden in what a person decides by, and no script ran. */
async function fits(page: Page, where: string, width: number): Promise<void> {
  const wide =
    await page.evaluate(`[document.documentElement.scrollWidth, ...[...document.querySelectorAll('form, article, section, li, [role=treeitem]')]
    .filter((one) => one.closest('[data-testid=diagram], .react-flow') === null && one.getBoundingClientRect().width > 0)
    .map((one) => Math.max(one.getBoundingClientRect().right, one.parentElement.clientWidth > 0 && getComputedStyle(one).overflowX === 'visible' ? one.getBoundingClientRect().left + one.scrollWidth : 0))]
    .map(Math.round).filter((right) => right > ${width + 1})`)
  assert.deepEqual(wide, [], where)
  for (const text of await page.locator('form[data-testid], [role=treeitem], [role=alert]').allTextContents())
    assert.ok(!hidden.test(text), `${where}: ${text.slice(0, 200)}`)
  assert.equal(await page.locator('img[src="x"], script:not([src])').count(), 0, where)
}
