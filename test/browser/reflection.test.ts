/** Reflection in the Studio: the draft is replaced in the chat, and the critique stands in the tree and at its agent. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { defineAgent, type ModelRequest } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import type { WitanServer } from '@witan/server'
import type { Browser } from 'playwright-core'
import { agentsServer } from './support/agents-server.ts'
import { closePages, inspect, missing, openBrowser, openPage } from './support/browser.ts'

const hostile = 'It names <b>no price</b>\u202e, and says "cheap" where the person had asked for a figure in euros'

describe('reflection in the Studio', { skip: missing(), timeout: 300_000 }, () => {
  let browser: Browser
  let server: WitanServer
  const play = ({ messages }: ModelRequest) => {
    const asked = messages.at(-1)?.content ?? ''
    if (asked.includes('"task":"check"'))
      return JSON.stringify({ verdict: 'revise', problems: [hostile, 'Too short.'] })
    return asked.includes('"task":"revise"') ? 'It costs 30 euros.' : 'It is cheap.'
  }

  before(async () => {
    browser = await openBrowser()
    server = await agentsServer(
      defineAgent({
        ...{ id: 'travel', instructions: 'Find trains.', enableReflection: true },
        reflection: { criteria: 'It names a price.' },
        model: scriptedModel(play, { id: 'play/travel' }),
      }),
    )
    const client = createClient({ url: server.url })
    const { text } = await client.conversation('travel', { id: 'chats/trip' }).run('What does it cost?')
    assert.equal(text, 'It costs 30 euros.')
    client.close()
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  for (const width of [1440, 360])
    test(`[F08] shows what was wrong with an answer, and only the answer that stands, ${width} pixels wide`, async () => {
      const { page, complaints, close } = await openPage(browser, server.url, { width })
      await page.goto(`${server.url}/conversations/chats:trip`)
      await page.getByText('It costs 30 euros.').first().waitFor()
      assert.equal(await page.getByText('It is cheap.').count(), 0)
      if (width < 500) await page.getByRole('button', { name: 'Run', exact: true }).click()
      const row = page.getByRole('treeitem').first()
      await row.getByText('revised', { exact: true }).waitFor()
      await row.click()
      const critique = page.getByTestId('detail').getByRole('list', { name: 'Critique', exact: true })
      await critique.getByText('travel found problems, and asked for another answer.').waitFor()
      await critique.getByText('Too short.').waitFor()
      await critique.getByText('It names <b>no price</b>\\u202e, and says').waitFor()
      assert.ok(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'), 'it fits')
      await critique.scrollIntoViewIfNeeded()
      await inspect(page, `reflection-${width}`)
      assert.deepEqual(complaints, [])
      await close()
    })
})
