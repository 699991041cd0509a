/** What a check finds in an agent leads to the field that it is about, in the tab that has it: by mouse and by the keys alone. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import type { WitanServer } from '@witan/server'
import type { Browser, Page } from 'playwright-core'
import { askingServer } from './support/asking-server.ts'
import { closePages, inspect, missing, openBrowser, openPage } from './support/browser.ts'

const model = (id: string) => scriptedModel(() => 'Done.', { id: `scripted/${id}` })
const work = { instructions: 'Work.', description: 'Works.' }

describe('the findings of an agent', { skip: missing(), timeout: 120_000 }, () => {
  let browser: Browser
  let server: WitanServer
  before(async () => {
    browser = await openBrowser()
    server = await askingServer([
      defineAgent({ ...work, id: 'gone', model: model('gone') }),
      defineAgent({
        ...{
          ...work,
          id: 'boss',
          name: 'Boss',
          model: model('boss'),
          subAgents: [{ agent: 'clerk' }, { agent: 'gone' }],
        },
        parameters: [{ name: 'tenant', description: 'Whose data', sendToModel: false }],
      }),
      defineAgent({
        ...{ ...work, id: 'clerk', name: 'Clerk', model: model('clerk') },
        parameters: [{ name: 'tenant', description: 'Whose data', sendToModel: false }],
      }),
      defineAgent({ ...work, id: 'quiet', model: model('quiet') }),
    ])
    const client = createClient({ url: server.url })
    await client.agents.delete('gone', { force: true })
    client.close()
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  async function inPage(path: string, use: (page: Page) => Promise<void>, width = 1440): Promise<void> {
    const { page, complaints, close } = await openPage(browser, server.url, { width })
    try {
      await page.goto(`${server.url}${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await use(page)
      assert.deepEqual(complaints, [])
    } finally {
      await close()
    }
  }

  const tab = (page: Page, name: string) => page.getByRole('tablist', { name: 'Agent' }).getByRole('tab', { name })
  const isChosen = (page: Page, name: string) => tab(page, name).getAttribute('aria-selected')
  const focused = (page: Page) => page.evaluate<string | null>('document.activeElement.getAttribute("aria-label")')
  /** What describes the element with the focus. */
  const described = (page: Page) =>
    page.evaluate<string>(
      `(document.activeElement.getAttribute('aria-describedby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent ?? '').join(' ')`,
    )

  test('each leads to its field in the definition, which it describes', () =>
    inPage('/agents/boss', async (page) => {
      const findings = page.getByRole('region', { name: 'Findings' })
      const links = findings.getByRole('link')
      await links.filter({ hasText: 'subAgents.1.agent' }).waitFor()
      await inspect(page, 'findings')
      assert.ok((await links.allTextContents()).length >= 2, String(await links.allTextContents()))
      for (const path of await links.allTextContents()) {
        const finding = findings.getByRole('listitem').filter({ hasText: path }).first()
        const detail = (await finding.getByRole('paragraph').first().textContent()) ?? ''
        await finding.getByRole('link').click()
        assert.equal(await isChosen(page, 'Definition'), 'true')
        await page.getByRole('group', { name: path, exact: true }).waitFor()
        assert.equal(await focused(page), path)
        assert.ok((await described(page)).includes(detail), `${path}: ${await described(page)}`)
        assert.equal(new URL(page.url()).searchParams.get('field'), path)
        await page.goBack()
        await findings.waitFor()
      }
    }))

  test('by the keys alone: to the finding, its field, the next tab, and a reload shows the same', () =>
    inPage('/agents/boss', async (page) => {
      await page.getByRole('region', { name: 'Findings' }).getByRole('link', { name: 'subAgents.1.agent' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('group', { name: 'subAgents.1.agent', exact: true }).waitFor()
      assert.equal(await focused(page), 'subAgents.1.agent')
      await inspect(page, 'definition')
      await page.reload()
      await page.getByRole('group', { name: 'subAgents.1.agent', exact: true }).waitFor()
      assert.equal(await focused(page), 'subAgents.1.agent')
      await tab(page, 'Definition').focus()
      await page.keyboard.press('ArrowRight')
      await page.getByRole('list', { name: 'Revisions' }).waitFor()
      assert.equal(await isChosen(page, 'Revisions'), 'true')
      assert.equal(await page.evaluate('document.activeElement.textContent'), 'Revisions', 'the tab keeps the focus')
      await page.keyboard.press('Home')
      await page.getByRole('region', { name: 'Graph' }).waitFor()
      assert.match(page.url(), /\/agents\/boss$/)
    }))

  test('there is no region without any, and the definition fits a narrow screen', async () => {
    await inPage('/agents/quiet', async (page) => {
      await page.getByRole('heading', { name: 'What its model reads' }).waitFor()
      assert.equal(await page.getByRole('region', { name: 'Findings' }).count(), 0)
    })
    await inPage(
      '/agents/boss/definition?field=parameters.0',
      async (page) => {
        await page.getByRole('group', { name: 'parameters.0', exact: true }).waitFor()
        assert.ok(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'))
        await inspect(page, 'definition-360')
      },
      360,
    )
  })
})
