/**
 * Every page under the rules of axe, in light and in dark, wide and narrow, and what stands in its place where it cannot be read. The
 * states that other tests bring a page into are under the same rules where they call `inspect`.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import type { Browser, Page } from 'playwright-core'
import { violationsOf } from './support/axe.ts'
import { closePages, inspect, missing, openBrowser, openPage } from './support/browser.ts'
import { startStatesServer, type StatesServer } from './support/states-server.ts'
import { type Stub, startStub } from './support/stub-server.ts'

const tree = (page: Page) => page.getByRole('treeitem')

/** A page, the words that say that it is there, and what is opened in it. */
const pages: readonly {
  readonly path: string
  readonly ready: string
  readonly open?: (page: Page, isNarrow: boolean) => Promise<void>
}[] = [
  { path: '/agents', ready: 'Clerk' },
  { path: '/agents/purchasing', ready: 'System message' },
  { path: '/agents/purchasing/revisions', ready: 'from code' },
  { path: '/agents/purchasing/definition?field=subAgents.0.agent', ready: 'It comes from code' },
  { path: '/agents/a-clerk', ready: 'What its model reads' },
  { path: '/agents/nobody', ready: 'There is no such agent' },
  { path: '/conversations', ready: 'First message' },
  { path: '/conversations?agent=purchasing', ready: 'About this agent' },
  { path: '/conversations/chats:pay', ready: 'waiting' },
  {
    path: '/conversations/chats:pay',
    ready: 'waiting',
    open: async (page, isNarrow) => {
      if (isNarrow) await page.getByRole('button', { name: 'Run (waiting)' }).click()
      await tree(page).last().click()
      await page.getByTestId('detail').waitFor()
    },
  },
  {
    path: '/conversations/chats:break',
    ready: 'failed',
    open: async (page, isNarrow) => {
      if (isNarrow) await page.getByRole('button', { name: 'Run', exact: true }).click()
      await tree(page).first().click()
      await page.getByRole('button', { name: 'Open document' }).click()
      await page.getByTestId('document').waitFor()
    },
  },
  {
    path: '/conversations/chats:done',
    ready: 'Noted',
    open: async (page, isNarrow) => {
      if (isNarrow) await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.getByRole('tab', { name: 'Diagram' }).click()
      await page.getByTestId('diagram').waitFor()
    },
  },
  {
    path: '/conversations/chats:done',
    ready: 'Noted',
    open: async (page, isNarrow) => {
      if (isNarrow) await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.getByRole('tab', { name: 'Files' }).click()
    },
  },
  {
    path: '/conversations/chats:pay?view=timeline',
    ready: 'waiting',
    open: async (page, isNarrow) => {
      if (isNarrow) await page.getByRole('button', { name: 'Run (waiting)' }).click()
      await page.getByRole('list', { name: 'Timeline' }).getByRole('button').last().click()
      await page.getByTestId('detail').waitFor()
    },
  },
  {
    path: '/conversations/chats:done?readers=1',
    ready: 'Noted',
    open: async (page) => page.getByRole('list', { name: 'Readers' }).waitFor(),
  },
  {
    path: '/conversations/chats:done',
    ready: 'Noted',
    open: async (page) => {
      await page.getByRole('button', { name: 'Menu of what You said' }).click()
      await page.getByRole('menuitem', { name: 'Who read this' }).waitFor()
    },
  },
  {
    path: '/conversations/chats:done',
    ready: 'Noted',
    open: async (page, isNarrow) => {
      if (isNarrow) await page.getByRole('button', { name: 'Run', exact: true }).click()
      await tree(page).first().click()
      await page.getByTestId('detail').getByText('Many words.').first().waitFor()
    },
  },
  { path: '/conversations/chats:none', ready: 'All conversations' },
  { path: '/waiting', ready: 'Waits for you' },
  { path: '/health', ready: 'Open runs' },
  { path: '/nowhere', ready: 'There is no such page' },
]

/** Pages that show what they read. */
const paths = ['/agents', '/agents/nobody', '/conversations', '/conversations/chats:none', '/waiting', '/health']
const reading = /\/api\/v1\/(?!principal)/

/** Why a page has nothing to show, and the role of what says so. */
const unread: readonly {
  readonly what: string
  readonly says: 'status' | 'alert' | 'heading'
  readonly paths: readonly string[]
  readonly begin: (page: Page, stub: Stub) => unknown
}[] = [
  { what: 'still reads', says: 'status', paths, begin: (page) => page.route(reading, () => {}) },
  { what: 'is refused', says: 'alert', paths, begin: (_, stub) => stub.fail('INTERNAL') },
  { what: 'asks for a token', says: 'heading', paths, begin: (_, stub) => stub.fail('UNAUTHENTICATED') },
  {
    what: 'has failed',
    says: 'alert',
    paths: ['/conversations', '/conversations/chats:none'],
    begin: (page) => page.route(reading, (route) => route.fulfill({ json: { items: [null] } })),
  },
]

describe('axe finds nothing', { skip: missing(), timeout: 300_000 }, () => {
  let browser: Browser
  let server: StatesServer
  before(async () => {
    browser = await openBrowser()
    server = await startStatesServer()
    const client = createClient({ url: server.url })
    for (const words of ['pay', 'break', 'done'])
      await client
        .conversation('purchasing', { id: `chats/${words}` })
        .run(`Please ${words}. ${'Many words. '.repeat(200)}`)
        .catch(() => {})
    client.close()
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  for (const width of [1440, 360])
    for (const colorScheme of ['light', 'dark'] as const)
      test(`${colorScheme}, ${width} pixels wide`, async () => {
        const { page, close } = await openPage(browser, server.url, { width })
        await page.emulateMedia({ colorScheme })
        const found: string[] = []
        for (const [index, { path, ready, open }] of pages.entries()) {
          await page.goto(`${server.url}${path}`)
          await page.locator('#page').getByText(ready).first().waitFor({ state: 'attached' })
          await open?.(page, width < 500)
          found.push(...(await violationsOf(page)).map((one) => `${path} (${index}): ${one}`))
        }
        assert.deepEqual(found, [])
        await close()
      })

  for (const { what, says, paths, begin } of unread)
    test(`a page that ${what}`, async () => {
      const stub = await startStub()
      const { page, close } = await openPage(browser, stub.url)
      await begin(page, stub)
      for (const path of paths) {
        await page.goto(`${stub.url}${path}`)
        await page.locator('#page').getByRole(says).first().waitFor()
        await inspect(page, `${path} ${what}`)
      }
      await close()
      await stub.close()
    })
})
