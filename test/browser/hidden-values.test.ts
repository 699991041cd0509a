/** No page of the Studio shows a hidden value, and none is sent one: every tab, every node, every model call, who read what, a preview and a trial. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { defineAgent, defineTool } from '@witan/core'
import { call, lastUserMessage, scriptedModel } from '@witan/core/testing'
import type { WitanServer } from '@witan/server'
import type { Browser, Page } from 'playwright-core'
import { z } from 'zod'
import { askingServer } from './support/asking-server.ts'
import { closePages, missing, openBrowser, openPage } from './support/browser.ts'

const secret = 'cny_4f1c9e77b2'
const shown = 'Reykjavik-7741'

/** Says the hidden value aloud, as its error or as its result. A result is stored as it is, and taken out where a model reads it. */
const careless = defineTool({
  ...{ name: 'careless', description: 'Says what it knows.', effect: 'none' as const },
  parameters: z.object({ fails: z.boolean() }),
  execute: ({ fails }, { parameters }) => {
    if (fails) throw new Error(`no such key: ${String(parameters.key)}`)
    return { key: parameters.key, city: parameters.city }
  },
})
const given = { key: { value: secret, sendToModel: false }, city: shown }
const parameters = [
  { name: 'key', description: 'A key', sendToModel: false, secret: true },
  { name: 'city', description: 'A city' },
]
const boss = scriptedModel(
  (request, turn) =>
    turn === 0
      ? call('careless', { fails: !lastUserMessage(request).includes('result') })
      : turn === 1
        ? call('leaf', { message: `Ask about ${shown}.` })
        : `It is in ${shown}.`,
  { id: 'scripted/boss' },
)
const agents = [
  defineAgent({
    ...{
      id: 'boss',
      name: 'Boss',
      instructions: 'Work.',
      description: 'Works.',
      model: boss,
      tools: [careless],
      parameters,
    },
    subAgents: [{ agent: 'leaf' }],
  }),
  defineAgent({
    ...{ id: 'leaf', name: 'Leaf', instructions: 'Work.', description: 'Works.', parameters, questions: true },
    model: scriptedModel((_, turn) =>
      turn === 0 ? call('ask_question', { questions: [{ id: 'q', text: `Is it right in ${shown}?` }] }) : 'Yes.',
    ),
  }),
]

describe('hidden values and the Studio', { skip: missing(), timeout: 240_000 }, () => {
  let browser: Browser
  let server: WitanServer
  before(async () => {
    browser = await openBrowser()
    server = await askingServer(agents)
    const client = createClient({ url: server.url })
    await client.conversation('boss', { id: 'chats/one', parameters: given }).run(`I am in ${shown}.`)
    client.close()
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  /** Everything in the page, also what is not seen, and everything that it has received. */
  async function watched(use: (page: Page, look: (what: string) => Promise<void>) => Promise<void>): Promise<void> {
    const { page, close } = await openPage(browser, server.url)
    const received: Promise<string>[] = []
    page.on('response', (response) => {
      // A stream has no end; what it brings stands in the page.
      const isStream = response.headers()['content-type']?.startsWith('text/event-stream') === true
      if (response.url().includes('/api/') && !isStream) received.push(response.text().catch(() => ''))
    })
    let seen = 0
    const look = async (what: string) => {
      const text = `${await page.content()}\n${await page.evaluate<string>("[...document.querySelectorAll('input, textarea')].map((one) => one.value).join('\\n')")}`
      const at = text.indexOf(secret)
      assert.equal(at < 0 ? '' : text.slice(Math.max(0, at - 200), at + 60), '', `${what} shows the hidden value`)
      if (text.includes(shown)) seen += 1
    }
    await use(page, look)
    for (const text of await Promise.all(received)) assert.ok(!text.includes(secret), `received: ${text.slice(0, 300)}`)
    assert.ok(seen > 0, 'what is not hidden is seen')
    await close()
  }

  test('a conversation: its chat, each node of its tree, each model call, its timeline, diagram and files, and who read what', () =>
    watched(async (page, look) => {
      await page.goto(`${server.url}/conversations/chats:one`)
      await page
        .getByRole('treeitem', { name: /^Model call/ })
        .nth(2)
        .waitFor()
      const ids = await page
        .getByRole('treeitem')
        .evaluateAll((all) => all.map((one) => one.getAttribute('data-call') ?? ''))
      assert.ok(ids.length >= 7, String(ids))
      for (const id of ids) {
        await page.locator(`[data-call="${id}"]`).click()
        await page.getByTestId('detail').waitFor()
        const folded = page.getByTestId('detail').getByRole('button', { name: /as before|Open document/ })
        if ((await folded.count()) > 0) await folded.first().click()
        if (id.startsWith('model-')) {
          await page.getByRole('list', { name: 'Messages' }).waitFor()
          await look(`the request of ${id}`)
          await page.getByRole('tab', { name: 'Reply' }).click()
        }
        await look(id)
      }
      for (const view of ['Timeline', 'Diagram', 'Files']) {
        await page.getByRole('tab', { name: view }).click()
        await look(view)
      }
      const client = createClient({ url: server.url })
      const { lastSeq } = await client.conversations.get('chats/one')
      client.close()
      for (let seq = 1; seq <= lastSeq; seq += 1) {
        await page.goto(`${server.url}/conversations/chats:one?readers=${seq}`)
        await page
          .getByRole('dialog')
          .getByRole('list', { name: 'Readers' })
          .or(page.getByText('No model has read'))
          .waitFor()
        await look(`who read ${seq}`)
      }
    }))

  test('the pages of its agents with a preview and a trial for that value, and the other pages', () =>
    watched(async (page, look) => {
      await page.goto(`${server.url}/agents/boss`)
      const form = page.getByRole('form', { name: 'Parameters' })
      await form.getByRole('textbox', { name: /key/ }).fill(secret)
      await form.getByRole('textbox', { name: /city/ }).fill(shown)
      await page.keyboard.press('Enter')
      await page.getByText(`city = "${shown}"`).waitFor()
      // What somebody has just typed stands in its field.
      await form.getByRole('textbox', { name: /key/ }).fill('')
      await look('a preview')
      await page.getByRole('button', { name: 'Try careless' }).click()
      const dialog = page.getByRole('dialog', { name: 'Try careless' })
      for (const fails of ['true', 'false']) {
        await dialog.getByRole('combobox', { name: /fails/ }).selectOption(fails)
        await dialog.getByRole('textbox', { name: /key/ }).fill(secret)
        await dialog.getByRole('textbox', { name: /city/ }).fill(shown)
        await dialog.getByRole('button', { name: 'Run' }).click()
        await dialog
          .getByText(fails === 'true' ? 'no such key' : shown, { exact: false })
          .first()
          .waitFor()
        await dialog.getByRole('textbox', { name: /key/ }).fill('')
        await look(`a trial, fails: ${fails}`)
      }
      for (const path of [
        '/agents/boss/definition',
        '/agents/boss/revisions',
        '/conversations',
        '/waiting',
        '/health',
      ]) {
        await page.goto(`${server.url}${path}`)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.getByText('Loading').first().waitFor({ state: 'detached' })
        await look(path)
      }
    }))

  // The words of a person stand in every list as they were typed, so this comes last.
  test('what a model was asked, where a person has typed the value and a tool has returned it', async () => {
    const client = createClient({ url: server.url })
    await client
      .conversation('boss', { id: 'chats/two', parameters: given })
      .run(`My key is ${secret}, and I want a result in ${shown}.`)
    client.close()
    const { page, close } = await openPage(browser, server.url)
    const received: Promise<string>[] = []
    page.on('response', (response) => {
      if (/model-calls/.test(response.url())) received.push(response.text())
    })
    await page.goto(`${server.url}/conversations/chats:two`)
    const rows = page.getByRole('treeitem', { name: /^Model call/ })
    await rows.nth(2).waitFor()
    for (let at = 0; at < 2; at += 1) {
      await rows.nth(at).click()
      const detail = page.getByRole('region', { name: /^Details of Model call/ })
      await detail.getByText('Hidden values are replaced by [hidden] here.').waitFor()
      const before = detail.getByRole('button', { name: /as before/ })
      if ((await before.count()) > 0) await before.click()
      await detail.getByText('My key is [hidden]').waitFor()
      const html = await detail.evaluate((one) => one.innerHTML)
      // The way back to the message has its words as they were typed.
      assert.ok(!html.replace(/<button[^>]*>My key is .*?<\/button>/, '').includes(secret), html)
    }
    for (const text of await Promise.all(received)) assert.ok(!text.includes(secret), text.slice(0, 300))
    assert.ok(received.length >= 3)
    await close()
  })
})
