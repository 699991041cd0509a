/** A run on a line of time, and the place in a conversation that stands in the address. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import type { Browser, Page } from 'playwright-core'
import { closePages, inspect, missing, openBrowser, openPage } from './support/browser.ts'
import { startStatesServer, type StatesServer } from './support/states-server.ts'

describe('the timeline of a run', { skip: missing(), timeout: 120_000 }, () => {
  let browser: Browser
  let server: StatesServer
  before(async () => {
    browser = await openBrowser()
    server = await startStatesServer()
    const client = createClient({ url: server.url })
    await client.conversation('purchasing', { id: 'chats/pay' }).run('Please pay.')
    await client.conversation('purchasing', { id: 'chats/done' }).run('Please note it.')
    client.close()
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  const at = (id: string, search = '') => `${server.url}/conversations/chats:${id}${search}`
  const items = (page: Page) => page.getByRole('list', { name: 'Timeline' }).getByRole('listitem')
  const names = (page: Page) =>
    items(page).evaluateAll((all: readonly { getAttribute(name: string): string | null }[]) =>
      all.map((one) => one.getAttribute('aria-label')),
    )

  test('has an item for each call, tells work from waiting without colour, and grows', async () => {
    const { page, complaints, close } = await openPage(browser, server.url)
    await page.goto(at('pay'))
    await page.getByRole('tablist', { name: 'Run views' }).getByRole('tab', { name: 'Timeline' }).click()
    await page.waitForURL('**/*view=timeline*')
    const form = /^(.+), from \d+\.\d s, worked \d+\.\d s, waited (\d+\.\d) s, goes on$/
    await items(page).nth(2).waitFor()
    const waited = async () => (await names(page)).map((name) => Number(form.exec(name ?? '')?.[2]))
    const first = await waited()
    assert.deepEqual(
      (await names(page)).map((name) => form.exec(name ?? '')?.[1]),
      ['Purchasing desk', 'Clerk', 'pay'],
      String(await names(page)),
    )
    const later = new RegExp(`^Purchasing desk, .* waited ${Math.floor(first[0] ?? 0) + 1}\\.`)
    await page.getByRole('listitem', { name: later }).waitFor()
    const background = (look: string) =>
      page.evaluate<string>(
        `getComputedStyle(document.querySelector('[data-testid=timeline] .${look}')).backgroundImage`,
      )
    assert.match(await background('timeline-wait'), /repeating-linear-gradient/)
    assert.equal(await background('timeline-work'), 'none')
    await inspect(page, 'timeline')
    assert.deepEqual(complaints, [])
    await close()
  })

  test('is walked with the keys, shows a call in full, and a reload shows the same', async () => {
    const { page, complaints, close } = await openPage(browser, server.url)
    await page.goto(at('pay', '?view=timeline'))
    await items(page).first().getByRole('button').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('End')
    assert.equal(await page.evaluate<string>('document.activeElement.parentElement.getAttribute("aria-posinset")'), '3')
    await page.keyboard.press('Enter')
    await page.getByTestId('detail').getByText('the carpenter').first().waitFor()
    await page.waitForURL('**/*node=c_*')
    await page.reload()
    await page.getByTestId('detail').getByText('the carpenter').first().waitFor()
    assert.equal(await page.getByRole('tab', { name: 'Timeline' }).getAttribute('aria-selected'), 'true')
    await page.getByRole('tab', { name: 'Timeline' }).focus()
    await page.keyboard.press('ArrowLeft')
    await page.getByRole('tree').waitFor()
    assert.equal(new URL(page.url()).searchParams.has('view'), false)
    assert.deepEqual(complaints, [])
    await close()
  })

  test('an address with a run, a call or a view that is not there shows the latest run as a tree', async () => {
    const { page, complaints, close } = await openPage(browser, server.url)
    await page.goto(at('done', '?run=c_nobody&node=c_nothing&view=movie'))
    await page.getByRole('treeitem').first().waitFor()
    assert.equal(await page.getByTestId('detail').count(), 0)
    assert.deepEqual(complaints, [])
    await close()
  })
})
