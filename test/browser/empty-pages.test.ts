/** Pages that have nothing to show yet: each says what it is for, and has something to copy that works as it stands. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from '@witan/client'
import { loadConfig, startServer } from '@witan/server'
import type { Browser, Page } from 'playwright-core'
import { closePages, inspect, missing, openBrowser, openPage } from './support/browser.ts'

type Server = Awaited<ReturnType<typeof startServer>>

const program = fileURLToPath(new URL('../../packages/cli/bin/witan.js', import.meta.url))
const modules = fileURLToPath(new URL('../../node_modules', import.meta.url))

describe('a page with nothing to show', { skip: missing(), timeout: 120_000 }, () => {
  let browser: Browser
  let server: Server
  let folder: string
  before(async () => {
    browser = await openBrowser()
    folder = mkdtempSync(join(tmpdir(), 'witan-empty-'))
    symlinkSync(modules, join(folder, 'node_modules'))
    server = await serve({})
  })
  after(async () => {
    await closePages()
    await server?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  async function serve(more: object): Promise<Server> {
    const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
    return await startServer({ ...config, auth: { mode: 'none' }, server: { ...config.server, port: 0 }, ...more })
  }

  /** What one copies from a page, whose button says that it did. */
  async function copied(page: Page): Promise<string> {
    const figure = page.getByRole('figure')
    await figure.getByRole('button', { name: 'Copy' }).click()
    await figure.getByRole('button', { name: 'Copied' }).waitFor()
    return (await figure.getByRole('code').textContent()) ?? ''
  }

  /** What a command that was copied prints in the project's folder. */
  async function printed(text: string): Promise<string> {
    const [, words = ''] = /^npx witan (.*)$/.exec(text) ?? assert.fail(text)
    const args = words.split(' ').map((word) => word.replaceAll('"', ''))
    const env = { ...process.env, NO_COLOR: '1' }
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, ...args], { cwd: folder, env })
    return stdout + stderr
  }

  test('has a configuration with an agent, or a command, and both work', async () => {
    const { page, complaints, close } = await openPage(browser, server.url)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const texts: Record<string, string> = {}
    for (const [path, heading] of [
      ['/agents', 'No agents yet'],
      ['/conversations', 'No agent to talk to yet'],
      ['/waiting', 'Waits for you'],
      ['/knowledge', 'No knowledge bases yet'],
      ['/memory', 'What agents remember about you'],
      ['/health', 'Health'],
    ] as const) {
      await page.goto(`${server.url}${path}`)
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
      texts[path] = await copied(page)
      await inspect(page, `empty ${path}`)
    }
    assert.equal(texts['/conversations'], texts['/agents'])
    assert.equal(texts['/health'], texts['/agents'])
    writeFileSync(join(folder, 'witan.config.ts'), texts['/agents'] ?? '')
    writeFileSync(join(folder, 'knowledge.config.ts'), texts['/knowledge'] ?? '')
    const { knowledge, agents } = await loadConfig({ file: join(folder, 'knowledge.config.ts'), env: {} })
    const withBase = await serve({ knowledge, agents })
    const other = await openPage(browser, withBase.url)
    await other.page.goto(`${withBase.url}/knowledge`)
    await other.page.getByText('Searched by helper').waitFor()
    await other.page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await other.page.goto(`${withBase.url}/knowledge/handbook`)
    await other.page.getByText('It has no documents yet').waitFor()
    const [, words = '', file = '', command = ''] =
      /^echo "(.*?)" > (\S+) && (.*)$/.exec(await copied(other.page)) ?? assert.fail('no command')
    writeFileSync(join(folder, file), words)
    assert.match(await printed(`${command} --url ${withBase.url}`), /^added 1,/)
    await other.page.reload()
    await other.page.getByRole('list', { name: 'Documents' }).getByText(file).waitFor()
    await other.close()
    await withBase.close()
    writeFileSync(join(folder, 'memory.config.ts'), texts['/memory'] ?? '')
    const remembering = await loadConfig({ file: join(folder, 'memory.config.ts'), env: {} })
    const withMemory = await serve({ agents: remembering.agents, auth: { mode: 'local' } })
    const client = createClient({ url: withMemory.url, token: withMemory.token ?? '' })
    for (const words of ['I drink tea.', 'No sugar.']) await client.conversation('helper').run(words)
    const blocks = (await client.memory.list()).items.map(({ text }) => text)
    assert.deepEqual(blocks, ['No sugar.', 'I drink tea.'])
    client.close()
    await withMemory.close()
    assert.match(await printed(texts['/waiting'] ?? ''), /no open interruption|nothing waits/i)
    assert.deepEqual(complaints, [])
    await close()
  })

  test('with an agent has a command that talks with it', async () => {
    const config = await loadConfig({ cwd: folder, env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
    const full = await serve({ agents: config.agents })
    const { page, complaints, close } = await openPage(browser, full.url)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const texts = new Set<string>()
    for (const path of ['/conversations', '/health']) {
      await page.goto(`${full.url}${path}`)
      texts.add(await copied(page))
      await inspect(page, `empty ${path} with an agent`)
    }
    assert.equal(texts.size, 1)
    assert.match(await printed([...texts].join()), /an agent without a language model/)
    assert.deepEqual(complaints, [])
    await close()
    await full.close()
  })
})
