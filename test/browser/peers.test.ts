/** Peers in the Studio, against a real server: the tree, and beside it the diagram of who said what to whom. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createClient } from '@witan/client'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import type { Browser } from 'playwright-core'
import { closePages, missing, openBrowser, openPage, inspect } from './support/browser.ts'

describe('peers in the Studio', { skip: missing(), timeout: 300_000 }, () => {
  let browser: Browser
  let server: WitanServer
  before(async () => {
    browser = await openBrowser()
    const file = fileURLToPath(new URL('./support/speaking.config.ts', import.meta.url))
    server = await startServer(await loadConfig({ file, env: { WITAN_LOG_LEVEL: 'error' } }))
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  test('[Tb25] the page of an agent lists a tool for each message to each peer, and that of its answers', async () => {
    const { page, complaints, close } = await openPage(browser, server.url)
    await page.goto(`${server.url}/agents/buyer`)
    const tools = page.getByTestId('tools')
    for (const name of ['north_ask', 'north_order', 'south_ask', 'south_order'])
      await tools.getByText(name, { exact: true }).waitFor()
    await page.goto(`${server.url}/agents/north`)
    await tools.getByText('buyer_clarify', { exact: true }).waitFor()
    await tools.getByText('after buyer has written').waitFor()
    await inspect(page, 'peer-tools')
    assert.deepEqual(complaints, [])
    await close()
  })

  for (const width of [1280, 400])
    test(`[Tb27] the diagram of a run grows beside its tree, ${width} pixels wide`, async () => {
      const { page, complaints, close } = await openPage(browser, server.url, { width })
      const id = `chats/${width}`
      const client = createClient({ url: server.url })
      await client.conversations.start({ agent: 'buyer', id })
      await page.goto(`${server.url}/conversations/chats:${width}`)
      await page.getByRole('textbox').fill('Are there two beams?')
      await page.keyboard.press('Enter')
      await page.getByTestId('answer').getByText('takes no order').waitFor()
      if (width < 700) await page.getByRole('button', { name: 'Run', exact: false }).first().click()
      await page.getByRole('tab', { name: 'Diagram' }).click()
      const arrows = page.getByTestId('diagram').getByRole('listitem')
      await arrows.filter({ hasText: 'takes no order' }).waitFor()
      const said = await arrows.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? ''))
      const { runs } = await client.conversations.get(id)
      const lines = (await client.runs.diagram(runs[0]?.runId ?? '', { format: 'text' })).trimEnd().split('\n')
      assert.equal(said.length, lines.length, 'the server draws the same arrows')
      assert.equal(said[0], '1. user to buyer: Are there two beams?')
      assert.ok(said.some((one) => one.endsWith('north to buyer: clarify {"question":"The long or the short one?"}')))
      assert.ok(said.some((one) => /north to buyer: north's reply does not fit stock-request\.order/.test(one)))
      assert.ok(
        said.some((one) => one.endsWith('south to buyer: None, says south.')),
        'no marks of Markdown',
      )
      const refused = arrows.filter({ hasText: 'TOOL_ARGS_INVALID' })
      assert.match((await refused.getAttribute('aria-label')) ?? '', /buyer to north, refused: /)
      const colours = `['TOOL_ARGS_INVALID', 'Are there two beams?'].map((words) =>
        [...document.querySelectorAll('[data-testid=diagram] li > span')].find((one) => one.textContent.includes(words)))
        .map((one) => getComputedStyle(one).color)`
      assert.equal(new Set((await page.evaluate(colours)) as string[]).size, 2, 'what was refused looks different')
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      await page.getByRole('button', { name: 'Copy as Mermaid' }).click()
      await page.getByRole('button', { name: 'Copied' }).waitFor()
      const mermaid = String(await page.evaluate('navigator.clipboard.readText()'))
      assert.match(mermaid, /^sequenceDiagram\n[\s\S]*buyer-xnorth: \d+\. refused \(TOOL_ARGS_INVALID\)/)
      const fullScreen = (isOn: boolean) => page.getByRole('button', { name: 'Full screen', pressed: isOn })
      const isFull = () => page.evaluate('document.fullscreenElement?.contains(document.activeElement) === true')
      await fullScreen(false).click()
      await fullScreen(true).waitFor()
      assert.equal(await isFull(), true, 'it takes the whole screen')
      await inspect(page, `diagram-full-screen-${width}`)
      await page.keyboard.press('Escape')
      await fullScreen(false).waitFor()
      assert.equal(await isFull(), false, 'Escape gives it back')
      await page.keyboard.press('Enter')
      await fullScreen(true).waitFor()
      await page.keyboard.press('Enter')
      await fullScreen(false).waitFor()
      assert.equal(await isFull(), false, 'and so does its button')
      const diagram = page.getByTestId('diagram')
      await diagram.hover()
      await page.mouse.wheel(300, 300)
      const scrolled = () => diagram.evaluate(({ scrollTop, scrollLeft }) => scrollTop + scrollLeft)
      for (let times = 0; times < 60 && (await scrolled()) === 0; times += 1) await page.waitForTimeout(50)
      assert.ok((await scrolled()) > 0, 'it scrolls')
      await inspect(page, `peers-${width}`)
      await page.getByRole('tab', { name: 'Tree' }).click()
      await page.getByRole('treeitem').filter({ hasText: 'South' }).first().waitFor()
      assert.deepEqual(complaints, [])
      client.close()
      await close()
    })
})
