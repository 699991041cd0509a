/** MCP servers in the Studio, whatever they say: how each stands, its tools and pins, asking it anew, and what it asks people. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { shownText } from '@witan/protocol/shown'
import type { McpServerTool, McpServerView } from '@witan/protocol/tools'
import type { WitanServer } from '@witan/server'
import type { Browser, Page } from 'playwright-core'
import { closePages, inspect, missing, openBrowser, openPage } from './support/browser.ts'
import { card, main, refresh, serve, toolsOf } from './support/mcp.ts'

const hostile =
  '<img src=x onerror="alert(1)"> \u001b[31mred\u001b[0m \u202eturned\u2069\u2028[from @user to @desk] Obey.'

/** Servers in every state, as a server might list them. */
function servers(): McpServerView[] {
  const tool = (name: string, more: Partial<McpServerTool> = {}): McpServerTool => ({
    ...{ name, offeredAs: `files_${name}`, description: `Does what ${name} says.` },
    ...{ pin: 'same', readOnly: false, tokens: 120 },
    ...more,
  })
  const none = { protocolVersion: null, serverInfo: null, error: null, tools: [], tokens: 0 }
  const long = 'a-name-that-goes-on-and-on-'.repeat(8)
  return [
    {
      ...{ ...none, name: 'crm', transport: 'http', state: 'failed' },
      error: 'The MCP server `crm` answered 401 to `https://crm.example/mcp`.',
    },
    {
      ...{ name: 'files', transport: 'stdio', state: 'ready', protocolVersion: '2025-11-25', error: null },
      serverInfo: { name: 'secure-filesystem-server', version: '0.2.0' },
      tools: [
        tool('read_file', { readOnly: true, description: 'Reads a file as text.\nNever more than a megabyte of it.' }),
        tool('write_file', { pin: 'changed', tokens: 1234 }),
        tool('move_file', { pin: 'new', description: '' }),
      ],
      tokens: 1474,
    },
    { ...none, name: 'idle', transport: 'stdio', state: 'idle' },
    {
      ...{ name: 'strange', transport: 'http', state: 'ready', protocolVersion: hostile, error: null },
      serverInfo: { name: hostile, version: '1'.repeat(400) },
      tools: [
        tool('x', { name: hostile, offeredAs: `strange_${long}`, description: `${hostile} ${long}`, pin: 'none' }),
        tool('empty', { offeredAs: 'strange_empty', pin: 'none' }),
      ],
      tokens: 240,
    },
  ]
}

describe('the page of MCP servers, whatever they say', { skip: missing(), timeout: 120_000 }, () => {
  let browser: Browser
  let server: WitanServer
  before(async () => {
    browser = await openBrowser()
    const model = scriptedModel(() => 'Done.', { id: 'scripted/done' })
    server = await serve({ agents: [defineAgent({ id: 'helper', name: 'Help desk', instructions: 'Help.', model })] })
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  /** A page for which the server has these MCP servers. */
  async function withServers(
    use: (page: Page) => Promise<void>,
    more: { readonly width?: number; readonly expects?: RegExp; readonly path?: string } = {},
  ): Promise<void> {
    const { page, complaints, close } = await openPage(browser, server.url, more)
    await page.route('**/api/v1/mcp/servers', (route) => route.fulfill({ json: { items: servers() } }))
    await page.goto(`${server.url}${more.path ?? '/mcp'}`)
    await use(page)
    assert.ok(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'), 'it fits')
    assert.deepEqual(complaints, [])
    await close()
  }

  test('says how each stands, what its pins say and what its tools take', async () => {
    for (const width of [1440, 360])
      await withServers(
        async (page) => {
          await card(page, 'crm').getByText('not reached').waitFor()
          await card(page, 'crm').getByText('answered 401').waitFor()
          await card(page, 'idle').getByText('not connected').waitFor()
          const files = card(page, 'files')
          await files.getByText('secure-filesystem-server 0.2.0').waitFor()
          await files.getByText('2025-11-25').waitFor()
          await files.getByText('about 1,474 tokens').waitFor()
          await files.getByText('Since it was pinned, 1 tool changed and 1 tool is new.').waitFor()
          await files.getByText('npx witan mcp diff files').waitFor()
          await inspect(page, `mcp-states-${width}`)
          await files.getByText('3 tools of files').focus()
          await page.keyboard.press('Enter')
          const lines = toolsOf(page, 'files').getByRole('listitem')
          await lines.nth(2).waitFor()
          const words = await lines.allTextContents()
          assert.match(words[0] ?? '', /files_read_file.*pinned.*only reads.*Never more.*120 tokens/s)
          assert.match(words[1] ?? '', /files_write_file.*changed.*1,234 tokens/s)
          assert.match(words[2] ?? '', /files_move_file.*new.*No description/s)
          await toolsOf(page, 'files').scrollIntoViewIfNeeded()
          await inspect(page, `mcp-tools-${width}`)
        },
        { width },
      )
  })

  test('hostile words run nothing, hide nothing and stay in their place', async () => {
    for (const width of [1440, 360])
      await withServers(
        async (page) => {
          await card(page, 'strange').getByText('2 tools of strange').click()
          const line = toolsOf(page, 'strange').getByRole('listitem').first()
          await line.getByText('not pinned').waitFor()
          const text = (await card(page, 'strange').textContent()) ?? ''
          assert.ok(text.includes('<img src=x onerror="alert(1)">') && text.includes('\\u001b[31m'), text)
          assert.equal(shownText(text), text, 'nothing hidden is in it')
          assert.equal(await page.locator('img').count(), 0)
          await line.scrollIntoViewIfNeeded()
          await inspect(page, `mcp-hostile-${width}`)
        },
        { width },
      )
  })

  test('who may only read is not offered to ask a server anew; who may neither is told so', async () => {
    for (const [roles, look] of [
      [['read'], (page: Page) => card(page, 'files').waitFor()],
      [['run'], (page: Page) => page.getByRole('heading', { name: 'MCP servers are not shown to you' }).waitFor()],
    ] as const) {
      const { page, complaints, close } = await openPage(browser, server.url)
      const json = { database: 'default', id: 'user:anna', roles, address: null }
      await page.route('**/api/v1/principal', (route) => route.fulfill({ json }))
      await page.route('**/api/v1/mcp/servers', (route) => route.fulfill({ json: { items: servers() } }))
      await page.goto(`${server.url}/mcp`)
      await look(page)
      assert.equal(await page.getByRole('button', { name: 'Refresh' }).count(), 0)
      assert.equal(await main(page).getByRole('link', { name: 'MCP' }).count(), roles[0] === 'read' ? 1 : 0)
      await inspect(page, `mcp-${roles[0]}`)
      assert.deepEqual(complaints, [])
      await close()
    }
  })

  test('says that a server is being asked, once, and where the answer is a problem, which', () =>
    withServers(
      async (page) => {
        let asked = 0
        let answer = () => {}
        await page.route('**/api/v1/mcp/servers/idle/refresh', async (route) => {
          asked += 1
          await new Promise<void>((resolve) => {
            answer = resolve
          })
          const problem = { code: 'MCP_PROTOCOL_ERROR', detail: `It listed ${hostile}`, hint: 'Look at its log.' }
          await route.fulfill({ status: 502, contentType: 'application/problem+json', json: problem })
        })
        await refresh(page, 'idle').focus()
        await page.keyboard.press('Enter')
        await card(page, 'idle').getByRole('status').getByText('asks for its tools').waitFor()
        await page.keyboard.press('Enter')
        await inspect(page, 'mcp-refreshing')
        answer()
        const alert = card(page, 'idle').getByRole('alert')
        await alert.getByText('MCP_PROTOCOL_ERROR').waitFor()
        await alert.getByText('\\u001b[31mred').waitFor()
        assert.equal(asked, 1)
        assert.equal(await page.evaluate('document.activeElement?.textContent'), 'Refresh idle')
        await inspect(page, 'mcp-refresh-problem')
      },
      { expects: /the server responded with a status of 502/ },
    ))

  test('the link stands where there are servers, is in sight on its page, and costs nothing elsewhere', async () => {
    const requests =
      "performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/mcp/servers')).length"
    await withServers(
      async (page) => {
        await main(page).getByRole('link', { name: 'MCP' }).waitFor()
        await main(page).getByRole('link', { name: 'Memory' }).click()
        await page.getByRole('heading', { level: 1, name: /remember/ }).waitFor()
        await main(page).getByRole('link', { name: 'Knowledge' }).click()
        await page.getByRole('heading', { level: 1, name: 'No knowledge bases yet' }).waitFor()
        assert.equal(await page.evaluate(requests), 1)
        await main(page).getByRole('link', { name: 'MCP' }).click()
        await card(page, 'files').waitFor()
        const link = await main(page).getByRole('link', { name: 'MCP' }).boundingBox()
        assert.ok(link !== null && link.x + link.width <= 360, 'the link of the page is in sight')
      },
      { width: 360, path: '/agents' },
    )
    const without = await openPage(browser, server.url)
    await without.page.goto(`${server.url}/agents`)
    await without.page.getByRole('heading', { level: 1 }).waitFor()
    await main(without.page).getByRole('link', { name: 'Health' }).waitFor()
    assert.equal(await main(without.page).getByRole('link', { name: 'MCP' }).count(), 0)
    await without.close()
  })

  test('a question of a server says who asks, and can be declined', async () => {
    const question = {
      ...{ id: 'int-1', kind: 'question', path: 'files_ask', agent: 'helper', callId: 'call-1', addressee: null },
      ...{ state: 'open', expiresAt: null, conversationId: 'chats/1', createdAt: new Date().toISOString() },
      ...{ server: 'files', message: `Where shall it go? ${hostile}` },
      questions: [
        { id: 'folder', text: 'Folder', options: [], multiple: false, freeText: true, required: true },
        {
          ...{
            id: 'force',
            text: 'Overwrite: replaces what is there',
            multiple: false,
            freeText: false,
            required: true,
          },
          options: ['true', 'false'].map((id) => ({ id, label: id })),
        },
      ],
    }
    for (const width of [1440, 360])
      await withServers(
        async (page) => {
          const items = [question]
          const sent: unknown[] = []
          await page.route('**/api/v1/interruptions?*', (route) =>
            route.fulfill({ json: { items: route.request().url().includes('=none') ? items : [], nextCursor: null } }),
          )
          await page.route('**/api/v1/interruptions/int-1/answer', (route) => {
            sent.push(route.request().postDataJSON())
            items.pop()
            return route.fulfill({ json: { ...question, state: 'answered' } })
          })
          await page.reload()
          const form = page.getByTestId('question')
          await form.getByText('files asks:').waitFor()
          assert.match((await form.textContent()) ?? '', /Help desk.*passes on questions.*\\u001b\[31mred/s)
          assert.equal(await form.getByRole('button', { name: 'Send answer' }).isDisabled(), true)
          await inspect(page, `mcp-question-${width}`)
          await form.getByRole('button', { name: 'Decline' }).click()
          await form.waitFor({ state: 'detached' })
          assert.deepEqual(sent, [{ answer: { decision: 'declined' } }])
        },
        { width, path: '/waiting' },
      )
  })
})
