/** Workflows in the Studio, against a real server: steps, rounds and branches in the tree, and the agent's page. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createClient } from '@witan/client'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import type { Browser, Page } from 'playwright-core'
import { closePages, missing, openBrowser, openPage, inspect } from './support/browser.ts'

describe('workflows in the Studio', { skip: missing(), timeout: 300_000 }, () => {
  let browser: Browser
  let server: WitanServer
  before(async () => {
    browser = await openBrowser()
    const file = fileURLToPath(new URL('./support/ordering.config.ts', import.meta.url))
    server = await startServer(await loadConfig({ file, env: { WITAN_LOG_LEVEL: 'error' } }))
    const client = createClient({ url: server.url })
    await client.agents.batch([
      { id: 'panel', name: 'Panel', workflow: { kind: 'parallel', agents: ['taste', 'law'] } },
      { id: 'paper', name: 'Paper', workflow: { kind: 'loop', agents: ['writer', 'panel'], maxIterations: 3 } },
    ])
    await client.conversation('paper', { id: 'chats/paper' }).run('Write one sentence.')
    client.close()
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  async function inPage(path: string, use: (page: Page) => Promise<void>): Promise<void> {
    const { page, complaints, close } = await openPage(browser, server.url)
    try {
      await page.goto(`${server.url}${path}`)
      await use(page)
      assert.deepEqual(complaints, [])
    } finally {
      await close()
    }
  }

  test('[K24] the tree names the steps with their round and the branches; the answer is that of the workflow', () =>
    inPage('/conversations/chats:paper', async (page) => {
      await page.getByTestId('answer').getByText('Rain.').waitFor()
      assert.equal(await page.getByTestId('spoken').count(), 1)
      await page.getByRole('checkbox', { name: 'Model calls' }).uncheck()
      const rows = page.getByRole('treeitem')
      const words = (await rows.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ')).join('\n')
      for (const one of [
        /Writer step 1/,
        /Panel step 2/,
        /Judge of taste branch panel\.0/,
        /Judge of law branch panel\.1/,
      ])
        assert.match(words, one)
      assert.match(words, /Writer round 2, step 1.*\n.*Panel round 2, step 2/)
      await rows.filter({ hasText: 'Judge of law' }).first().click()
      await page.getByTestId('detail').getByText('branch panel.1').waitFor()
      await inspect(page, 'workflow')
    }))

  test('the page of a workflow shows its kind and steps in place of a model and tools', () =>
    inPage('/agents/paper', async (page) => {
      const graph = page.getByTestId('graph')
      await graph.getByText('step 1').first().waitFor()
      for (const [step, times] of [
        ['step 1', 2],
        ['step 2', 2],
      ] as const)
        assert.equal(await graph.getByText(step, { exact: true }).count(), times)
      await page.getByRole('list', { name: 'Legend' }).getByText('runs as a step').waitFor()
      await page.getByRole('heading', { name: 'Workflow' }).waitFor()
      await page.getByText('"maxIterations": 3').waitFor()
      for (const heading of ['Tools', 'Instructions'])
        assert.equal(await page.getByRole('heading', { name: heading }).count(), 0)
      assert.equal(await page.getByText('this server has no such model').count(), 0)
      await inspect(page, 'workflow-agent')
    }))
})
