/**
 * The pages of agents and conversations by role and name, as outside readers and scripts address them: wide and narrow, in light and in dark,
 * by the keys alone. In each state axe finds nothing.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { defineAgent, defineTool } from '@witan/core'
import { call, lastUserMessage, scriptedModel } from '@witan/core/testing'
import type { WitanServer } from '@witan/server'
import type { Browser, Page } from 'playwright-core'
import { z } from 'zod'
import { askingServer } from './support/asking-server.ts'
import { violationsOf } from './support/axe.ts'
import { closePages, missing, openBrowser, openPage } from './support/browser.ts'

const look = defineTool({
  ...{ name: 'look', description: 'Looks something up.', effect: 'none' as const },
  parameters: z.object({ what: z.string() }),
  execute: ({ what }) => `found ${what}`,
})
const work = { instructions: 'You work.', description: 'Works.' }
const tenant = { name: 'tenant', description: 'Whose data', sendToModel: true }
const boss = scriptedModel(
  (request, turn) => {
    if (lastUserMessage(request).includes('break')) return new Error('the model broke')
    if (turn === 0)
      return {
        toolCalls: [
          { name: 'look', arguments: { what: 'it' } },
          { name: 'leaf', arguments: { message: 'Go.' } },
        ],
      }
    return turn === 1 ? call('look', { what: 'more' }) : 'All is **done**.'
  },
  { id: 'local/big' },
)

const agents = [
  defineAgent({
    ...{ ...work, id: 'boss', name: 'Boss', model: boss, tools: [look], subAgents: [{ agent: 'leaf' }] },
    parameters: [tenant, { name: 'spare', description: 'Read by nobody', sendToModel: false }],
  }),
  defineAgent({
    ...work,
    id: 'leaf',
    name: 'Leaf',
    model: scriptedModel(() => 'Gone.', { id: 'local/small' }),
    parameters: [tenant],
  }),
]

const views = [1440, 360].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
)

describe('the pages by role and name', { skip: missing(), timeout: 300_000 }, () => {
  let browser: Browser
  let server: WitanServer
  before(async () => {
    browser = await openBrowser()
    server = await askingServer(agents)
    const client = createClient({ url: server.url })
    const parameters = { tenant: 'acme', spare: 'x' }
    const chat = client.conversation('boss', { id: 'chats/one', parameters })
    await chat.run('Please begin.')
    await chat.run('Go on.')
    await client
      .conversation('boss', { id: 'chats/broken', parameters })
      .run('Please break.')
      .catch(() => {})
    client.close()
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  /** Each of the four views of a page, and nothing that it should not do. */
  async function inViews(path: string, use: (page: Page, isNarrow: boolean) => Promise<void>): Promise<void> {
    for (const { width, colorScheme } of views) {
      const { page, complaints, close } = await openPage(browser, server.url, { width })
      await page.emulateMedia({ colorScheme })
      await page.goto(`${server.url}${path}`)
      await use(page, width < 500)
      assert.ok(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'), `${path} at ${width}`)
      assert.deepEqual(complaints, [])
      await close()
    }
  }

  const clean = async (page: Page, what: string) => assert.deepEqual(await violationsOf(page), [], what)
  const focusName = (page: Page) =>
    page.evaluate<string>(
      "(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent ?? '').trim()",
    )

  /** Goes on with Tab until what has the focus has this name. Whatever gets it on the way shows that it has it. */
  async function tabTo(page: Page, name: RegExp): Promise<void> {
    const passed: string[] = []
    for (let times = 0; times < 80; times += 1) {
      await page.keyboard.press('Tab')
      const at = await focusName(page)
      passed.push(at.slice(0, 30))
      const ring = await page.evaluate<string>(
        "(({ outlineStyle, outlineWidth }) => outlineStyle + ' ' + outlineWidth)(getComputedStyle(document.activeElement))",
      )
      if (at !== '') assert.match(ring, /^(?:solid|auto) [1-9]/, `the focus on "${at}" is not seen`)
      if (name.test(at)) return
    }
    assert.fail(`Tab does not lead to ${name}: ${passed.join(' | ')}`)
  }

  test('an agent: the link over everything, its list, its tabs, its regions in their order, and its tools', () =>
    inViews('/agents/boss', async (page, isNarrow) => {
      await page.getByRole('region', { name: 'Tools' }).getByRole('listitem').first().waitFor()
      await page.getByRole('heading', { name: 'System message' }).waitFor()
      await page.keyboard.press('Tab')
      assert.equal(await focusName(page), 'Skip to the page')
      assert.ok(await page.getByRole('banner').getByRole('navigation', { name: 'Main' }).isVisible())
      if (!isNarrow) await page.getByRole('navigation', { name: 'Agents' }).getByRole('link').first().waitFor()
      const regions = await page
        .getByRole('tabpanel')
        .getByRole('region')
        .evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))
      const wanted = ['Findings', 'Graph', 'Parameters', 'Tools', 'What its model reads']
      assert.deepEqual(
        regions.filter((one) => wanted.includes(one ?? '')),
        wanted,
      )
      // A narrow screen has a list in place of the drawing.
      if (!isNarrow) await page.getByRole('list', { name: 'Legend' }).waitFor()
      await page.getByRole('list', { name: 'Edges' }).getByText('boss asks leaf', { exact: true }).waitFor()
      await page.getByRole('table', { name: 'Who gets which parameter' }).getByRole('row').nth(1).waitFor()
      const tool = page
        .getByRole('list', { name: 'Tools' })
        .getByRole('listitem')
        .filter({ hasText: 'Looks something up.' })
      for (const words of ['function', 'only reads', 'Arguments'])
        await tool.getByText(words, { exact: true }).first().waitFor()
      await page.getByRole('form', { name: 'Parameters' }).waitFor()
      await page.getByText(/^About [\d,]+ tokens/).waitFor()
      await clean(page, 'an agent')
      await tabTo(page, /^Overview$/)
      await tabTo(page, /^Try look$/)
      await page.keyboard.press('Enter')
      const dialog = page.getByRole('dialog', { name: 'Try look' })
      await dialog.waitFor()
      await dialog.getByRole('textbox', { name: /what/ }).fill('this')
      await dialog.getByRole('textbox', { name: /tenant/ }).fill('acme')
      await page.keyboard.press('Enter')
      await dialog.getByText('found this').waitFor()
      await clean(page, 'trying a tool')
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      assert.equal(await focusName(page), 'Try look', 'the focus goes back')
      await page
        .getByRole('form', { name: 'Parameters' })
        .getByRole('textbox', { name: /tenant/ })
        .fill('a-tenant')
      await page.keyboard.press('Enter')
      await page.getByText('tenant = "a-tenant"').waitFor()
    }))

  test('the tree: model calls among the calls, hidden by a box, and one in full with its tabs', () =>
    inViews('/conversations/chats:one', async (page, isNarrow) => {
      await page.getByTestId('answer').nth(1).waitFor()
      if (isNarrow) await page.getByRole('button', { name: 'Run', exact: true }).click()
      const tree = page.getByRole('region', { name: 'Run' }).getByRole('tree', { name: 'Calls of this run' })
      const model = tree.getByRole('treeitem', { name: /^Model call 2, local\/big, [\d,]+ tokens, [\d.]+ m?s$/ })
      await model.waitFor()
      for (const [at, level, of] of [
        ['1', '2', '6'],
        ['6', '2', '6'],
      ] as const) {
        const item = tree.locator(`[aria-level="${level}"][aria-posinset="${at}"][aria-setsize="${of}"]`)
        assert.equal(await item.count(), 1, `${at} of ${of}`)
      }
      await tabTo(page, /^Tree$/)
      await tabTo(page, /Boss/)
      for (let times = 0; times < 20 && !/^Model call 2/.test(await focusName(page)); times += 1)
        await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      const detail = page.getByRole('region', { name: /^Details of Model call 2, local\/big/ })
      await detail.getByRole('tablist', { name: 'Model call' }).getByRole('tab', { name: 'Request' }).waitFor()
      const messages = detail.getByRole('list', { name: 'Messages' }).getByRole('listitem')
      const folded = await messages.allTextContents()
      await tabTo(page, /^\d+ messages as before$/)
      const before = Number.parseInt(await focusName(page), 10)
      await page.keyboard.press('Enter')
      await messages.nth(folded.length + before - 1).waitFor()
      for (const text of await messages.allTextContents())
        assert.match(text, /^(?:system|user|assistant Boss|tool (?:look|leaf))/)
      await detail.getByRole('list', { name: 'Tools' }).getByText('look', { exact: true }).waitFor()
      await detail.getByText('Tool choice').waitFor()
      await detail.getByText('This is exactly what was sent.').waitFor()
      await clean(page, 'a model call')
      await page.getByRole('checkbox', { name: 'Model calls' }).focus()
      await page.keyboard.press('Space')
      await model.waitFor({ state: 'detached' })
      await page.keyboard.press('Space')
      await model.waitFor()
    }))

  test('a model call that is not exact, is masked, was tried again or is cut says so in words', async () => {
    const { page, complaints, close } = await openPage(browser, server.url)
    await page.route(/\/model-calls\/\d+$/, async (route) => {
      const body = (await (await route.fetch()).json()) as object
      const retries = [{ at: '2026-01-01T00:00:00.000Z', detail: '429, waited 800 ms' }]
      const changed = {
        exact: false,
        changed: ['tools', 'settings'],
        masked: true,
        leftOut: 3,
        tries: 2,
        retries,
        costUsd: 0.0012,
      }
      await route.fulfill({ json: { ...body, ...changed } })
    })
    await page.goto(`${server.url}/conversations/chats:one`)
    await page.getByRole('treeitem', { name: /^Model call 1, local\/big/ }).click()
    const detail = page.getByRole('region', { name: /^Details of Model call/ })
    for (const words of [
      'This is computed, and not exactly what was sent: tools, settings changed since.',
      'Hidden values are replaced by [hidden] here.',
      '3 messages, the oldest, are left out: the request is too long to show.',
      '2: 429, waited 800 ms',
      '$0.0012',
    ])
      await detail.getByText(words).waitFor()
    await clean(page, 'a model call that is not exact')
    assert.deepEqual(complaints, [])
    await close()
  })

  test('the timeline and the diagram: their tabs by the keys, their items in words, and the address', () =>
    inViews('/conversations/chats:one', async (page, isNarrow) => {
      await page.getByTestId('answer').nth(1).waitFor()
      if (isNarrow) await page.getByRole('button', { name: 'Run', exact: true }).click()
      const tab = (name: string) => page.getByRole('tablist', { name: 'Run views' }).getByRole('tab', { name })
      await tabTo(page, /^Tree$/)
      await page.keyboard.press('ArrowRight')
      const items = page.getByRole('list', { name: 'Timeline' }).getByRole('listitem')
      await items.filter({ hasText: 'Leaf' }).waitFor()
      for (const words of await items.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label'))))
        assert.match(words ?? '', /^\S.*, from \d+\.\d s, worked \d+\.\d s, waited \d+\.\d s$/)
      assert.match(page.url(), /view=timeline/)
      await clean(page, 'the timeline')
      await page.keyboard.press('ArrowRight')
      const arrows = page.getByRole('list', { name: 'Who said what to whom' }).getByRole('listitem')
      await arrows.first().waitFor()
      const said = await arrows.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))
      assert.deepEqual(said, [
        '1. user to boss: Go on.',
        '2. boss to leaf: Go.',
        '3. leaf to boss: Gone.',
        '4. boss to user: All is done.',
      ])
      assert.match(page.url(), /view=diagram/)
      await clean(page, 'the diagram')
      await page.getByRole('button', { name: 'Full screen' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Full screen', pressed: true }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Full screen', pressed: false }).waitFor()
      await tab('Diagram').focus()
      await page.keyboard.press('Home')
      await page.getByRole('tree').waitFor()
    }))

  test('an agent has one colour and sign on every page, in every theme, and after another agent has come', async () => {
    const signs = new Map<string, Set<string>>()
    for (const { width, colorScheme } of views) {
      const { page, close } = await openPage(browser, server.url, { width })
      await page.emulateMedia({ colorScheme })
      for (const path of ['/agents', '/conversations', '/conversations/chats:one']) {
        await page.goto(`${server.url}${path}`)
        await page.locator('#page').getByText('Boss').first().waitFor({ state: 'attached' })
        const found = await page.evaluate<readonly string[]>(
          "[...document.querySelectorAll('.agent-sign')].map((one) => one.textContent + ' ' + one.style.getPropertyValue('--hue'))",
        )
        for (const sign of found) signs.set(sign[0] ?? '', (signs.get(sign[0] ?? '') ?? new Set()).add(sign))
      }
      await close()
    }
    for (const letter of ['B', 'L'])
      assert.equal(signs.get(letter)?.size, 1, `${letter}: ${[...(signs.get(letter) ?? [])]}`)
  })
})
