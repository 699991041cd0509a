/** An error of a page: the frame stays, the page says what happened and what to do, and the way elsewhere is open. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { closePages, inspect, missing, openBrowser, openPage } from './support/browser.ts'
import { type Stub, startStub } from './support/stub-server.ts'

/** What a newer server may answer, so that the page for it fails. */
const pages = [
  {
    name: 'an agent',
    path: '/agents/company-assistant-agent',
    answer: '**/api/v1/agents/*/graph',
    body: { nodes: 'none', edges: [] },
  },
  {
    name: 'the conversations',
    path: '/conversations',
    answer: '**/api/v1/conversations?*',
    body: { items: [{}], nextCursor: null },
  },
] as const

describe('a page that fails', { skip: missing() }, () => {
  let browser: Browser
  let stub: Stub
  before(async () => {
    stub = await startStub()
    browser = await openBrowser()
  })
  after(async () => {
    await closePages()
    await stub?.close()
  })

  for (const { name, path, answer, body } of pages)
    test(`${name}: keeps the frame, speaks of itself and not of the server, and is there again when it can be`, async () => {
      const { page, complaints, close } = await openPage(browser, stub.url, { expects: /./ })
      await page.route(answer, (route) => route.fulfill({ json: body }))
      await page.goto(`${stub.url}${path}`)
      const failed = page.getByTestId('page-failed')
      await failed.getByRole('heading', { name: 'This page has failed' }).waitFor()
      const words = (await failed.textContent()) ?? ''
      assert.match(words, /An error in the Studio stopped this page: .+Runs go on, and nothing is lost.*PAGE_FAILED/)
      assert.doesNotMatch(words, /server/)
      assert.equal(await page.getByRole('main').count(), 1)
      await inspect(page, `page-failed-${name.replaceAll(' ', '-')}`)
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Waiting' }).click()
      await failed.waitFor({ state: 'detached' })
      await page.goBack()
      await failed.waitFor()
      await page.unroute(answer)
      await page.getByRole('button', { name: 'Try again' }).click()
      await failed.waitFor({ state: 'detached' })
      await page.getByRole('navigation', { name: 'Main' }).waitFor()
      assert.deepEqual(complaints, [])
      await close()
    })
})
