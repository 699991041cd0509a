/** One headless Chromium, and pages that keep book of everything a page should not do. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { studioFolder } from '@witan/studio'
import { type Browser, chromium, type Page } from 'playwright-core'
import { violationsOf } from './axe.ts'

const executablePath = process.env.WITAN_CHROMIUM ?? '/usr/bin/chromium'

/** Why the browser tests cannot run here, or false. */
export function missing(): string | false {
  if (!existsSync(executablePath)) {
    return `There is no Chromium at "${executablePath}". Install it (Debian: apt-get install chromium) or name one in WITAN_CHROMIUM.`
  }
  if (process.env.WITAN_STUDIO_URL === undefined && !existsSync(new URL('index.html', studioFolder))) {
    return 'The Studio is not built. Run: npm run build -w @witan/studio'
  }
  return false
}

let browser: Promise<Browser> | null = null

/** The browser of this process, which ends with it. Containers have no sandbox of their own to offer, hence the flag. */
export function openBrowser(): Promise<Browser> {
  browser ??= chromium.launch({ executablePath, args: ['--no-sandbox'] })
  return browser
}

/** Closes every page, so that nothing of one file is left to the next. */
export async function closePages(): Promise<void> {
  const contexts = (await browser)?.contexts() ?? []
  await Promise.all(contexts.map((context) => context.close()))
}

/** A page and what it did that it should not have done. */
interface WatchedPage {
  readonly page: Page
  /** Console errors, uncaught errors, dialogs, blocked content and requests to another origin, as text. */
  readonly complaints: string[]
  close(): Promise<void>
}

/** Opens a page in a context of its own. `expects` names console errors that belong to the test. */
export async function openPage(
  browser: Browser,
  origin: string,
  options: { readonly width?: number; readonly expects?: RegExp } = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: options.width ?? 1440, height: 860 } })
  const page = await context.newPage()
  page.setDefaultTimeout(45_000)
  const complaints: string[] = []
  page.on('console', (message) => {
    const expected = options.expects?.test(message.text()) ?? false
    if (['error', 'warning'].includes(message.type()) && !expected) complaints.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`))
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) complaints.push(`off-origin: ${request.url()}`)
  })
  return { page, complaints, close: () => context.close() }
}

/**
 * A state of a page that a test names: axe finds nothing in it, in light and in dark. With a folder in `WITAN_PICTURES` it is kept there as
 * two pictures.
 */
export async function inspect(page: Page, name: string): Promise<void> {
  const folder = process.env.WITAN_PICTURES
  const found: string[] = []
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    if (folder !== undefined)
      await page.screenshot({ path: `${folder}/${name}${colorScheme === 'dark' ? '-dark' : ''}.png` })
    found.push(...(await violationsOf(page)).map((one) => `${name}, ${colorScheme}: ${one}`))
  }
  assert.deepEqual(found, [])
}
