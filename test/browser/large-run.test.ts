/** A run of 5,121 calls in the Studio: only the rows near the view are in the page, and everything else works as in a small tree. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { closePages, missing, openBrowser, openPage, inspect } from './support/browser.ts'
import { type LargeRun, startLargeRun } from './support/large-run.ts'

const teams = 40

describe('a run of many calls', { skip: missing(), timeout: 300_000 }, () => {
  let browser: Browser
  let run: LargeRun
  before(async () => {
    browser = await openBrowser()
    run = await startLargeRun(teams)
  })
  after(async () => {
    await closePages()
    await run?.close()
  })

  async function inPage(use: (page: Page) => Promise<void>): Promise<void> {
    const { page, complaints, close } = await openPage(browser, run.url)
    try {
      await page.goto(`${run.url}/conversations/${run.id.replace('/', ':')}`)
      await page.locator('[data-testid=answer][data-state=completed]').waitFor()
      await page.getByRole('checkbox', { name: 'Model calls' }).uncheck()
      await use(page)
      assert.deepEqual(complaints, [])
    } finally {
      await close()
    }
  }

  const rows = (page: Page) => page.getByRole('treeitem')
  const size = (page: Page) => page.evaluate<number>("document.querySelectorAll('*').length")
  const focused = (page: Page) => page.evaluate<string>('document.activeElement?.getAttribute("data-call") ?? ""')

  /** What a frame takes of the page's own thread, in ms of CPU, while the tree scrolls by a row and a half a frame. */
  async function frameMs(page: Page): Promise<number> {
    const session = await page.context().newCDPSession(page)
    await session.send('Performance.enable', { timeDomain: 'threadTicks' })
    const spent = async () => {
      const { metrics } = await session.send('Performance.getMetrics')
      const of = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? 0
      return of('ScriptDuration') + of('LayoutDuration') + of('RecalcStyleDuration')
    }
    const before = await spent()
    await page.evaluate(`new Promise((resolve) => {
      const box = document.querySelector('[data-testid=tree]').parentElement
      let frames = 0
      const step = () => {
        if (frames++ > 200) return resolve()
        box.scrollTop += 70
        requestAnimationFrame(step)
      }
      requestAnimationFrame(step)
    })`)
    return ((await spent()) - before) * 5
  }

  test('has few elements, and says how large the whole tree is', () =>
    inPage(async (page) => {
      assert.ok((await size(page)) < 3_000, `${await size(page)} elements`)
      assert.ok((await rows(page).count()) < 80)
      const team = rows(page).nth(1)
      const words = ['aria-level', 'aria-posinset', 'aria-setsize']
      const read = await Promise.all(words.map((name) => team.getAttribute(name)))
      assert.deepEqual(read, ['2', '1', String(teams)])
      assert.equal(await rows(page).nth(2).getAttribute('aria-setsize'), '127')
      await page.getByRole('button', { name: `2 agents, ${teams + 1} calls, 5,080 tool calls` }).waitFor()
      await inspect(page, 'large-run')
    }))

  test('is read in pages that are compressed, and then followed', async () => {
    const { page, close } = await openPage(browser, run.url)
    const pages: { readonly coding: string | undefined; readonly sent: Promise<number> }[] = []
    page.on('response', (response) => {
      const headers = response.headers()
      if (!response.url().includes('/events') || !headers['content-type']?.includes('json')) return
      const sent = response
        .request()
        .sizes()
        .then(({ responseBodySize }) => responseBodySize)
      pages.push({ coding: headers['content-encoding'], sent })
    })
    const began = Date.now()
    await page.goto(`${run.url}/conversations/${run.id.replace('/', ':')}`)
    await page.locator('[data-testid=answer][data-state=completed]').waitFor()
    const readMs = Date.now() - began
    assert.ok(pages.length > 5 && pages.every(({ coding }) => coding !== undefined))
    const bytes = (await Promise.all(pages.map(({ sent }) => sent))).reduce((sum, one) => sum + one, 0)
    console.log(`its events: ${Math.round(bytes / 1000)} kB as sent, read in ${readMs} ms`)
    assert.ok(bytes < 1_200_000, `${bytes} bytes`)
    await close()
  })

  test('is walked with the keys, and a row keeps the focus while it is scrolled out of sight', () =>
    inPage(async (page) => {
      await rows(page).first().focus()
      const first = await focused(page)
      const began = Date.now()
      await page.keyboard.press('End')
      assert.ok(Date.now() - began < 1_000)
      const last = await focused(page)
      assert.notEqual(last, first)
      const end = page.locator(`[data-call="${last}"]`)
      assert.deepEqual([await end.getAttribute('aria-posinset'), await end.getAttribute('aria-level')], ['127', '3'])
      assert.ok(await end.evaluate((row) => row.getBoundingClientRect().bottom <= 860))
      await page.keyboard.press('ArrowLeft')
      assert.equal(await page.locator(':focus').getAttribute('aria-posinset'), String(teams))
      await page.getByTestId('tree').evaluate((tree) => tree.parentElement?.scrollTo(0, 0))
      await rows(page).first().waitFor()
      assert.notEqual(await focused(page), '', 'it is still in the page')
      await page.keyboard.press('ArrowLeft')
      await page.keyboard.press('ArrowLeft')
      assert.equal(await focused(page), first)
      await page.keyboard.press('ArrowLeft')
      assert.equal(await rows(page).count(), 1)
    }))

  test('is searched, also where its rows are not in the page', () =>
    inPage(async (page) => {
      const search = page.getByRole('searchbox', { name: 'Find in this run' })
      await search.fill('area 37')
      await search.press('Enter')
      await page.getByRole('status').getByText('1 of 1').waitFor()
      const found = rows(page).filter({ hasText: 'area 37' })
      await found.waitFor()
      assert.ok(await found.evaluate((row) => row.getBoundingClientRect().top < 860))
      await search.fill('"place":126')
      await search.press('Enter')
      await search.press('Shift+Enter')
      await page.getByRole('status').getByText(`${teams} of ${teams}`).waitFor()
      await search.fill('nothing has these words')
      await search.press('Enter')
      await page.getByRole('status').getByText('Not found').waitFor()
    }))

  test('scrolls with frames that a screen can show sixty of in a second', () =>
    inPage(async (page) => {
      const ms = await frameMs(page)
      console.log(`a frame while scrolling: ${ms.toFixed(1)} ms of CPU; ${await size(page)} elements`)
      assert.ok(ms < 16, `${ms} ms`)
    }))
})
