/**
 * What the Studio costs its reader, beside what it may cost: `npm run bench:studio [-- --json FILE]`. A Chromium without windows on this
 * machine, on loopback, without a cache. `WITAN_CHROMIUM` names the Chromium; without one it says so and exits 3.
 * Times are of the page's clock, so a busy machine makes them wrong: the load stands above the table.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { violationsOf } from '../test/browser/support/axe.ts'
import { missing, openBrowser, openPage } from '../test/browser/support/browser.ts'
import { type LargePrompt, marks, startLargePrompt } from '../test/browser/support/large-prompt.ts'
import { type LargeRun, startLargeRun } from '../test/browser/support/large-run.ts'
import { aboutHere } from './about.ts'
import { gridOf, short } from './grid.ts'

const { values } = parseArgs({ options: { json: { type: 'string' } } })

/** A figure and the most that it may be. */
interface Row {
  readonly what: string
  readonly unit: 'kB' | 'ms' | 'elements' | 'violations'
  readonly value: number
  readonly most: number
}

/** Counts what a page receives, as sent: heads and bodies. */
function countBytes(page: Page): { readonly kB: () => Promise<number> } {
  const sizes: Promise<number>[] = []
  page.on('requestfinished', (request) => {
    sizes.push(
      request.sizes().then(
        ({ responseBodySize, responseHeadersSize }) => responseBodySize + responseHeadersSize,
        () => 0,
      ),
    )
  })
  return { kB: async () => (await Promise.all(sizes)).reduce((sum, one) => sum + one, 0) / 1000 }
}

async function inPage<Result>(url: string, use: (page: Page) => Promise<Result>, width = 1440): Promise<Result> {
  const { page, close } = await openPage(await openBrowser(), url, { width })
  try {
    return await use(page)
  } finally {
    await close()
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now()
  await work()
  return performance.now() - from
}

async function firstPage({ url }: LargeRun): Promise<Row[]> {
  return await inPage(url, async (page) => {
    const bytes = countBytes(page)
    const ms = await timed(async () => {
      await page.goto(`${url}/agents`)
      await page.getByRole('heading', { level: 1 }).waitFor()
    })
    await page.waitForLoadState('networkidle')
    return [
      { what: 'first page, /agents with 20 agents', unit: 'kB', value: await bytes.kB(), most: 300 },
      { what: 'first page, until it can be read', unit: 'ms', value: ms, most: 1_000 },
    ]
  })
}

/** What each other page brings when somebody goes to it from the first one. */
async function otherPages({ url }: LargeRun): Promise<Row[]> {
  const rows: Row[] = []
  for (const [link, heading] of others)
    rows.push(
      await inPage(url, async (page) => {
        await page.goto(`${url}/agents`)
        await page.waitForLoadState('networkidle')
        const bytes = countBytes(page)
        await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: link }).click()
        await page.getByRole('heading', { name: heading, exact: true }).first().waitFor()
        await page.waitForLoadState('networkidle')
        return { what: `${link}, gone to from it`, unit: 'kB', value: await bytes.kB(), most: 150 } as const
      }),
    )
  return rows
}

const others = [
  ['Conversations', 'New conversation'],
  ['Waiting', 'Waits for you'],
  ['Knowledge', 'No knowledge bases yet'],
  ['Health', 'Health'],
] as const

/** Milliseconds of each frame while the tree is scrolled by a row and a half a frame, ordered. */
async function frames(page: Page): Promise<readonly number[]> {
  const all = await page.evaluate<number[]>(`new Promise((resolve) => {
    const box = document.querySelector('[data-testid=tree]').parentElement
    const found = []
    let last = performance.now()
    const step = (now) => {
      found.push(now - last)
      last = now
      if (found.length > 240) return resolve(found.slice(1))
      box.scrollTop += 70
      requestAnimationFrame(step)
    }
    requestAnimationFrame(step)
  })`)
  return all.toSorted((one, other) => one - other)
}

async function largeRun({ url, id }: LargeRun): Promise<Row[]> {
  return await inPage(url, async (page) => {
    const bytes = countBytes(page)
    const ms = await timed(async () => {
      await page.goto(`${url}/conversations/${id.replace('/', ':')}`)
      await page.locator('[data-testid=answer][data-state=completed]').waitFor()
    })
    const kB = await bytes.kB()
    const elements = await page.evaluate<number>("document.querySelectorAll('*').length")
    await page.getByRole('treeitem').first().focus()
    const end = await timed(async () => {
      await page.keyboard.press('End')
      await frame(page)
    })
    const sorted = await frames(page)
    return [
      { what: 'a conversation of 10,500 events, until its last message', unit: 'ms', value: ms, most: 2_500 },
      { what: 'a conversation of 10,500 events', unit: 'kB', value: kB, most: 600 },
      { what: 'a run of 5,120 calls, in the page', unit: 'elements', value: elements, most: 6_000 },
      {
        what: 'a frame while its tree is scrolled, p95',
        unit: 'ms',
        value: sorted[Math.floor(sorted.length * 0.95)] ?? 0,
        most: 50,
      },
      { what: 'End to its last row', unit: 'ms', value: end, most: 1_000 },
    ]
  })
}

/** Opened from its row of the tree; scrolled by the keys; and searched as the browser searches a page. */
async function largePrompt({ url, id }: LargePrompt): Promise<Row[]> {
  return await inPage(url, async (page) => {
    await page.goto(`${url}/conversations/${id.replace('/', ':')}`)
    const row = page.getByRole('treeitem', { name: /^Model call 1/ })
    const detail = page.getByRole('region', { name: /^Details of Model call/ })
    await row.waitFor()
    const opened = await timed(async () => {
      await row.click()
      await detail.getByRole('list', { name: 'Messages' }).waitFor()
      await frame(page)
    })
    await detail.getByRole('button', { name: /as before/ }).click()
    const texts = detail.getByRole('group', { name: 'Text of the user' })
    await texts.nth(marks.length - 1).waitFor()
    const scrolled = await timed(async () => {
      for (let at = 0; at < marks.length; at += 1) {
        await texts.nth(at).focus()
        await page.keyboard.press('End')
        await texts
          .nth(at)
          .getByText(marks[at] ?? '')
          .waitFor()
      }
      await frame(page)
    })
    await page.evaluate('document.activeElement.blur(); getSelection().removeAllRanges()')
    const last = JSON.stringify(marks.at(-1))
    const searched = await timed(async () => {
      if (!(await page.evaluate<boolean>(`window.find(${last}, true)`))) throw new Error(`${last} is not found`)
    })
    return [
      { what: 'a prompt of 2 MB, until it can be read', unit: 'ms', value: opened, most: 1_000 },
      { what: 'its three messages scrolled to their ends', unit: 'ms', value: scrolled, most: 1_000 },
      { what: 'it searched for its last words', unit: 'ms', value: searched, most: 1_000 },
    ]
  })
}

/** Two frames: what was asked for is drawn. */
function frame(page: Page): Promise<unknown> {
  return page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
}

async function accessibility({ url, id }: LargeRun): Promise<Row> {
  const paths = [
    '/agents',
    '/agents/lead',
    '/agents/lead/definition',
    '/agents/lead/revisions',
    '/conversations',
    `/conversations/${id.replace('/', ':')}`,
    '/waiting',
    '/health',
  ]
  let value = 0
  for (const width of [1440, 360])
    await inPage(
      url,
      async (page) => {
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          for (const path of paths) {
            await page.goto(`${url}${path}`)
            await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' })
            await page.getByText('Loading').first().waitFor({ state: 'detached' })
            value += (await violationsOf(page)).length
          }
        }
      },
      width,
    )
  return { what: `axe on ${paths.length} pages, light and dark, wide and 360 px`, unit: 'violations', value, most: 0 }
}

async function measured(): Promise<readonly Row[]> {
  const run = await startLargeRun(40, 18)
  const prompt = await startLargePrompt()
  try {
    return [
      ...(await firstPage(run)),
      ...(await otherPages(run)),
      ...(await largeRun(run)),
      ...(await largePrompt(prompt)),
      await accessibility(run),
    ]
  } finally {
    await run.close()
    await prompt.close()
  }
}

async function main(): Promise<number> {
  const reason = missing()
  if (reason !== false) {
    console.error(`bench:studio: COULD NOT RUN: ${reason}`)
    return 3
  }
  const about = aboutHere()
  const rows = await measured()
  const head = ['', 'measured', 'at most', '']
  const texts = rows.map(({ what, unit, value, most }) => [what, short(value), short(most), unit])
  const over = rows.filter(({ value, most }) => value > most)
  console.log(`${about.text}\n\n${gridOf(head, texts)}\n`)
  console.log(over.length === 0 ? 'All are within.' : `Beyond: ${over.map(({ what }) => what).join('; ')}`)
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify({ about, rows }))
  return over.length === 0 ? 0 : 1
}

process.exit(await main())
