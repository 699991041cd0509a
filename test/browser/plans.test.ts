/** Plans in the Studio: in the tree and in the details of their agent, while it works and later. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { defineAgent, type ModelRequest } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import type { WitanServer } from '@witan/server'
import type { Browser } from 'playwright-core'
import { agentsServer } from './support/agents-server.ts'
import { closePages, inspect, missing, openBrowser, openPage } from './support/browser.ts'

const hostile = 'Ask <b>Anna</b>\u202e whether the train that leaves on Friday evening is early enough for all of them'

describe('a plan in the Studio', { skip: missing(), timeout: 300_000 }, () => {
  let browser: Browser
  let server: WitanServer
  let next = () => {}
  const waits = () =>
    new Promise<void>((resolve) => {
      next = resolve
    })
  const steps = (first: string, second: string) => [
    { id: 'look', title: 'Look for trains', status: first, note: 'Two are late on Friday.' },
    { id: 'ask', title: hostile, status: second },
    { id: 'book', title: 'Book a hotel', status: 'dropped' },
    { id: 'pay', title: 'Pay', status: 'pending' },
  ]
  const play = async (_: ModelRequest, turn: number) => {
    if (turn === 0) return call('update_plan', { steps: steps('in_progress', 'pending') })
    if (turn === 1) return call('trains', { message: 'Which?' })
    if (turn === 2) return call('update_plan', { steps: steps('completed', 'in_progress'), reason: 'Found two.' })
    await waits()
    return 'Friday it is.'
  }

  before(async () => {
    browser = await openBrowser()
    server = await agentsServer(
      defineAgent({
        ...{ id: 'planner', instructions: 'Plan.', enablePlanning: true, subAgents: [{ agent: 'trains' }] },
        model: scriptedModel(play, { id: 'play/planner' }),
      }),
      defineAgent({ id: 'trains', instructions: 'Know.', model: scriptedModel(() => 'Two.', { id: 'play/trains' }) }),
    )
  })
  after(async () => {
    next()
    await closePages()
    await server?.close()
  })

  test('[F08] shows its steps, where each stands and what was called in it, live and behind a reload', async () => {
    const client = createClient({ url: server.url })
    const running = client.conversation('planner', { id: 'chats/trip' }).run('Plan a trip.')
    for (const width of [1440, 360]) {
      const { page, complaints, close } = await openPage(browser, server.url, { width })
      await page.goto(`${server.url}/conversations/chats:trip`)
      if (width < 500) await page.getByRole('button', { name: 'Run', exact: true }).click()
      const row = page.getByRole('treeitem').first()
      await row.getByText('plan 2/4').waitFor()
      await row.click()
      const plan = page.getByTestId('detail').getByRole('list', { name: 'Plan' })
      await plan.getByText('Look for trains').waitFor()
      assert.deepEqual(
        await plan.getByRole('img').evaluateAll((marks) => marks.map((mark) => mark.getAttribute('aria-label'))),
        ['done', 'in progress', 'dropped', 'to do'],
      )
      await plan.getByRole('listitem').first().getByText('called trains', { exact: true }).waitFor()
      await plan.getByText('Ask <b>Anna</b>\\u202e whether').waitFor()
      assert.ok(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'), 'it fits')
      await plan.scrollIntoViewIfNeeded()
      await inspect(page, `plan-${width}`)
      assert.deepEqual(complaints, [])
      await close()
    }
    next()
    const { text } = await running
    assert.equal(text, 'Friday it is.')
    client.close()
    const { page, complaints, close } = await openPage(browser, server.url)
    await page.goto(`${server.url}/conversations/chats:trip`)
    await page.getByRole('treeitem').first().click()
    await page.getByTestId('detail').getByText('PLAN_UNFINISHED').waitFor()
    await page.getByTestId('detail').getByRole('list', { name: 'Plan' }).getByText('Pay').waitFor()
    assert.deepEqual(complaints, [])
    await close()
  })
})
