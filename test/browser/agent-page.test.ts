/** The page of an agent against a real server: how its lines are drawn, whom its tools reach; and what the badge counts. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { defineAgent } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import type { WitanServer } from '@witan/server'
import type { Browser, Page } from 'playwright-core'
import { askingServer } from './support/asking-server.ts'
import { closePages, missing, openBrowser, openPage } from './support/browser.ts'

const asks = (id: string, name: string, args: object) =>
  scriptedModel((_, turn) => (turn === 0 ? call(name, args as never) : 'Noted.'), { id: `scripted/${id}` })
const quiet = (id: string) => scriptedModel(() => 'Done.', { id: `scripted/${id}` })
const work = { instructions: 'Work.', description: 'Works.' }
const question = { id: 'q', text: 'Well?' }

/** The line from the lead to the last agent crosses the layers of the two between them. */
const agents = [
  defineAgent({
    ...{ ...work, id: 'lead', model: asks('lead', 'ask_user', { user: 'bob', message: 'So?' }) },
    users: [{ id: 'anna' }, { id: 'bob' }],
    subAgents: [{ agent: 'last' }, { agent: 'near', blocking: 'never' as const }, { agent: 'mid' }],
    transfers: [{ agent: 'mid' }],
    remotes: [{ name: 'depot', address: 'depot@far.test', description: 'Sells.' }],
  }),
  defineAgent({ ...work, id: 'near', model: quiet('near'), subAgents: [{ agent: 'mid' }] }),
  defineAgent({ ...work, id: 'mid', model: quiet('mid'), subAgents: [{ agent: 'last' }] }),
  defineAgent({ ...work, id: 'last', model: quiet('last'), transfers: [{ agent: 'near' }] }),
  defineAgent({
    ...{ ...work, id: 'quiz', model: asks('quiz', 'ask_question', { questions: [question] }), questions: true },
  }),
]

/** The lines that pass behind an agent other than their ends, as the browser draws them. */
const hidden = `[...document.querySelectorAll('.react-flow__edge')].flatMap((edge) => {
  const [from, , to] = edge.getAttribute('aria-label').split(/[ :]/)
  const path = edge.querySelector('.react-flow__edge-path')
  const matrix = path.getScreenCTM()
  const boxes = [...document.querySelectorAll('.react-flow__node')]
    .filter((node) => ![from, to].includes(node.dataset.id))
    .map((node) => [node.dataset.id, node.getBoundingClientRect()])
  return Array.from({ length: 400 }, (_, at) => path.getPointAtLength((path.getTotalLength() * at) / 399).matrixTransform(matrix))
    .flatMap(({ x, y }) => boxes.filter(([, box]) => x > box.left && x < box.right && y > box.top && y < box.bottom))
    .map(([id]) => from + ' to ' + to + ' behind ' + id)
})`

/** The contrast of a line of the legend with what it stands on. */
const contrastOfLines = `(() => {
  const luminance = (colour) => {
    const context = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d')
    context.fillStyle = colour
    context.fillRect(0, 0, 1, 1)
    const parts = [...context.getImageData(0, 0, 1, 1).data].slice(0, 3)
      .map((value) => value / 255)
      .map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
  }
  const line = luminance(getComputedStyle(document.querySelector('[aria-label=Legend] path')).stroke)
  const ground = luminance(getComputedStyle(document.querySelector('[aria-label=Legend]').parentElement).backgroundColor)
  return (Math.max(line, ground) + 0.05) / (Math.min(line, ground) + 0.05)
})()`

describe('the page of an agent', { skip: missing() }, () => {
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

  async function inPage(use: (page: Page) => Promise<void>): Promise<void> {
    const { page, complaints, close } = await openPage(browser, server.url)
    try {
      await page.goto(`${server.url}/agents/lead`)
      await use(page)
      assert.deepEqual(complaints, [])
    } finally {
      await close()
    }
  }

  test('draws a line of its own for each kind of edge, and its legend has each as it is drawn', () =>
    inPage(async (page) => {
      const line = (words: string) => `.react-flow__edge[aria-label="${words}"] .react-flow__edge-path`
      await page.locator(line('lead to near: subAgents')).waitFor({ state: 'attached' })
      const legend = page.getByRole('list', { name: 'Legend' })
      const lookOf = (selector: string) =>
        page.evaluate<string>(
          `(({ strokeDasharray, strokeWidth, stroke }) => [strokeDasharray.replaceAll('px', ''), strokeWidth, stroke].join(' | '))(getComputedStyle(document.querySelector('${selector}')))`,
        )
      const drawn = new Map<string, string>()
      for (const [words, look, meaning] of [
        ['lead to last: subAgents', 'asks', 'asks, and waits for the answer'],
        ['lead to near: subAgents', 'background', 'asks, and may go on meanwhile'],
        ['lead to mid: transfers', 'transfers', 'hands over'],
        ['lead to bob: users', 'users', 'may ask a person'],
        ['lead to @depot@far.test: remotes', 'remotes', 'calls on another server'],
      ] as const) {
        await legend.getByText(meaning, { exact: true }).waitFor()
        const seen = await lookOf(line(words))
        assert.equal(await lookOf(`[aria-label=Legend] [data-look=${look}] path`), seen, meaning)
        drawn.set(seen, meaning)
      }
      assert.equal(drawn.size, 5, [...drawn.keys()].join(' / '))
      assert.equal(await legend.getByRole('listitem').count(), 5)
    }))

  test('draws the lines between the same two agents beside each other', () =>
    inPage(async (page) => {
      const starts = (kinds: string) =>
        page.evaluate<string>(
          `document.querySelector('.react-flow__edge[aria-label="lead to mid: ${kinds}"] .react-flow__edge-path').getAttribute('d')`,
        )
      await page.locator('.react-flow__edge').nth(7).waitFor({ state: 'attached' })
      assert.notEqual(await starts('transfers'), await starts('subAgents'))
    }))

  for (const colorScheme of ['light', 'dark'] as const)
    test(`its lines can be seen, ${colorScheme}`, () =>
      inPage(async (page) => {
        await page.emulateMedia({ colorScheme })
        await page.locator('.react-flow__edge').first().waitFor({ state: 'attached' })
        const contrast = await page.evaluate<number>(contrastOfLines)
        assert.ok(contrast >= 4.5, `${contrast}`)
      }))

  test('leads no line behind an agent', () =>
    inPage(async (page) => {
      // Seven to agents, two to people, one elsewhere.
      await page.locator('.react-flow__edge').nth(9).waitFor({ state: 'attached' })
      assert.deepEqual([...new Set((await page.evaluate(hidden)) as string[])], [])
    }))

  test('lists the tools that reach one of its people, and all of them', () =>
    inPage(async (page) => {
      const tools = page.getByTestId('tools').locator('li')
      await tools.filter({ hasText: 'ask_user' }).getByText('Reaches anna, bob.').waitFor()
      await tools.filter({ hasText: 'ask_all_users' }).getByText('Asks all of them at once').waitFor()
    }))

  test('the badge and the page of what waits leave out what somebody else is asked', () =>
    inPage(async (page) => {
      const client = createClient({ url: server.url })
      for (const agent of ['lead', 'quiz']) await client.conversation(agent).run('Go.')
      const { items } = await client.interruptions.list({ state: 'open' })
      assert.deepEqual(items.map(({ addressee }) => addressee).sort(), ['bob', null])
      client.close()
      await page.reload()
      const link = page.getByTestId('waiting-link')
      await link.getByText('1 for you').waitFor()
      assert.equal(await page.title(), '(1) Witan Studio')
      await link.click()
      await page.getByRole('heading', { name: 'Waits for you' }).waitFor()
      await page.getByText('Well?').waitFor()
      assert.equal(await page.getByText('So?').count(), 0)
    }))
})
