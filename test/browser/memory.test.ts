/** Memory in the Studio: what agents remember about the caller, read, changed, erased, and seen in the tree of a run. */
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { shownText } from '@witan/protocol/shown'
import type { Browser, Page } from 'playwright-core'
import { closePages, inspect, missing, openBrowser, openPage } from './support/browser.ts'
import { memoryServer, rememberAnna } from './support/memory-server.ts'

type Stage = Awaited<ReturnType<typeof memoryServer>>

describe('the page of memory', { skip: missing(), timeout: 200_000 }, () => {
  let browser: Browser
  let stage: Stage
  before(async () => {
    browser = await openBrowser()
  })
  beforeEach(async () => {
    stage = await memoryServer()
    await rememberAnna(stage.as)
  })
  afterEach(async () => {
    await closePages()
    await stage?.close()
  })
  after(closePages)

  /** What the browser itself writes of a request without a key, of what is not there, and of a conflict. */
  const expects = /the server responded with a status of (401|404|409)/
  /** `place`: the address of a page, and who opens it. */
  async function inPage(place: `${keyof Stage['keys']} ${string}`, use: (page: Page) => Promise<void>, width = 1440) {
    const [who, path] = place.split(' ') as [keyof Stage['keys'], string]
    const { page, complaints, close } = await openPage(browser, stage.server.url, { width, expects })
    await page.goto(`${stage.server.url}${path}`)
    await page.getByLabel('API key').fill(stage.keys[who])
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await use(page)
    assert.ok(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'), 'it fits')
    assert.deepEqual(complaints, [])
    await close()
  }
  const block = (page: Page, key: string) => page.getByRole('listitem', { name: key, exact: true })
  const own = 'What agents remember about you'

  for (const width of [1440, 360])
    test(`[F39] shows what is about oneself by agent and scope, at ${width} px`, () =>
      inPage(
        'anna /conversations',
        async (page) => {
          await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Memory' }).click()
          await page.getByRole('heading', { level: 1, name: own }).waitFor()
          const desk = page.getByRole('region', { name: 'desk' })
          await desk.getByRole('list', { name: 'desk: in every conversation' }).getByText('Tea, no sugar.').waitFor()
          await desk.getByRole('list', { name: 'desk: in one conversation' }).getByText('To Paris').waitFor()
          await page.getByRole('region', { name: 'clerk' }).getByText('Short sentences').waitFor()
          const text = (await page.getByRole('main').textContent()) ?? ''
          assert.doesNotMatch(text, /Water|Shoes off/)
          assert.equal(await page.getByRole('form', { name: 'About whom' }).count(), 0)
          await inspect(page, `memory-${width}`)
          await block(page, 'a'.repeat(64)).scrollIntoViewIfNeeded()
          await inspect(page, `memory-hostile-${width}`)
          assert.equal(shownText(text), text, 'nothing hidden is in it')
          assert.equal(await page.locator('img').count(), 0)
        },
        width,
      ))

  test('[F39] shows who wrote what, when, in which run, and where it was used', () =>
    inPage('anna /memory', async (page) => {
      const drink = block(page, 'drink')
      await drink.getByRole('button', { name: 'Revisions of drink' }).click()
      const list = drink.getByRole('list', { name: 'Revisions of drink' }).getByRole('listitem')
      await list.nth(1).waitFor()
      assert.match((await list.nth(0).textContent()) ?? '', /^Revision 2you.*Tea, no sugar\.$/)
      assert.match((await list.nth(1).textContent()) ?? '', /^Revision 1Help desk, for you.*chats\/firstTea\.$/)
      const desk = page.getByRole('region', { name: 'desk' })
      await desk.getByRole('button', { name: 'Where it was used' }).click()
      const used = desk.getByRole('list', { name: 'Conversations in which it was read or written' })
      await used.getByText('chats/second').waitFor()
      assert.equal(await used.getByRole('link').count(), 2)
      await inspect(page, 'memory-revisions')
      await list.nth(1).getByRole('link', { name: 'chats/first' }).click()
      await page.getByRole('heading', { level: 1, name: 'Help desk' }).waitFor()
      assert.match(page.url(), /chats(:|%3A)first\?run=c_/)
    }))

  test('a text is changed with the keys alone; of two writers at once the person chooses', () =>
    inPage('anna /memory', async (page) => {
      const form = page.getByRole('form', { name: 'Edit drink' })
      const edit = block(page, 'drink').getByRole('button', { name: 'Edit drink' })
      await edit.focus()
      await page.keyboard.press('Enter')
      await form.getByLabel('Text').fill('Coffee.')
      await inspect(page, 'memory-edit')
      await form.getByLabel('Text').focus()
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await block(page, 'drink').getByText('Coffee.').waitFor()
      await form.waitFor({ state: 'detached' })
      assert.equal(await edit.evaluate('document.activeElement.textContent'), 'Edit drink')
      for (const [choice, result] of [
        ['Keep the other text', 'Milk.'],
        ['Save mine over it', 'Cocoa.'],
      ] as const) {
        await edit.click()
        await form.getByLabel('Text').fill('Cocoa.')
        const anna = stage.as('anna')
        const now = (await anna.memory.list({ q: 'drink' })).items[0]
        await anna.memory.change(now?.id ?? '', { text: 'Milk.', expectedRevision: now?.revision ?? 0 })
        anna.close()
        await form.getByRole('button', { name: 'Save', exact: true }).click()
        const conflict = form.getByRole('region', { name: 'Changed meanwhile' })
        await conflict.getByText('Milk.').waitFor()
        assert.equal(await form.getByLabel('Text').inputValue(), 'Cocoa.', 'what was typed stays')
        assert.equal(await page.evaluate("document.activeElement.getAttribute('aria-label')"), 'Changed meanwhile')
        await inspect(page, 'memory-conflict')
        await conflict.getByRole('button', { name: choice }).click()
        await form.waitFor({ state: 'detached' })
        await block(page, 'drink').getByText(result).waitFor()
      }
    }))

  test('a block that is erased while somebody writes can be written again', () =>
    inPage('anna /memory', async (page) => {
      await block(page, 'drink').getByRole('button', { name: 'Edit drink' }).click()
      const form = page.getByRole('form', { name: 'Edit drink' })
      await form.getByLabel('Text').fill('Cocoa.')
      const anna = stage.as('anna')
      await anna.memory.erase({ subject: 'user:anna', agent: 'desk' })
      anna.close()
      await block(page, 'trip-plan').waitFor({ state: 'detached' })
      assert.equal(await form.getByLabel('Text').inputValue(), 'Cocoa.', 'what is typed stays')
      await form.getByRole('button', { name: 'Save', exact: true }).click()
      const gone = page.getByRole('region', { name: 'Erased meanwhile' })
      await gone.waitFor()
      await inspect(page, 'memory-gone')
      await gone.getByRole('button', { name: 'Write it again' }).click()
      await form.waitFor({ state: 'detached' })
      await block(page, 'drink').getByText('Cocoa.').waitFor()
    }))

  test('[F39] one block is erased after a question; all of them, with the conversations that quote them', () =>
    inPage('anna /memory', async (page) => {
      const button = block(page, 'drink').getByRole('button', { name: 'Erase drink …' })
      await button.click()
      const dialog = page.getByRole('dialog')
      await inspect(page, 'memory-erase-one')
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await button.click()
      await dialog.getByRole('button', { name: 'Erase it' }).click()
      await block(page, 'drink').waitFor({ state: 'detached' })
      assert.equal(await page.evaluate('document.activeElement.tagName'), 'H1')
      await page.getByRole('button', { name: 'Erase all …' }).click()
      const quoting = dialog.getByRole('list', { name: 'Conversations that quote it' })
      await quoting.getByRole('link').nth(1).waitFor()
      assert.equal(await quoting.getByRole('link').count(), 2)
      await inspect(page, 'memory-erase-all')
      await dialog.getByRole('button', { name: 'Erase it all' }).click()
      await page.getByText('3 blocks are erased.').waitFor()
      await page.getByRole('list', { name: 'Conversations that still quote it' }).getByText('chats/first').waitFor()
      await page.getByText('Nothing is remembered about you').waitFor()
      await inspect(page, 'memory-erased')
    }))

  test('the conversations that quote it are deleted too, if the person says so', () =>
    inPage(
      'anna /memory',
      async (page) => {
        await page.getByRole('button', { name: 'Erase all …' }).click()
        const dialog = page.getByRole('dialog')
        await dialog.getByLabel('Also delete these conversations').check()
        await inspect(page, 'memory-erase-all-360')
        await dialog.getByRole('button', { name: 'Erase it, and delete the conversations' }).click()
        await page.getByText('4 blocks are erased, and 2 conversations deleted.').waitFor()
        const anna = stage.as('anna')
        assert.deepEqual((await anna.conversations.list()).items, [])
        anna.close()
      },
      360,
    ))

  test('an admin also sees what is about others, by a filter', async () => {
    await inPage('admin /memory', async (page) => {
      await page.getByText('Nothing is remembered about you').waitFor()
      await inspect(page, 'memory-empty-admin')
      const form = page.getByRole('form', { name: 'About whom' })
      await form.getByLabel('About whom').fill('user:bob')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'What agents remember about bob' }).waitFor()
      await page.getByText('Water.').waitFor()
      assert.match(page.url(), /subject=user/)
      await form.getByRole('button', { name: 'Everybody' }).click()
      await page.getByText('Shoes off.').waitFor()
      await page.getByText('about anna').first().waitFor()
      assert.equal(await page.getByRole('button', { name: 'Erase all …' }).count(), 0)
      await inspect(page, 'memory-everybody')
      await form.getByRole('button', { name: 'Me' }).click()
      await page.getByRole('heading', { level: 1, name: own }).waitFor()
    })
    await inPage('carl /memory?subject=user:anna', async (page) => {
      await page.getByRole('alert').getByText('NOT_FOUND').waitFor()
      assert.doesNotMatch((await page.getByRole('main').textContent()) ?? '', /Tea/)
      await inspect(page, 'memory-of-another')
    })
  })

  test('[F39] a call shows which blocks it read and wrote, and never their texts', () =>
    inPage('anna /conversations/chats:first', async (page) => {
      const tree = page.getByRole('tree')
      await tree.getByText('wrote trip-plan (1)').waitFor()
      await tree.getByText('remembers 1 block').waitFor()
      assert.doesNotMatch((await tree.getByRole('treeitem').last().textContent()) ?? '', /Paris/)
      await tree.getByRole('treeitem').first().click()
      const details = page.getByTestId('detail')
      await details.getByRole('list', { name: 'Memory' }).getByText('remembers 1 block: drink (1)').waitFor()
      await inspect(page, 'memory-call')
      await page.getByRole('tab', { name: 'Timeline' }).click()
      await page
        .getByRole('list', { name: 'Timeline' })
        .getByRole('button', { name: /remembers 1 block/ })
        .waitFor()
    }))
})
