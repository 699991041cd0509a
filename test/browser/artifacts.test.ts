/** Files that agents made, in the Studio: named where they were saved, shown without being run, saved, and drawn with what they came from. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { defineAgent, defineTool, type FunctionContext } from '@witan/core'
import { call, lastUserMessage, scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import type { Browser, Page } from 'playwright-core'
import { z } from 'zod'
import { payloads } from './support/canned-agents.ts'
import { closePages, missing, openBrowser, openPage, inspect } from './support/browser.ts'

const script = '<script>window.__attacked=1; document.title = "owned"; alert(1)</script>'
const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="240" height="90" onload="window.__attacked=1">${script}
<image href="https://attacker.example/pixel.png" width="9" height="9"/><rect x="8" y="30" width="70" height="30" fill="#2563eb"/>
<rect x="150" y="30" width="70" height="30" fill="#16a34a"/><path d="M78 45h72" stroke="#475569" stroke-width="2"/></svg>`
const report = `# Order to cash\n\nThe log has **3 cases**.\n\n| step | times |\n| --- | ---: |\n| order | 3 |\n\n${payloads.join('\n\n')}`
const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const attack = 'a"><img src=x onerror=alert(1)>.html'

type Saves = (context: FunctionContext) => Promise<unknown>

const saving = (name: string, saves: Saves) =>
  defineTool({
    name,
    description: 'Saves files.',
    parameters: z.object({}),
    execute: async (_, context) => String(await saves(context)),
  })
/** Reads everything that was saved so far, so that it counts as input. */
let saved: string[] = []
const mine = saving('mine', async ({ artifacts }) => {
  const { id } = await artifacts.save({ name: 'log.csv', mediaType: 'text/csv', text: 'case,step\n1,order\n' })
  await artifacts.read(id)
  saved = [id]
  return id
})
const discover = saving('discover', async ({ artifacts }) => {
  for (const id of saved) await artifacts.read(id)
  const model = await artifacts.save({ name: 'model.svg', mediaType: 'image/svg+xml', text: svg })
  const data = await artifacts.save({
    name: 'model.json',
    mediaType: 'application/json',
    text: JSON.stringify({ places: 3, note: script }),
  })
  saved = [model.id, data.id]
  return saved
})
const write = saving('write', async ({ artifacts }) => {
  for (const id of saved) await artifacts.read(id)
  await artifacts.save({ name: 'report.md', mediaType: 'text/markdown', text: report })
  await artifacts.save({ name: attack.replaceAll('/', '_'), mediaType: 'text/html', text: script })
  await artifacts.save({ name: 'dot.png', mediaType: 'image/png', bytes: Buffer.from(dot, 'base64') })
  await artifacts.save({ name: 'broken.png', mediaType: 'image/png', text: script })
  await artifacts.save({ name: 'all.zip', mediaType: 'application/zip', bytes: new Uint8Array([80, 75, 3, 4]) })
  await artifacts.save({ name: 'long.txt', mediaType: 'text/plain', text: `begin ${'x'.repeat(9_999)}\n`.repeat(400) })
  return 'written'
})

const model = (id: string, steps: readonly string[]) =>
  scriptedModel(
    (request, turn) => {
      const next = steps[turn]
      if (next === undefined || lastUserMessage(request) === 'nothing') return 'The report is there.'
      return call(next, next.startsWith('process') || next === 'writer' ? { message: 'Go on.' } : {})
    },
    { id: `scripted/${id}` },
  )
const description = 'Goes on.'
const agents = [
  defineAgent({
    id: 'lead',
    name: 'Lead analyst',
    instructions: 'Lead.',
    model: model('lead', ['process-miner', 'writer']),
    subAgents: [
      { agent: 'process-miner', description },
      { agent: 'writer', description },
    ],
  }),
  defineAgent({
    id: 'process-miner',
    name: 'Process miner',
    instructions: 'Mine.',
    model: model('process-miner', ['mine', 'discover']),
    tools: [mine, discover],
  }),
  defineAgent({
    id: 'writer',
    name: 'Writer',
    instructions: 'Write.',
    model: model('writer', ['write']),
    tools: [write],
  }),
]

describe('artifacts in the Studio', { skip: missing(), timeout: 300_000 }, () => {
  let browser: Browser
  let server: WitanServer

  before(async () => {
    browser = await openBrowser()
    const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
    server = await startServer({ ...config, auth: { mode: 'local' }, server: { ...config.server, port: 0 }, agents })
    const client = createClient({ url: server.url, token: server.token ?? '' })
    const chat = client.conversation('lead', { id: 'chats/1' })
    await chat.run('Look into the process, please.')
    await client.conversation('lead', { id: 'chats/2' }).run('nothing')
    client.close()
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  const opened = async (conversation: string, width?: number) => {
    const options = width === undefined ? {} : { width }
    const watched = await openPage(browser, server.url, options)
    await watched.page.goto(`${server.url}/conversations/${conversation}?token=${server.token}`)
    await watched.page.locator('[data-testid=answer][data-state=completed]').first().waitFor()
    return watched
  }
  const list = (page: Page) => page.getByRole('list', { name: 'Files of this conversation' })
  const choose = (page: Page, name: string) => list(page).getByRole('button', { name }).first().click()
  const detail = (page: Page) => page.getByTestId('artifact')
  const wasAttacked = (page: Page) =>
    page.evaluate('window.__attacked === 1 || document.title === "owned"') as Promise<boolean>

  test('[T31] the chat names what was saved, and shows it; a report is Markdown, and nothing in it runs or is fetched', async () => {
    const { page, complaints, close } = await opened('chats:1')
    const chips = page.getByTestId('chat').getByRole('list', { name: 'Saved files' })
    assert.equal(await chips.getByRole('button').count(), 8)
    await chips.getByText('and 1 more').waitFor()
    await chips.getByRole('button', { name: 'report.md' }).click()
    const text = detail(page).getByTestId('answer-text')
    await text.getByRole('heading', { name: 'Order to cash' }).waitFor()
    await text.getByRole('table').waitFor()
    assert.equal(await text.locator('img, script, iframe, svg').count(), 0)
    assert.equal(await text.locator('a[href^="javascript"]').count(), 0)
    await inspect(page, 'artifacts-report')
    assert.equal(await wasAttacked(page), false)
    await detail(page).getByRole('button', { name: 'Its call in run 1' }).click()
    const row = page.getByTestId('tree').locator('[aria-selected=true]')
    await row.getByText('saved 6 files: report.md').waitFor()
    await page.getByTestId('detail').getByRole('list', { name: 'Saved files' }).getByText('dot.png').waitFor()
    assert.deepEqual(complaints, [])
    await close()
  })

  test('[T31] drawings and pages are text, a drawing is a picture when asked for, and no script of either runs', async () => {
    const { page, complaints, close } = await opened('chats:1')
    await page.getByRole('tab', { name: 'Files (9)' }).click()
    await inspect(page, 'artifacts')
    await choose(page, 'model.svg')
    await detail(page).getByTestId('artifact-text').getByText('window.__attacked=1; document').waitFor()
    assert.equal(await detail(page).getByRole('img').count(), 0)
    await detail(page)
      .getByRole('button', { name: /Show the picture/ })
      .click()
    const shown = detail(page).getByRole('img', { name: 'model.svg' })
    await shown.waitFor()
    assert.equal(
      await page.evaluate(
        '(async () => { const i = document.querySelector("[data-testid=artifact] img"); await i.decode(); return i.naturalWidth })()',
      ),
      240,
    )
    await inspect(page, 'artifacts-drawing')
    await choose(page, attack.replaceAll('/', '_'))
    await detail(page).getByTestId('artifact-text').getByText('document.title').waitFor()
    await choose(page, 'model.json')
    assert.match((await detail(page).getByTestId('artifact-text').textContent()) ?? '', /^\{\n {2}"places": 3,/)
    await choose(page, 'dot.png')
    await detail(page).getByRole('img', { name: 'dot.png' }).waitFor()
    await choose(page, 'broken.png')
    await detail(page).getByText('The browser cannot show this picture.').waitFor()
    await choose(page, 'all.zip')
    await detail(page).getByText('There is no preview of application/zip').waitFor()
    assert.equal(await wasAttacked(page), false)
    assert.deepEqual(complaints, [])
    await close()
  })

  test('[T31] of a long text only the beginning is read; a file is saved under its name', async () => {
    const { page, complaints, close } = await opened('chats:1')
    await page.getByRole('tab', { name: 'Files (9)' }).click()
    await choose(page, 'long.txt')
    await detail(page).getByText('This is the beginning; the file has 4.0 MB.').waitFor()
    const text = (await detail(page).getByTestId('artifact-text').locator('pre').textContent()) ?? ''
    assert.equal(text.length, 100_000)
    for (const name of ['model.svg', attack.replaceAll('/', '_')]) {
      await choose(page, name)
      const link = detail(page).getByRole('link', { name: 'Save' })
      const [file] = await Promise.all([page.waitForEvent('download'), link.click()])
      assert.ok(!/[/\\<>"]/.test(file.suggestedFilename()), file.suggestedFilename())
      const address = await link.getAttribute('href')
      const [visited] = await Promise.all([
        page.waitForEvent('download'),
        page.evaluate(`window.location.assign(${JSON.stringify(address)})`),
      ])
      assert.notEqual(visited, undefined, 'its address is saved, too, and not shown')
    }
    assert.equal(await wasAttacked(page), false)
    assert.deepEqual(complaints, [])
    await close()
  })

  test('[Tb30] the lineage is drawn: which file came from which, by which agent', async () => {
    const { page, complaints, close } = await opened('chats:1')
    await page.getByRole('tab', { name: 'Files (9)' }).click()
    const lineage = page.getByTestId('lineage')
    await lineage.getByRole('button', { name: 'model.svg' }).waitFor()
    assert.equal(await lineage.getByRole('button').count(), 9)
    assert.equal(await lineage.getByTestId('lineage-edge').count(), 2 + 6 * 2)
    await list(page).getByRole('button', { name: 'report.md' }).getByText('from model.svg, model.json').waitFor()
    await lineage.getByRole('button', { name: 'model.json' }).click()
    await detail(page).getByText('"places": 3').waitFor()
    await choose(page, 'report.md')
    const own = detail(page).getByTestId('lineage')
    await own.getByRole('button', { name: /log.csv.*Process miner/ }).waitFor()
    assert.deepEqual([await own.getByRole('button').count(), await own.getByTestId('lineage-edge').count()], [4, 4])
    await own.scrollIntoViewIfNeeded()
    await inspect(page, 'artifacts-lineage')
    assert.deepEqual(complaints, [])
    await close()
  })

  test('on a narrow page all is there, and a conversation without files says what belongs here', async () => {
    const { page, complaints, close } = await opened('chats:1', 390)
    await page.getByTestId('chat').getByRole('button', { name: 'report.md' }).click()
    await detail(page).getByRole('heading', { name: 'Order to cash' }).waitFor()
    await inspect(page, 'artifacts-narrow')
    await detail(page).getByTestId('lineage').scrollIntoViewIfNeeded()
    await inspect(page, 'artifacts-narrow-lineage')
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'), true)
    await close()
    const empty = await opened('chats:2')
    await empty.page.getByRole('tab', { name: 'Files', exact: true }).click()
    await empty.page.getByText('No files yet.').waitFor()
    assert.deepEqual([...complaints, ...empty.complaints], [])
    await empty.close()
  })
})
