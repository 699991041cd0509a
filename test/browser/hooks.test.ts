/** Hooks in the Studio: what they refused and rewrote stands in the details of the call, and what they refused nowhere. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { defineHooks, defineTool } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import type { Browser } from 'playwright-core'
import { z } from 'zod'
import { closePages, inspect, missing, openBrowser, openPage } from './support/browser.ts'

const hostile = 'At most <b>100</b>\u202e, and nothing to an account that nobody of us has ever heard of before'

describe('hooks in the Studio', { skip: missing(), timeout: 300_000 }, () => {
  let browser: Browser
  let server: WitanServer
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ amount: z.number() }),
    execute: () => 'paid',
  })
  const audit = defineHooks({
    name: 'audit',
    beforeTool: () => ({ refuse: hostile }),
    afterRun: ({ text }) => ({ rewrite: text.replace('12345678', '…') }),
  })
  const model = scriptedModel(
    ({ messages }) => {
      if ((messages.at(-1)?.content ?? '').includes('refused')) return 'I may not, from account 12345678.'
      return { toolCalls: [{ name: 'pay', arguments: { amount: 500 } }] }
    },
    { id: 'play/clerk' },
  )

  before(async () => {
    browser = await openBrowser()
    const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
    server = await startServer({
      ...config,
      auth: { mode: 'none' },
      server: { ...config.server, port: 0 },
      models: { 'play/clerk': model },
      tools: [pay],
      hooks: [audit],
      agents: [{ id: 'clerk', model: 'play/clerk', instructions: 'Pay.', tools: ['pay'], hooks: ['audit'] }],
    })
    const client = createClient({ url: server.url })
    const { text } = await client.conversation('clerk', { id: 'chats/pay' }).run('Pay 500.')
    assert.equal(text, 'I may not, from account ….')
    client.close()
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  for (const width of [1440, 360])
    test(`[F02] shows what they refused and rewrote, ${width} pixels wide`, async () => {
      const { page, complaints, close } = await openPage(browser, server.url, { width })
      await page.goto(`${server.url}/conversations/chats:pay`)
      await page.getByText('I may not, from account ….').first().waitFor()
      assert.equal(await page.getByText('12345678').count(), 0)
      if (width < 500) await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.getByRole('treeitem').first().click()
      const hooks = page.getByTestId('detail').getByRole('list', { name: 'Hooks', exact: true })
      await hooks.getByText('audit refused a call of a tool: At most <b>100</b>\\u202e, and').waitFor()
      await hooks.getByText('audit rewrote the answer.').waitFor()
      assert.ok(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'), 'it fits')
      await hooks.scrollIntoViewIfNeeded()
      await inspect(page, `hooks-${width}`)
      assert.deepEqual(complaints, [])
      await close()
    })
})
