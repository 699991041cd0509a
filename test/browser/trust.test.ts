/** What the Studio says of trust: bound and hidden values exactly, what a start cannot reach, and who is a script. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { defineAgent, defineTool, type Model } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import type { Browser, Page } from 'playwright-core'
import { z } from 'zod'
import { closePages, missing, openBrowser, openPage, inspect } from './support/browser.ts'

const calls = ['mine', 'everybodys', 'reads', 'leaves'].map((name) => ({ name, arguments: {} }))
const delegation = { name: 'profile', arguments: { message: 'Look it up', topic: 'leave' } }

const tools = [
  defineTool({
    name: 'reads',
    description: 'Reads who asks.',
    parameters: z.object({}),
    execute: (_, { parameters }) => typeof parameters.userId,
  }),
  defineTool({ name: 'leaves', description: 'Needs nothing.', parameters: z.object({}), execute: () => 'ok' }),
]

describe('trust in the Studio', { skip: missing(), timeout: 300_000 }, () => {
  let browser: Browser
  let server: WitanServer
  let folder: string

  before(async () => {
    browser = await openBrowser()
    folder = await mkdtemp(join(tmpdir(), 'witan-trust-'))
    const file = join(folder, 'staff.db')
    const staff = new DatabaseSync(file)
    staff.exec("create table staff (id text, name text, days integer); insert into staff values ('e/3', 'Anna', 12)")
    staff.close()
    const config = await loadConfig({ cwd: folder, env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
    const script = scriptedModel(
      (request, turn) => {
        const isRoot = request.tools.some(({ name }) => name === 'profile')
        if (turn > 0) return 'Done.'
        if (isRoot) return { toolCalls: [delegation] }
        return request.tools.length === 0 ? 'Nobody to ask.' : { toolCalls: calls }
      },
      { id: 'openai/like-a-model' },
    )
    const live: Model = { id: 'scripted/by-name-only', stream: script.stream }
    server = await startServer({
      ...config,
      auth: { mode: 'none' },
      server: { ...config.server, port: 0 },
      sources: { staff: { kind: 'sqlite', file } },
      agents: [
        defineAgent({
          id: 'assistant',
          name: 'Assistant',
          model: script,
          instructions: 'Ask.',
          subAgents: [{ agent: 'profile', description: 'Knows the employee.' }],
        }),
        defineAgent({
          id: 'profile',
          name: 'Employee profile',
          model: script,
          instructions: 'Look up.',
          parameters: [
            { name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' },
            { name: 'branch', sendToModel: false },
            { name: 'topic' },
          ],
          tools,
          queries: [
            { name: 'mine', source: 'staff', query: 'select name, days from staff where id = $userId' },
            { name: 'everybodys', source: 'staff', query: 'select count(*) as people from staff' },
          ],
        }),
        defineAgent({ id: 'live', name: 'Live', model: live, instructions: 'Speak.' }),
      ],
    })
  })
  after(async () => {
    await closePages()
    await server?.close()
    await rm(folder, { recursive: true })
  })

  async function inPage(use: (page: Page) => Promise<void>, options: { width?: number } = {}): Promise<void> {
    const { page, complaints, close } = await openPage(browser, server.url, options)
    try {
      await use(page)
      assert.deepEqual(complaints, [])
    } finally {
      await close()
    }
  }

  test('a start without a trusted value says which agents it cannot reach, until the value is there', () =>
    inPage(async (page) => {
      await page.goto(`${server.url}/conversations?agent=assistant`)
      const note = page.getByTestId('reach')
      await note.getByText(/Without userId, Employee profile cannot be reached in this conversation/).waitFor()
      assert.equal(await note.getByText('branch').count(), 0, 'a model may make that one')
      await inspect(page, 'reach')
      await page.getByLabel('userId', { exact: true }).fill('e/3')
      await note.waitFor({ state: 'detached' })
      await page.getByLabel('userId', { exact: true }).fill('')
      await note.waitFor()
      await page.getByLabel('First message').fill('How many days?')
      await page.getByRole('button', { name: 'Start', exact: true }).click()
      await page.getByTestId('chat').getByText('Nobody to ask.').waitFor()
    }))

  test('bound stands only at calls that get the value, and hidden values by their names', () =>
    inPage(async (page) => {
      await page.goto(`${server.url}/conversations?agent=assistant`)
      await page.getByLabel('userId', { exact: true }).fill('e/3')
      await page.getByLabel('branch', { exact: true }).fill('Oslo')
      await page.getByLabel('First message').fill('How many days?')
      await page.getByRole('button', { name: 'Start', exact: true }).click()
      await page.locator('[data-testid=answer][data-state=completed]').waitFor()
      const detail = page.getByTestId('detail')
      const open = (name: string) => page.getByRole('treeitem').filter({ hasText: name }).last().click()
      const bound = detail.getByText('Bound, not written by a model')
      for (const [name, isBound] of [
        ['mine', true],
        ['everybodys', false],
        ['reads', true],
        ['leaves', false],
      ] as const) {
        await open(name)
        await detail.getByRole('heading', { name, exact: true }).waitFor()
        assert.equal(await bound.count(), isBound ? 1 : 0, name)
        if (isBound) await detail.getByText('userId', { exact: true }).waitFor()
        assert.equal(await detail.getByText('branch').count(), 0, name)
      }
      await open('mine')
      await detail.getByTestId('rows').getByText('Anna').waitFor()
      await inspect(page, 'bound')
      await page.getByRole('treeitem').filter({ hasText: 'Employee profile' }).first().click()
      await detail.getByText('Hidden from its model').waitFor()
      for (const name of ['userId', 'branch']) await detail.getByText(name, { exact: true }).waitFor()
      await detail.getByText('"topic": "leave"').waitFor()
      await inspect(page, 'hidden')
      assert.equal((await page.content()).includes('Oslo'), false)
    }))

  test('the banner names agents by what answers for them, not by the name of a model', () =>
    inPage(async (page) => {
      await page.goto(`${server.url}/agents/live`)
      const banner = page.getByTestId('scripted')
      await banner.getByText('no language model is called: Assistant, Employee profile.').waitFor()
      await page.getByText('scripted/by-name-only').waitFor()
      assert.equal(await page.getByText('a script, no language model', { exact: true }).count(), 0)
      await page.goto(`${server.url}/agents/profile`)
      await page.getByText('a script, no language model', { exact: true }).waitFor()
    }))

  test('fits a screen of 400 pixels', () =>
    inPage(
      async (page) => {
        await page.goto(`${server.url}/conversations?agent=assistant`)
        await page.getByTestId('reach').waitFor()
        assert.ok(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'))
        await inspect(page, 'reach-narrow')
      },
      { width: 400 },
    ))
})
