/** Drives the built Studio in a real browser against the stub, or against the server at `WITAN_STUDIO_URL`. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import { closePages, missing, openBrowser, openPage, inspect } from './support/browser.ts'
import { payloads } from './support/canned-agents.ts'
import { startStub } from './support/stub-server.ts'
import { openTarget, type Target } from './support/target.ts'

const skip = missing()

describe('the Studio', { skip, timeout: 300_000 }, () => {
  let browser: Browser
  let target: Target

  before(async () => {
    browser = await openBrowser()
    target = await openTarget()
  })
  after(async () => {
    await closePages()
    await target?.close()
  })

  /** Runs `use` in a fresh page that has entered the Studio, and holds that the page did nothing it should not. */
  async function inPage(
    use: (page: Page) => Promise<void>,
    options: { width?: number; expects?: RegExp } = {},
  ): Promise<void> {
    const { page, complaints, close } = await openPage(browser, target.origin, options)
    try {
      await page.goto(target.entry)
      await use(page)
      assert.deepEqual(complaints, [])
      assert.equal(await page.evaluate('window.__attacked'), undefined)
    } finally {
      await close()
    }
  }

  async function start(page: Page, prompt: string): Promise<void> {
    await page.goto(`${target.origin}/conversations?agent=${target.agent}`)
    for (const [name, value] of Object.entries(target.parameters)) {
      await page.getByLabel(name, { exact: true }).fill(value)
    }
    await page.getByLabel('First message').fill(prompt)
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.waitForURL(/\/conversations\/[\w-]+:/)
  }

  const answer = (page: Page, state: string) => page.locator(`[data-testid=answer][data-state=${state}]`)
  const rows = (page: Page) => page.getByRole('treeitem')

  test('lists the agents and shows one with its graph and its parameters', () =>
    inPage(async (page) => {
      await page.waitForURL(/\/agents$/)
      await page.locator(`nav[aria-label=Agents] a[href="/agents/${target.agent}"]`).click()
      await page.waitForURL(`${target.origin}/agents/${target.agent}`)
      await page.locator('.react-flow__node').nth(1).waitFor()
      for (const name of Object.keys(target.parameters)) await page.getByRole('cell', { name }).first().waitFor()
      const inGraph = page.locator('.react-flow__node a').last()
      const href = await inGraph.getAttribute('href')
      await inGraph.focus()
      await page.keyboard.press('Enter')
      await page.waitForURL(`${target.origin}${href}`)
    }))

  test('on a narrow screen the graph is a list that leads to the agents', () =>
    inPage(
      async (page) => {
        await page.goto(`${target.origin}/agents/${target.agent}`)
        const lines = page.getByTestId('outline').locator('li')
        await lines.nth(1).waitFor()
        assert.equal(await page.locator('.react-flow').count(), 0)
        await inspect(page, 'outline')
        const link = page.getByTestId('outline').getByRole('link').first()
        const href = await link.getAttribute('href')
        await link.focus()
        await page.keyboard.press('Enter')
        await page.waitForURL(`${target.origin}${href}`)
        await page.setViewportSize({ width: 900, height: 800 })
        await page.goto(`${target.origin}/agents/${target.agent}`)
        await lines.nth(1).waitFor()
        assert.equal(await page.locator('.react-flow').count(), 0, 'a drawing would be too small to read')
        await page.setViewportSize({ width: 1200, height: 800 })
        await page.locator('.react-flow__node').first().waitFor()
      },
      { width: 400 },
    ))

  test('an agent is shown with its tools, and what it was told', () =>
    inPage(async (page) => {
      await page.goto(`${target.origin}/agents/user-info-agent`)
      const tools = page.getByTestId('tools')
      await tools.getByText('ChangeUserName', { exact: true }).waitFor()
      await tools.getByText('Changes the shown name.').waitFor()
      await tools.getByText('may need approval', { exact: true }).waitFor()
      await tools.getByText('Approval', { exact: true }).click()
      await tools.getByText('A call whose arguments fit its condition waits until a person allows it.').waitFor()
      await tools.getByText('"maxLength": 3').waitFor()
      await page.getByText('Change what is asked, nothing else.').waitFor()
      await page.goto(`${target.origin}/agents/zz-hostile-agent`)
      await page.getByText('It has no tools: its model can only answer, or ask other agents.').waitFor()
    }))

  test('says on every screen that a scripted model answers', () =>
    inPage(async (page) => {
      for (const path of ['/agents', '/conversations']) {
        await page.goto(`${target.origin}${path}`)
        await page.getByText('Scripted model.').waitFor()
      }
    }))

  test('streams a run, grows its tree, waits for an action, takes the answer, and is the same after a reload', () =>
    inPage(async (page) => {
      await start(page, target.prompt)
      await page.getByTestId('chat').getByText(target.prompt).waitFor()
      await rows(page).nth(1).waitFor()
      const chat = page.getByTestId('chat')
      await chat.getByTestId('action').getByRole('heading', { name: target.action }).waitFor()
      await answer(page, 'waiting').waitFor()
      const waiting = await rows(page).evaluateAll((found) =>
        found.map((row) => [row.getAttribute('data-call'), row.getAttribute('data-state')]),
      )
      assert.ok(waiting.length >= 4)
      await page.reload()
      await chat.getByTestId('action').getByRole('heading', { name: target.action }).waitFor()
      const again = await rows(page).evaluateAll((found) =>
        found.map((row) => [row.getAttribute('data-call'), row.getAttribute('data-state')]),
      )
      assert.deepEqual(again, waiting)

      await rows(page).filter({ hasText: target.action }).last().click()
      const card = page.getByTestId('detail').getByTestId('action')
      await card.getByLabel('Answer (text or JSON)').fill('{not json')
      await card.getByRole('button', { name: 'Send answer' }).click()
      await card.getByText('This is not JSON').waitFor()
      await card.getByLabel('Answer (text or JSON)').fill(target.answer)
      await card.getByRole('button', { name: 'Send answer' }).click()
      await answer(page, 'completed').waitFor()
      assert.equal(await page.getByTestId('action').count(), 0)
      await page.getByTestId('detail').getByText('Result').waitFor()

      const told = await chat.textContent()
      await page.reload()
      await answer(page, 'completed').waitFor()
      assert.equal(await chat.textContent(), told)
    }))

  test('the text of an answer arrives in pieces', () =>
    inPage(async (page) => {
      // Looks at each change of the page, so that no piece is missed on a busy machine.
      await page.addInitScript(`
        window.seenLengths = new Set()
        const look = () => {
          const text = document.querySelector('[data-testid=answer] [data-testid=answer-text]')
          if (text) window.seenLengths.add((text.textContent ?? '').length)
        }
        new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true })
      `)
      await start(page, target.shortPrompt)
      await answer(page, 'completed').waitFor()
      const lengths = await page.evaluate('window.seenLengths.size')
      assert.ok(Number(lengths) > 2, `saw ${lengths} lengths of the text`)
    }))

  test('a second message makes a second run, and the first can still be looked at', () =>
    inPage(async (page) => {
      await start(page, target.shortPrompt)
      await answer(page, 'completed').waitFor()
      await page.getByLabel('Message', { exact: true }).fill(target.shortPrompt)
      await page.keyboard.press('Enter')
      await answer(page, 'completed').nth(1).waitFor()
      await page.getByRole('heading', { name: 'Run 2 of 2' }).waitFor()
      await page.getByRole('button', { name: 'Earlier run' }).click()
      await page.getByRole('heading', { name: 'Run 1 of 2' }).waitFor()
      await page.goto(`${target.origin}/conversations`)
      await page.getByTestId('recent').getByText(target.shortPrompt).first().waitFor()
      await page.getByTestId('recent').getByRole('link').first().click()
      await answer(page, 'completed').first().waitFor()
    }))

  test('a waiting run can be cancelled', () =>
    inPage(async (page) => {
      await start(page, target.prompt)
      await answer(page, 'waiting').waitFor()
      await page.getByRole('button', { name: 'Cancel run' }).click()
      await answer(page, 'cancelled').waitFor()
      assert.equal(await page.getByTestId('action').count(), 0)
      assert.ok(await page.getByLabel('Message', { exact: true }).isEnabled())
    }))

  test('the tree is walked with the arrow keys', () =>
    inPage(async (page) => {
      await start(page, target.prompt)
      await answer(page, 'waiting').waitFor()
      const all = await rows(page).count()
      await rows(page).first().focus()
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      const second = await rows(page).nth(1).getAttribute('data-call')
      assert.equal(await page.locator('[role=treeitem][aria-selected=true]').getAttribute('data-call'), second)
      await page.keyboard.press('Home')
      await page.keyboard.press('ArrowLeft')
      assert.equal(await rows(page).count(), 1)
      await page.keyboard.press('ArrowRight')
      assert.equal(await rows(page).count(), all)
    }))

  test('nothing is wider than a screen of 380 pixels', () =>
    inPage(
      async (page) => {
        const fits = async () =>
          assert.ok(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'), page.url())
        await page.goto(`${target.origin}/agents/${target.agent}`)
        await page.getByTestId('outline').getByRole('link').first().waitFor()
        await fits()
        await start(page, target.prompt)
        await answer(page, 'waiting').waitFor()
        await fits()
        await page.getByRole('button', { name: 'Run (waiting)' }).click()
        await rows(page).nth(1).click()
        await page.getByTestId('detail').waitFor()
        await fits()
      },
      { width: 380 },
    ))

  test('an address that leads nowhere says so and leads on', () =>
    inPage(
      async (page) => {
        await page.goto(`${target.origin}/conversations/chats:nothing-here`)
        await page.getByRole('alert').getByText('NOT_FOUND').waitFor()
        await page.getByRole('link', { name: 'All conversations' }).click()
        await page.getByRole('heading', { name: 'New conversation' }).waitFor()
        await page.goto(`${target.origin}/agents/nothing-here`)
        await page.getByText('There is no such agent').waitFor()
      },
      { expects: /404/ },
    ))

  test('the first page is at most 400 kB, compressed', async () => {
    const html = await (await fetch(`${target.origin}/`)).text()
    const files = [...html.matchAll(/(?:src|href)="(\/[^"]+\.(?:js|css))"/g)].map(([, file]) => file)
    assert.ok(files.length >= 2)
    const sizes = files.map(async (file) => {
      const bytes = await (await fetch(`${target.origin}${file}`)).arrayBuffer()
      return gzipSync(new Uint8Array(bytes)).length
    })
    const size = (await Promise.all(sizes)).reduce((sum, one) => sum + one, 0)
    assert.ok(size < 400_000, `${size} bytes`)
  })

  test('nothing asks for inline scripts or another origin [D19]', async () => {
    const html = await (await fetch(`${target.origin}/`)).text()
    assert.doesNotMatch(html, /<script(?![^>]*\ssrc=)/)
    assert.doesNotMatch(html, /\son\w+=/)
    assert.doesNotMatch(html, /(src|href)="(https?:)?\/\//)
  })
})

describe('the Studio against a stub with trouble', { skip, timeout: 300_000 }, () => {
  let browser: Browser
  before(async () => {
    browser = await openBrowser()
  })
  after(closePages)

  test('stored markup in names, descriptions, tools and messages is text and runs nothing [D19]', async () => {
    const stub = await startStub({ pieceMs: 2 })
    const { page, complaints, close } = await openPage(browser, stub.url)
    await page.goto(`${stub.url}/agents/zz-hostile-agent`)
    await page.locator('.react-flow__node').first().waitFor()
    await page.goto(`${stub.url}/conversations?agent=zz-hostile-agent`)
    await page.getByLabel('note', { exact: true }).fill(payloads[0])
    await page.getByLabel('First message').fill(payloads.join('\n'))
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.locator('[data-testid=answer][data-state=completed]').waitFor()
    for (const row of await page.getByRole('treeitem').all()) {
      await row.click()
      await page.getByTestId('detail').waitFor()
    }
    await page.getByRole('treeitem').first().click()
    await page.getByRole('button', { name: 'Open document' }).click()
    await page.getByTestId('document').getByText(payloads[1]).first().waitFor()
    assert.equal(await page.evaluate('window.__attacked'), undefined)
    assert.equal(await page.locator('#app :is(script, iframe, img, a[href^="javascript:"])').count(), 0)
    assert.deepEqual(complaints, [])
    await close()
    await stub.close()
  })

  test('an empty server says what to do, and a refusal has its code, its hint and a way back', async () => {
    const stub = await startStub({ agents: [] })
    const { page, complaints, close } = await openPage(browser, stub.url, { expects: /500|401/ })
    await page.goto(`${stub.url}/agents`)
    await page.getByText('No agents yet').waitFor()
    await page.goto(`${stub.url}/conversations`)
    await page.getByText('No agent to talk to yet').waitFor()
    stub.fail('INTERNAL')
    await page.goto(`${stub.url}/agents`)
    await page.getByRole('alert').getByText('INTERNAL').waitFor()
    stub.fail(null)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('No agents yet').waitFor()
    stub.fail('UNAUTHENTICATED')
    await page.goto(`${stub.url}/agents`)
    await page.getByText('This page needs the token of the server').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0)
    assert.deepEqual(complaints, [])
    await close()
    await stub.close()
  })

  test('a failed run shows the code and the detail where it failed', async () => {
    const stub = await startStub({ pieceMs: 2 })
    const { page, complaints, close } = await openPage(browser, stub.url)
    await page.goto(`${stub.url}/conversations?agent=company-assistant-agent`)
    await page.getByLabel('country', { exact: true }).fill('France')
    await page.getByLabel('First message').fill('please fail')
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.getByTestId('chat').getByRole('alert').getByText('MODEL_CALL_FAILED').waitFor()
    await page.getByRole('treeitem').filter({ hasText: 'get-my-record' }).last().click()
    await page.getByTestId('detail').getByText('QUERY_TIMEOUT').waitFor()
    assert.deepEqual(complaints, [])
    await close()
    await stub.close()
  })
})
