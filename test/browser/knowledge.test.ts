/** Knowledge in the Studio: bases, documents and passages, a search as an agent, ingests with progress, and sources under answers. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { shownText } from '@witan/protocol/shown'
import type { WitanServer } from '@witan/server'
import type { Browser, Page } from 'playwright-core'
import { closePages, inspect, missing, openBrowser, openPage } from './support/browser.ts'
import { type InPage, pageOf } from './support/in-page.ts'
import { addDocuments, knowledgeServer } from './support/knowledge-server.ts'

describe('the pages of knowledge', { skip: missing(), timeout: 120_000 }, () => {
  let browser: Browser
  let server: WitanServer
  before(async () => {
    browser = await openBrowser()
    server = await knowledgeServer()
    await addDocuments(server)
  })
  after(async () => {
    await closePages()
    await server?.close()
  })

  /** The browser itself writes a line for each answer that is an error. */
  const expects = /the server responded with a status of (404|412)/
  const inPage: InPage = (...at) => pageOf(browser, server.url)(...at)
  const search = (page: Page) => page.getByRole('region', { name: 'Search this base' })
  const passages = (page: Page) => page.getByRole('list', { name: 'Passages', exact: true }).getByRole('listitem')
  const documents = (page: Page) => page.getByRole('list', { name: 'Documents' }).getByRole('listitem')

  test('lists the bases, what each is for, how much it has and who searches it', async () => {
    for (const width of [1440, 360])
      await inPage(
        '/agents',
        async (page) => {
          await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Knowledge' }).click()
          const list = page.getByRole('list', { name: 'Knowledge bases' })
          const contracts = list.getByRole('listitem').filter({ hasText: 'Contracts with customers' })
          await contracts.getByText('2 documents').waitFor()
          await contracts.getByText('2 passages').waitFor()
          assert.match((await contracts.textContent()) ?? '', /Searched by Help desk, Lawyer/)
          const link = await page
            .getByRole('navigation', { name: 'Main' })
            .getByRole('link', { name: 'Knowledge' })
            .boundingBox()
          assert.ok(link !== null && link.x + link.width <= width, 'the link of the page is in sight')
          await inspect(page, `knowledge-${width}`)
        },
        width,
      )
    await inPage(
      '/knowledge',
      async (page) => {
        const nav = page.getByRole('navigation', { name: 'Main' })
        await page.getByRole('list', { name: 'Knowledge bases' }).waitFor()
        const [bar, link] = [await nav.boundingBox(), await nav.getByRole('link', { name: 'Knowledge' }).boundingBox()]
        assert.ok(bar !== null && link !== null)
        assert.ok(link.x + link.width <= bar.x + bar.width + 1, 'the link of a page that is opened by its address')
      },
      360,
    )
  })

  test('a base shows its settings, its agents, and its documents by prefix', async () => {
    for (const width of [1440, 360])
      await inPage(
        '/knowledge/handbook',
        async (page) => {
          await documents(page).first().waitFor()
          assert.equal(await documents(page).count(), 3)
          await page.getByRole('list', { name: 'Agents that search it' }).getByText('when its model asks').waitFor()
          await inspect(page, `base-${width}`)
          await page.getByLabel('Keys that begin with').fill('tools/')
          await page.getByText('tools/laptop.txt').first().waitFor()
          await documents(page).nth(1).waitFor({ state: 'detached' })
          assert.match(page.url(), /prefix=tools/)
          await page.getByLabel('Keys that begin with').fill('none/')
          await page.getByText('No key of a document begins so.').waitFor()
        },
        width,
      )
  })

  test('searches as an agent: its values, its order, and what closes the base', async () => {
    await inPage('/knowledge/contracts', async (page) => {
      const box = search(page)
      assert.equal(await box.getByLabel('As').inputValue(), 'desk')
      await box.getByLabel('Words').fill('notice period of the contract')
      await page.keyboard.press('Enter')
      await box.getByText('Closed').waitFor()
      assert.match((await box.getByRole('status').textContent()) ?? '', /customerId for customer/)
      await inspect(page, 'search-closed')
      await box.getByLabel('customerId').fill('alpha')
      await page.keyboard.press('Enter')
      await passages(page).first().waitFor()
      assert.equal(await passages(page).count(), 1)
      assert.match((await passages(page).textContent()) ?? '', /three months/)
      await box.getByText('Help desk gets 1 passage of at most 3.').waitFor()
      await box.getByLabel('customerId').fill('nobody')
      await box.getByRole('button', { name: 'Search' }).click()
      await box.getByText('Help desk gets nothing').waitFor()
      await box.getByLabel('As').selectOption('')
      await box.getByLabel('year').fill('later')
      await box.getByLabel('customer', { exact: true }).fill('beta')
      await box.getByRole('button', { name: 'Search' }).click()
      await box.getByText('This is not a number.').waitFor()
      await box.getByLabel('year').fill('2026')
      await page.keyboard.press('Enter')
      await box.getByText('twelve months').waitFor()
      await inspect(page, 'search-found')
      await passages(page).getByRole('link', { name: 'Contract with Beta' }).click()
      await page.getByRole('heading', { level: 1, name: 'Contract with Beta' }).waitFor()
    })
  })

  test('a document shows its headings, its passages and its text, and a passage takes the focus', async () => {
    const client = createClient({ url: server.url })
    const {
      passages: [found],
    } = await client.knowledge.search('handbook', { query: 'visitors register' })
    client.close()
    for (const width of [1440, 360])
      await inPage(
        `/knowledge/handbook/document?key=handbook.md&passage=${found?.id}`,
        async (page) => {
          const item = page.locator(`[data-passage="${found?.id}"]`)
          await item.waitFor()
          await page.locator(`[data-passage="${found?.id}"]:focus`).waitFor()
          assert.match((await item.textContent()) ?? '', /Handbook › Building › Parking/)
          await page.getByRole('region', { name: 'Text' }).getByText('Ask four weeks before').waitFor()
          await page.getByRole('navigation', { name: 'Headings' }).getByRole('button', { name: 'Sick leave' }).click()
          await page.locator('[data-passage]:focus').filter({ hasText: 'Sick leave' }).waitFor()
          await inspect(page, `document-${width}`)
        },
        width,
      )
    await inPage('/knowledge/handbook/document?key=handbook.md&passage=kaaaaaaaa', (page) =>
      page.getByText('is not in the document any more').waitFor(),
    )
    const gone = async (page: Page) => {
      await page.getByRole('heading', { name: 'There is no such document' }).waitFor()
      await inspect(page, 'document-gone')
    }
    await inPage('/knowledge/handbook/document?key=..%2Fgone', gone, { expects })
    const noBase = (page: Page) => page.getByRole('heading', { name: 'There is no such base' }).waitFor()
    await inPage('/knowledge/nothing', noBase, { expects })
  })

  test('hostile documents run nothing and forge nothing', () =>
    inPage('/knowledge/handbook', async (page) => {
      await search(page).getByLabel('Words').fill('parking everybody')
      await search(page).getByRole('button', { name: 'Search' }).click()
      const item = passages(page).filter({ hasText: 'hostile<b>.txt' })
      await item.waitFor()
      const text = (await item.textContent()) ?? ''
      assert.ok(text.includes('<img src=x onerror="alert(1)">') && text.includes('\\u001b[31m'), text)
      assert.equal(shownText(text), text, 'nothing hidden is in it')
      await item.getByRole('link').click()
      await page.getByText('javascript:alert(1)').waitFor()
      assert.equal(await page.locator('a[href^="javascript"]').count(), 0)
      assert.equal(await page.locator('img').count(), 0)
      await inspect(page, 'document-hostile')
    }))

  test('files and texts are ingested with progress, and each bad one fails alone', () =>
    inPage('/knowledge/handbook', async (page) => {
      await page.getByRole('button', { name: 'Add documents' }).click()
      const form = page.getByRole('form', { name: 'Add documents' })
      await form.getByLabel('Files to add').setInputFiles([
        { name: 'new.md', mimeType: 'text/markdown', buffer: Buffer.from('# New\n\nThe canteen opens at noon.') },
        { name: 'table.csv', mimeType: 'text/csv', buffer: Buffer.from('name,room\nAnna,12\n') },
        { name: 'bad.pdf', mimeType: 'application/pdf', buffer: Buffer.from('no pdf') },
        { name: 'empty.md', mimeType: 'text/markdown', buffer: Buffer.from(' \n') },
      ])
      await form.getByLabel('Put before each key').fill('added/')
      await inspect(page, 'add-files')
      await form.getByRole('button', { name: 'Add', exact: true }).click()
      const ingest = page.getByRole('region', { name: 'Ingest' })
      await ingest.getByText('All are read').waitFor()
      assert.match((await ingest.getByRole('status').textContent()) ?? '', /3 added0 changed0 unchanged1 failed/)
      await ingest.getByRole('list', { name: 'Failed' }).getByText('DOCUMENT_UNREADABLE').waitFor()
      await documents(page).filter({ hasText: 'added/new.md' }).waitFor()
      await documents(page).filter({ hasText: 'added/empty.md' }).getByText('no text: never found').waitFor()
      await inspect(page, 'ingested')
      await page.reload()
      await ingest.getByText('All are read').waitFor()
      await page.getByRole('button', { name: 'Add documents' }).click()
      await form.getByRole('tab', { name: 'Files' }).focus()
      await page.keyboard.press('ArrowRight')
      await form.getByLabel('Key').fill('added/new.md')
      await form.getByRole('textbox', { name: 'Text', exact: true }).fill('# New\n\nThe canteen opens at one.')
      await inspect(page, 'add-text')
      await form.getByRole('button', { name: 'Add', exact: true }).click()
      await ingest.getByText('1 changed').waitFor()
      await search(page).getByLabel('Words').fill('canteen')
      await page.keyboard.press('Enter')
      await passages(page).filter({ hasText: 'opens at one' }).waitFor()
    }))

  test('a document is deleted after a question', () =>
    inPage('/knowledge/handbook/document?key=tools%2Flaptop.txt', async (page) => {
      await page.getByRole('button', { name: 'Delete …' }).click()
      const dialog = page.getByRole('dialog')
      await inspect(page, 'delete-document')
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await page.keyboard.press('Enter')
      await dialog.getByRole('button', { name: 'Delete the document' }).click()
      await page.getByRole('heading', { level: 1, name: 'Handbook' }).waitFor()
      await documents(page).first().waitFor()
      await page.getByText('tools/laptop.txt').waitFor({ state: 'detached' })
    }))

  test('a base is made, edited and deleted as a form, with the findings of the server at its fields', async () => {
    await inPage('/knowledge', async (page) => {
      await page.getByRole('link', { name: 'New base' }).click()
      const form = page.getByRole('form', { name: 'Knowledge base' })
      await form.getByLabel('Id').fill('Bad Id')
      await form.getByLabel('Characters of a passage').fill('50')
      await form
        .getByRole('status', { name: 'Check' })
        .getByText(/finding/)
        .waitFor()
      assert.equal(await form.getByLabel('Id').getAttribute('aria-invalid'), 'true')
      assert.equal(await form.getByLabel('Characters of a passage').getAttribute('aria-invalid'), 'true')
      assert.equal(await form.getByRole('button', { name: 'Save' }).isDisabled(), true)
      await inspect(page, 'base-findings')
      await form.getByLabel('Id').fill('notes')
      await form.getByLabel('Characters of a passage').fill('400')
      await form.getByLabel('Description').fill('What was noted.')
      await form.getByRole('button', { name: 'Add an attribute' }).click()
      await form.getByLabel('Name of attribute 1').fill('team')
      await form.getByLabel('every agent must filter by it').check()
      await form.getByRole('status', { name: 'Check' }).getByText('No findings').waitFor()
      await inspect(page, 'base-form')
      await form.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('heading', { level: 1, name: 'notes' }).waitFor()
      await page.getByText('each agent filters by it').waitFor()
      await inspect(page, 'base-empty')
      await page.getByRole('figure').getByText('knowledge add notes office.md --attribute team=acme').waitFor()
      await search(page).getByLabel('team').fill('acme')
      await search(page).getByLabel('Words').fill('office')
      await page.keyboard.press('Enter')
      await search(page).getByText('the base has no documents').waitFor()
      await page.getByRole('link', { name: 'Edit' }).click()
      await form.getByLabel('Name', { exact: true }).fill('Our notes')
      await form.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('heading', { level: 1, name: 'Our notes' }).waitFor()
      await page.getByRole('button', { name: 'Delete …' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete the base' }).click()
      await page.getByRole('heading', { level: 1, name: 'Knowledge' }).waitFor()
      await page.getByText('Our notes').waitFor({ state: 'detached' })
    })
    await inPage(
      '/knowledge/new',
      async (page) => {
        await page.getByRole('button', { name: 'Add an attribute' }).click()
        await inspect(page, 'base-form-360')
      },
      360,
    )
  })

  test('a new base replaces none of the same id', () => {
    const taken = async (page: Page) => {
      const form = page.getByRole('form', { name: 'Knowledge base' })
      await form.getByLabel('Id').fill('handbook')
      await form.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('alert').getByText('REVISION_MISMATCH').waitFor()
      await inspect(page, 'base-taken')
    }
    return inPage('/knowledge/new', taken, { expects })
  })

  test('an agent lists its bases', () =>
    inPage('/agents/desk', async (page) => {
      const section = page.getByRole('region', { name: 'Knowledge' })
      await section.getByRole('link', { name: 'Contracts' }).waitFor()
      assert.match((await section.textContent()) ?? '', /where customer is the value of customerId/)
      await section.scrollIntoViewIfNeeded()
      await inspect(page, 'agent-knowledge')
      await section.getByRole('link', { name: 'Handbook' }).click()
      await page.getByRole('heading', { level: 1, name: 'Handbook' }).waitFor()
    }))

  test('a list of documents goes on page by page', () =>
    inPage('/knowledge/cards', async (page) => {
      await page.getByRole('button', { name: 'Show more documents' }).click()
      await documents(page).nth(99).waitFor()
      await page.getByRole('button', { name: 'Show more documents' }).click()
      // The button has other words while it loads.
      await documents(page).nth(119).waitFor()
      await page.getByRole('button', { name: 'Show more documents' }).waitFor({ state: 'detached' })
      assert.equal(await documents(page).count(), 120)
    }))

  test('who may only read sees no button that changes anything', async () => {
    const reader = { database: 'default', id: 'user:anna', roles: ['read'], address: null }
    const { page, complaints, close } = await openPage(browser, server.url)
    await page.route('**/api/v1/principal', (route) => route.fulfill({ json: reader }))
    for (const [path, heading] of [
      ['/knowledge', 'Knowledge'],
      ['/knowledge/handbook', 'Handbook'],
      ['/knowledge/handbook/document?key=handbook.md', 'Handbook'],
      ['/knowledge/new', 'This base is not changed here'],
    ] as const) {
      await page.goto(`${server.url}${path}`)
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
      await page.getByText('anna').waitFor()
      for (const name of ['New base', 'Edit', 'Delete …', 'Add documents', 'Save'])
        assert.equal(await page.getByText(name, { exact: true }).count(), 0, `${path}: ${name}`)
      await inspect(page, `read-only ${heading}`)
    }
    assert.deepEqual(complaints, [])
    await close()
  })
})
