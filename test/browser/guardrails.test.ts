/** Guardrails in the Studio: what they found stands in the details of the call, an agent that checks says so, and what was refused stands nowhere. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import type { Browser } from 'playwright-core'
import { closePages, inspect, missing, openBrowser, openPage } from './support/browser.ts'

const card = '4111 1111 1111 1111'

describe('guardrails in the Studio', { skip: missing(), timeout: 300_000 }, () => {
  let browser: Browser
  let server: WitanServer

  before(async () => {
    browser = await openBrowser()
    const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
    const says = (id: string, rule: Parameters<typeof scriptedModel>[0]) => ({ [id]: scriptedModel(rule, { id }) })
    server = await startServer({
      ...config,
      auth: { mode: 'none' },
      server: { ...config.server, port: 0 },
      models: {
        ...says('play/desk', ({ messages }) =>
          (messages.at(-1)?.content ?? '').includes('Promise no refund') ? 'I will look into it.' : 'A refund!',
        ),
        ...says('play/judge', () => '{"allow":true,"reason":"polite"}'),
      },
      agents: [
        {
          id: 'desk',
          model: 'play/desk',
          instructions: 'Help.',
          guardrails: {
            input: [{ name: 'cards', kind: 'pattern', pattern: '\\d(?:[ -]?\\d){12,15}', action: 'redact' }],
            output: [
              { name: 'promises', kind: 'pattern', pattern: '(?i)refund', message: 'Promise no refund.' },
              { name: 'tone', kind: 'agent', agent: 'judge' },
            ],
          },
        },
        { id: 'judge', model: 'play/judge', instructions: 'Is it polite?' },
      ],
    })
    const client = createClient({ url: server.url })
    const { text } = await client.conversation('desk', { id: 'chats/desk' }).run(`My card ${card} was charged twice.`)
    assert.equal(text, 'I will look into it.')
    client.close()
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  for (const width of [1440, 360])
    test(`what they found stands at the call, ${width} pixels wide`, async () => {
      const { page, complaints, close } = await openPage(browser, server.url, { width })
      await page.goto(`${server.url}/conversations/chats:desk`)
      await page.getByText('I will look into it.').first().waitFor()
      assert.equal(await page.getByText('4111').count(), 0)
      if (width < 500) await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.getByRole('treeitem').filter({ hasText: 'checks tone' }).first().waitFor()
      await page.getByRole('treeitem').first().click()
      const detail = page.getByTestId('detail')
      await detail.getByText('redacted a message to').waitFor()
      await detail.getByText('refused a reply of').first().waitFor()
      assert.ok(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'), 'it fits')
      await detail.getByText('redacted a message to').scrollIntoViewIfNeeded()
      await inspect(page, `guardrails-${width}`)
      assert.deepEqual(complaints, [])
      await close()
    })
})
