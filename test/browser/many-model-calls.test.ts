/** More than 2,000 model calls in one tree: it says how many there are, each has its row, and those near the view are read by themselves. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { defineAgent, defineTool } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import type { WitanServer } from '@witan/server'
import type { Browser, Page } from 'playwright-core'
import { z } from 'zod'
import { askingServer } from './support/asking-server.ts'
import { closePages, inspect, missing, openBrowser, openPage } from './support/browser.ts'

const teams = 21
const perTeam = 100
const all = teams * perTeam + 2
const limits = { maxIterations: 1_000, maxModelCalls: 100_000 }

const look = defineTool({
  ...{ name: 'look', description: 'Looks.', effect: 'none' as const },
  parameters: z.object({ at: z.number() }),
  execute: ({ at }) => `seen ${at}`,
})

const agents = [
  defineAgent({
    ...{
      id: 'lead',
      name: 'Lead',
      instructions: 'Lead.',
      limits,
      subAgents: [{ agent: 'team', description: 'Looks.' }],
    },
    model: scriptedModel(
      (_, turn) =>
        turn === 0
          ? {
              toolCalls: Array.from({ length: teams }, (_, at) => ({
                name: 'team',
                arguments: { message: `area ${at}` },
              })),
            }
          : 'All is seen.',
      { id: 'scripted/lead' },
    ),
  }),
  defineAgent({
    ...{ id: 'team', name: 'Team', instructions: 'Look.', limits, tools: [look] },
    history: { trim: { kind: 'truncate', messagesBefore: 12, messagesAfter: 6 } },
    model: scriptedModel((_, turn) => (turn % perTeam < perTeam - 1 ? call('look', { at: turn }) : 'Seen.'), {
      id: 'scripted/team',
    }),
  }),
]

describe('many model calls in one tree', { skip: missing(), timeout: 240_000 }, () => {
  let browser: Browser
  let server: WitanServer
  before(async () => {
    browser = await openBrowser()
    server = await askingServer(agents, { limits: { maxModelCalls: limits.maxModelCalls } })
    const client = createClient({ url: server.url })
    await client.conversation('lead', { id: 'chats/many' }).run('Look everywhere.')
    client.close()
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  const tree = (page: Page) => page.getByRole('tree', { name: 'Calls of this run' })
  const unread = (page: Page) => page.getByRole('treeitem', { name: /loading/ })
  const rowsOf = (page: Page) => page.evaluate<number>("document.querySelector('[role=tree]').scrollHeight / 46")

  test('are counted, have their rows before they are read, and come as they are scrolled to', async () => {
    const asked: string[] = []
    const { page, complaints, close } = await openPage(browser, server.url)
    page.on('request', (request) => {
      if (request.url().includes('/model-calls?')) asked.push(request.url())
    })
    await page.goto(`${server.url}/conversations/chats:many`)
    await page.getByText(`(${all.toLocaleString('en')})`).waitFor()
    await page.getByRole('treeitem', { name: /^Model call 1, scripted\/lead/ }).waitFor()
    const rows = await rowsOf(page)
    assert.ok(rows >= all + teams * perTeam, `${rows} rows`)
    const first = asked.length
    assert.ok(first <= 2, `${first} pages at once`)
    await inspect(page, 'many-model-calls')
    await page.getByRole('treeitem').first().focus()
    await page.keyboard.press('End')
    await page.getByRole('treeitem', { name: /^Model call 2, scripted\/lead/ }).waitFor()
    await unread(page).first().waitFor({ state: 'detached' })
    assert.ok(asked.length > first, 'what is far away is read when it is near')
    assert.ok(
      asked.length - first <= 6,
      `${asked.length - first} requests to reach the end, of ${Math.ceil(all / 200)} pages`,
    )
    assert.equal(await rowsOf(page), rows, 'what comes moves nothing')
    assert.equal(await page.evaluate("document.activeElement.getAttribute('role')"), 'treeitem')
    await page.getByText(`(${all.toLocaleString('en')})`).waitFor()
    await page.keyboard.press('Home')
    await page.getByRole('treeitem', { name: /^Model call 1, scripted\/lead/ }).waitFor()
    assert.deepEqual(complaints, [])
    await close()
  })

  test('are scrolled to with the wheel, and one of the last opens', async () => {
    const { page, complaints, close } = await openPage(browser, server.url)
    await page.goto(`${server.url}/conversations/chats:many`)
    await page.getByRole('treeitem', { name: /^Model call 1, scripted\/lead/ }).waitFor()
    await tree(page).hover()
    await page.mouse.wheel(0, 46 * 1_500)
    const shown = page.getByRole('treeitem', { name: /^Model call \d+, scripted\/team/ })
    await unread(page).first().waitFor({ state: 'detached' })
    await shown.first().click()
    await page.getByRole('region', { name: /^Details of Model call/ }).waitFor()
    assert.deepEqual(complaints, [])
    await close()
  })
})
