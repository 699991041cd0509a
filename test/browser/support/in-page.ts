/** A page of the Studio that a test looks at: it fits its width, and the browser has nothing to complain of. */
import assert from 'node:assert/strict'
import type { Browser, Page } from 'playwright-core'
import { openPage } from './browser.ts'

/** Opens a path and uses its page. `more`: a width, or other options of a page; by default 1440 pixels. */
export type InPage = (path: string, use: (page: Page) => Promise<void>, more?: object | number) => Promise<void>

/** The pages of a server. */
export function pageOf(browser: Browser, url: string): InPage {
  return async (path, use, more = {}) => {
    const options = typeof more === 'number' ? { width: more } : more
    const { page, complaints, close } = await openPage(browser, url, { width: 1440, ...options })
    try {
      await page.goto(`${url}${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await use(page)
      assert.ok(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'), 'it fits')
      assert.deepEqual(complaints, [])
    } finally {
      await close()
    }
  }
}
