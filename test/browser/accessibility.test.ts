/** Every page under the rules of axe, in light and in dark, wide and narrow. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import type { Browser, Page } from 'playwright-core'
import { closePages, missing, openBrowser, openPage } from './support/browser.ts'
import { startStatesServer, type StatesServer } from './support/states-server.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly target: readonly string[] }[]
}

/** The rule and the elements of each violation. All rules count, the best practices and the experimental ones too. */
async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const found = await page.evaluate<Violation[]>(
    "axe.run(document, { rules: { 'label-content-name-mismatch': { enabled: true } } }).then(({ violations }) => violations)",
  )
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)
}

const tree = (page: Page) => page.getByRole('treeitem')

/** A page, the words that say that it is there, and what is opened in it. */
const pages: readonly {
  readonly path: string
  readonly ready: string
  readonly open?: (page: Page, isNarrow: boolean) => Promise<void>
}[] = [
  { path: '/agents', ready: 'Clerk' },
  { path: '/agents/purchasing', ready: 'Acquaintances' },
  { path: '/agents/a-clerk', ready: 'Instructions' },
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
      await page.getByRole('button', { name: 'Diagram' }).click()
      await page.getByTestId('diagram').waitFor()
    },
  },
  {
    path: '/conversations/chats:done',
    ready: 'Noted',
    open: async (page, isNarrow) => {
      if (isNarrow) await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.getByRole('button', { name: 'Files' }).click()
    },
  },
  { path: '/conversations/chats:none', ready: 'All conversations' },
  { path: '/waiting', ready: 'Waits for you' },
  { path: '/health', ready: 'Open runs' },
  { path: '/nowhere', ready: 'There is no such page' },
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
          const headings = await page.getByRole('heading', { level: 1 }).count()
          if (headings !== 1) found.push(`${path} (${index}): ${headings} headings of level 1`)
          found.push(...(await violationsOf(page)).map((one) => `${path} (${index}): ${one}`))
        }
        assert.deepEqual(found, [])
        await close()
      })
})
