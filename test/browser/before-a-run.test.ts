/** An agent's page against a real server: its graph in words, its tools, one tried, what its model reads, and its revisions. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { defineAgent, defineTool } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import type { WitanServer } from '@witan/server'
import type { Browser, Page } from 'playwright-core'
import { z } from 'zod'
import { askingServer } from './support/asking-server.ts'
import { closePages, inspect, missing, openBrowser, openPage } from './support/browser.ts'

const quiet = scriptedModel(() => 'Done.', { id: 'scripted/quiet' })
const price = defineTool({
  name: 'price',
  description: 'The price of an article.',
  parameters: z.object({ article: z.string(), tenant: z.string(), count: z.number().optional() }),
  effect: 'none',
  execute: ({ article, tenant, count = 1 }) => ({ article, from: tenant, eur: 12 * count }),
})
const order = defineTool({
  name: 'order',
  description: 'Orders an article.',
  parameters: z.object({ article: z.string() }),
  execute: ({ article }) => `ordered ${article}`,
})
const work = { instructions: 'You work.', description: 'Works.', model: quiet }
const agents = [
  defineAgent({
    ...work,
    id: 'clerk',
    instructions: 'You sell.',
    parameters: [{ name: 'country' }, { name: 'tenant', sendToModel: false, policy: 'forbidModelGeneration' }],
    tools: [price, order],
    subAgents: [{ agent: 'helper' }, { agent: 'letter' }],
    transfers: [{ agent: 'billing' }],
  }),
  defineAgent({ ...work, id: 'helper' }),
  defineAgent({ ...work, id: 'billing' }),
  defineAgent({ ...work, id: 'draft' }),
  defineAgent({ id: 'letter', description: 'Writes.', workflow: { kind: 'sequence', agents: ['draft', 'helper'] } }),
]

describe('an agent before it runs', { skip: missing(), timeout: 300_000 }, () => {
  let browser: Browser
  let server: WitanServer
  before(async () => {
    server = await askingServer(agents)
    browser = await openBrowser()
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  async function inPage(path: string, use: (page: Page) => Promise<void>, width = 1440): Promise<void> {
    const { page, complaints, close } = await openPage(browser, server.url, { width, expects: /409|422/ })
    try {
      await page.goto(`${server.url}${path}`)
      await use(page)
      assert.deepEqual(complaints, [])
    } finally {
      await close()
    }
  }

  test('its graph stands in words too, each edge with what it does, and no letter is too small', () =>
    inPage('/agents/clerk', async (page) => {
      const graph = page.getByRole('region', { name: 'Graph' })
      const edges = graph.getByRole('list', { name: 'Edges' })
      for (const words of [
        'clerk asks helper',
        'clerk hands over to billing',
        'letter, step 1: draft',
        'letter, step 2: helper',
      ])
        await edges.getByText(words, { exact: true }).waitFor()
      await graph.getByRole('list', { name: 'Legend' }).getByText('hands over', { exact: true }).waitFor()
      await graph.locator('.react-flow__node').first().waitFor()
      const sizes =
        (await page.evaluate(`[...document.querySelectorAll('.react-flow__node span, .react-flow__edge-text')]
        .filter((one) => one.textContent !== '')
        .map((one) => parseFloat(getComputedStyle(one).fontSize) *
          new DOMMatrix(getComputedStyle(document.querySelector('.react-flow__viewport')).transform).a)`)) as number[]
      assert.ok(sizes.length > 0 && Math.min(...sizes) >= 10.99, `${Math.min(...sizes)} pixels`)
      await inspect(page, 'agent-graph')
    }))

  test('each parameter has its source on each path', () =>
    inPage('/agents/clerk', async (page) => {
      const table = page.getByRole('table', { name: 'Who gets which parameter' })
      const row = table.getByRole('row').filter({ hasText: 'tenant' })
      await row.getByText('the conversation').waitFor()
      assert.deepEqual(await row.getByRole('cell').allTextContents(), [
        'clerk',
        'tenant',
        'the conversation',
        'no',
        'no',
      ])
    }))

  test('its tools are all that the server lists, and a function is tried with its values bound', () =>
    inPage('/agents/clerk', async (page) => {
      const tools = page.getByRole('list', { name: 'Tools' })
      for (const name of ['price', 'order', 'helper', 'letter', 'transfer_to_agent'])
        await tools.getByText(name, { exact: true }).first().waitFor()
      assert.equal(await page.getByRole('button', { name: 'Try helper' }).count(), 0)
      await page.getByRole('button', { name: 'Try price' }).click()
      const dialog = page.getByRole('dialog', { name: 'Try price' })
      await dialog.getByRole('button', { name: 'Run' }).click()
      await dialog.getByText('"country" needs a value').waitFor()
      await dialog.getByLabel('country', { exact: true }).fill('DE')
      await dialog.getByLabel('tenant', { exact: true }).fill('north')
      await dialog.getByLabel('article', { exact: true }).fill('tea')
      await dialog.getByLabel('count', { exact: true }).fill('x')
      await dialog.getByRole('button', { name: 'Run' }).click()
      await dialog.getByText('This is not a number.').waitFor()
      await dialog.getByLabel('count', { exact: true }).fill('2')
      await dialog.getByRole('button', { name: 'Run' }).click()
      const result = dialog.getByRole('region', { name: 'Result', exact: true })
      await result.getByText('completed').waitFor()
      await result.getByText('"eur": 24').waitFor()
      await result.getByText('[hidden]').waitFor()
      await inspect(page, 'try-a-tool')
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      assert.equal(
        await page.evaluate('document.activeElement.getAttribute("aria-label")'),
        'Try price',
        'the focus goes back',
      )
    }))

  test('an effect is confirmed before it happens', () =>
    inPage('/agents/clerk', async (page) => {
      await page.getByRole('button', { name: 'Try order' }).click()
      const dialog = page.getByRole('dialog', { name: 'Try order' })
      await dialog.getByLabel('country', { exact: true }).fill('DE')
      await dialog.getByLabel('article', { exact: true }).fill('tea')
      await dialog.getByRole('button', { name: 'Run' }).click()
      await dialog.getByText('CONFIRM_REQUIRED').waitFor()
      await dialog.getByLabel('It has an effect outside').check()
      await dialog.getByRole('button', { name: 'Run' }).click()
      await dialog.getByText('ordered tea').waitFor()
    }))

  test('what its model reads follows the values, and is lacking where they are', () =>
    inPage(
      '/agents/clerk',
      async (page) => {
        const region = page.getByRole('region', { name: 'What its model reads' })
        await region.getByText('PARAM_MISSING').waitFor()
        await region.getByRole('form', { name: 'Parameters' }).getByLabel('country', { exact: true }).fill('DE')
        await region.getByRole('button', { name: 'Show with these values' }).click()
        await region.getByText('country = "DE"').waitFor()
        for (const name of ['System message', 'Tools']) await region.getByRole('heading', { name }).waitFor()
        await region.getByText(/^About [\d,]+ tokens/).waitFor()
        await region.scrollIntoViewIfNeeded()
        await inspect(page, 'model-reads-400')
      },
      400,
    ))

  test('its revisions are listed, compared in words, and one is restored', async () => {
    const client = createClient({ url: server.url })
    const { parameters: _parameters, ...helper } = await client.agents.get('helper')
    await client.agents.save({ ...helper, instructions: 'You work well.' })
    await inPage('/agents/helper', async (page) => {
      await page.getByRole('link', { name: 'all revisions' }).click()
      const list = page.getByRole('list', { name: 'Revisions' })
      await list.getByRole('listitem').filter({ hasText: 'instructions' }).getByText('user:local').waitFor()
      await list.getByText('from code').waitFor()
      const changes = page.getByRole('region', { name: 'Changes' })
      await changes.getByText('"instructions": "You work well.",').waitFor()
      for (const words of ['removed', 'added']) await changes.getByText(words, { exact: true }).waitFor()
      await inspect(page, 'revisions')
      await page.getByRole('button', { name: 'Restore revision 1' }).click()
      await list.getByRole('listitem').nth(2).waitFor()
      assert.equal((await client.agents.get('helper')).instructions, 'You work.')
      await page.goto(`${server.url}/agents/helper/revisions?from=1&to=3`)
      await changes.getByText('They are the same.').waitFor()
    })
    client.close()
  })
})
