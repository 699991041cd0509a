/** Real MCP servers in the Studio: how each stands, what a run had of them, what they ask people, and a first one in a new project. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createClient } from '@witan/client'
import { defineAgent } from '@witan/core'
import { mcpSettingsOf } from '@witan/core/tooling'
import { call, lastUserMessage, scriptedModel, toolResults } from '@witan/core/testing'
import { loadConfig, type WitanServer } from '@witan/server'
import type { Browser } from 'playwright-core'
import { closePages, inspect, missing, openBrowser } from './support/browser.ts'
import { type InPage, pageOf } from './support/in-page.ts'
import { card, main, refresh, serve, toolsOf } from './support/mcp.ts'

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url))
const program = (name: string) => join(modules, `@modelcontextprotocol/server-${name}/dist/index.js`)

/** It asks people, as servers since 2026 can. */
const asker = fileURLToPath(new URL('../support/mcp/modern-server.ts', import.meta.url))

const work = { instructions: 'Use the tools.', description: 'Uses tools.' }
const model = scriptedModel(
  (request, turn) => {
    if (turn > 0) return `It came to: ${toolResults(request).at(-1)}`
    if (lastUserMessage(request) === 'ask') return call('asker_ask')
    return call('everything_echo', { message: 'Hello' })
  },
  { id: 'scripted/tools' },
)

const agents = [
  defineAgent({
    ...{ ...work, id: 'helper', name: 'Help desk', model },
    mcp: [
      { server: 'everything', tools: ['echo', 'get-*'], approval: 'none' as const },
      { server: 'asker', approval: 'none' as const },
      { server: 'gone' },
    ],
  }),
  defineAgent({ ...{ ...work, id: 'clerk', name: 'Clerk', model }, mcp: [{ server: 'memory' }] }),
]

describe('the page of MCP servers with real ones', { skip: missing(), timeout: 180_000 }, () => {
  let browser: Browser
  let server: WitanServer
  before(async () => {
    browser = await openBrowser()
    const mcpServers = {
      everything: { command: process.execPath, args: [program('everything'), 'stdio'] },
      memory: { command: process.execPath, args: [program('memory')], readOnly: ['read_*', 'search_*'] },
      asker: { command: process.execPath, args: ['--conditions=witan-source', '--no-warnings', asker, 'stdio'] },
      gone: { command: '/does/not/exist' },
    }
    server = await serve({ agents, mcp: { settings: mcpSettingsOf(mcpServers, {}), lock: null } })
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  const inPage: InPage = (...at) => pageOf(browser, server.url)(...at)
  /** The browser itself writes a line for each answer that is an error. */
  const expects = /the server responded with a status of 503/

  test('a server is connected when somebody asks, and one that is down says why', async () => {
    for (const width of [1440, 360])
      await inPage(
        '/agents',
        async (page) => {
          await main(page).getByRole('link', { name: 'MCP' }).click()
          if (width === 1440) await card(page, 'memory').getByText('not connected').waitFor()
          if (width === 1440) await inspect(page, 'mcp-idle')
          await refresh(page, 'memory').click()
          await card(page, 'memory').getByText('connected', { exact: true }).waitFor()
          await card(page, 'memory')
            .getByText(/memory-server \d/)
            .waitFor()
          const words = (await card(page, 'memory').textContent()) ?? ''
          assert.match(words, /Used by Clerk.*Its tools are not pinned/)
          const users = (await card(page, 'everything').textContent()) ?? ''
          assert.match(users, /Used by Help desk \(echo, get-\*\)/)
          await refresh(page, 'gone').focus()
          await page.keyboard.press('Enter')
          const alert = card(page, 'gone').getByRole('alert')
          await alert.getByText('MCP_SERVER_UNAVAILABLE').waitFor()
          await card(page, 'gone').getByText('not reached').waitFor()
          await inspect(page, `mcp-${width}`)
          await card(page, 'memory').getByText('tools of memory').click()
          const read = toolsOf(page, 'memory').getByRole('listitem').filter({ hasText: 'memory_read_graph' })
          assert.match((await read.textContent()) ?? '', /not pinned.*only reads.*Read the entire.*\d+ tokens/s)
          await inspect(page, `mcp-memory-${width}`)
          await page.reload()
          await card(page, 'gone').getByText('not reached').waitFor()
          await card(page, 'gone')
            .getByText(/does.not.exist|ENOENT|start/)
            .waitFor()
          await inspect(page, `mcp-failed-${width}`)
          await card(page, 'memory').getByRole('link', { name: 'Clerk' }).click()
          await page.getByRole('heading', { level: 1, name: 'Clerk' }).waitFor()
        },
        { width, expects },
      )
  })

  test('a call of an agent says which tools of which servers it had', async () => {
    const client = createClient({ url: server.url })
    const conversation = client.conversation('helper')
    const { text, conversationId } = await conversation.run('Hello')
    client.close()
    assert.match(text ?? '', /It came to: .*Hello/)
    for (const width of [1440, 360])
      await inPage(
        `/conversations/${conversationId.replace('/', ':')}`,
        async (page) => {
          if (width === 360) await page.getByRole('button', { name: 'Run', exact: true }).click()
          await page.getByRole('treeitem').first().click()
          const had = page.getByTestId('mcp')
          await had.getByText(/Tools of MCP servers: everything \(\d+\)/).click()
          await had.getByText('everything_echo').waitFor()
          await had.scrollIntoViewIfNeeded()
          await inspect(page, `mcp-call-${width}`)
          await had.getByRole('link', { name: 'everything' }).click()
          await card(page, 'everything').getByText('tools of everything').click()
          await toolsOf(page, 'everything').getByText('everything_echo').waitFor()
        },
        width,
      )
  })

  test('what a server asks is shown with its name and declined, here and in the decisions', async () => {
    const client = createClient({ url: server.url })
    const conversation = client.conversation('helper')
    const { interruptions, conversationId } = await conversation.run('ask')
    client.close()
    assert.equal(interruptions.length, 1)
    await inPage('/waiting', async (page) => {
      const form = page.getByTestId('question')
      await form.getByText('asker asks:').waitFor()
      await form.scrollIntoViewIfNeeded()
      await inspect(page, 'mcp-asks')
      await form.getByRole('button', { name: 'Decline' }).click()
      await form.waitFor({ state: 'detached' })
      await page.goto(`${server.url}/conversations/${conversationId.replace('/', ':')}`)
      await page.getByTestId('decisions').first().getByText('was declined').waitFor()
      await inspect(page, 'mcp-declined')
    })
  })
})

describe('a project without MCP servers', { skip: missing(), timeout: 120_000 }, () => {
  let browser: Browser
  let folder: string
  before(async () => {
    browser = await openBrowser()
    folder = mkdtempSync(join(tmpdir(), 'witan-mcp-'))
    symlinkSync(modules, join(folder, 'node_modules'))
  })
  after(async () => {
    await closePages()
    rmSync(folder, { recursive: true, force: true })
  })

  test('is shown a configuration to copy, and it works', async () => {
    const empty = await serve({})
    const text = { copied: '' }
    for (const width of [1440, 360])
      await pageOf(browser, empty.url)(
        '/mcp',
        async (page) => {
          await page.getByRole('heading', { level: 1, name: 'No MCP servers yet' }).waitFor()
          await main(page).getByRole('link', { name: 'MCP' }).waitFor()
          text.copied = (await page.getByRole('figure').getByRole('code').textContent()) ?? ''
          await inspect(page, `mcp-empty-${width}`)
        },
        width,
      )
    await empty.close()
    writeFileSync(join(folder, 'witan.config.ts'), text.copied)
    mkdirSync(join(folder, 'shared'))
    writeFileSync(join(folder, 'shared', 'notes.md'), 'Hello')
    const { mcp, agents } = await loadConfig({ file: join(folder, 'witan.config.ts'), env: {} })
    // As in a terminal in this folder.
    const here = [...mcp.settings].map(([name, one]) => [
      name,
      { ...one, transport: { ...one.transport, cwd: folder } },
    ])
    const full = await serve({ mcp: { ...mcp, settings: new Map(here as never) }, agents })
    await pageOf(browser, full.url)('/mcp', async (page) => {
      await refresh(page, 'files').click()
      await toolsOf(page, 'files').getByText('files_read_text_file').waitFor()
      await card(page, 'files').getByText('Used by helper').waitFor()
      await inspect(page, 'mcp-copied')
    })
    const client = createClient({ url: full.url })
    assert.match((await client.conversation('helper').run('Hello')).text ?? '', /What I found/)
    client.close()
    await full.close()
  })
})
