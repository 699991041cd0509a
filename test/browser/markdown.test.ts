/** Answers in Markdown: shown as elements, safe whatever a model writes, and steady while they are written. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defineAgent } from '@witan/core'
import { lastUserMessage, scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import type { Browser, Page } from 'playwright-core'
import { closePages, missing, openBrowser, openPage, inspect } from './support/browser.ts'

const fence = '```'
const rich = `# Your holidays

You have **12 days** left, _until March_. First line
second line.

- one with \`code\`
- two
  1. inner

| Month | Days |
| --- | ---: |
| May | 5 |
| June | 7 |

${fence}ts
const days = 12
${fence}

> Ask your manager, see [the rules](https://example.org/rules?year=2026) or https://example.net/all.
`
const hostile = [
  '<img src=x onerror="window.__attacked=1"> <script>window.__attacked=1</script>',
  '[click](javascript:window.__attacked=1) [data](data:text/html,<script>1</script>) [here](/agents)',
  '![pixel](https://attacker.example/pixel.png) ![x](javascript:window.__attacked=1)',
  '[https://bank.example](https://evil.example/login)',
  '<div onclick="window.__attacked=1">div</div>\n\n<svg onload="window.__attacked=1">',
  `| <img src=x> | [x](javascript:1) |\n|---|---|\n| <b>b</b> | c |`,
].join('\n\n')

describe('answers in the Studio', { skip: missing(), timeout: 300_000 }, () => {
  let browser: Browser
  let server: WitanServer
  let next = () => {}
  let waiting = new Promise<void>((resolve) => {
    next = resolve
  })

  before(async () => {
    browser = await openBrowser()
    const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
    const model = {
      ...scriptedModel((request) => (lastUserMessage(request) === 'hostile' ? hostile : rich), {
        id: 'scripted/writer',
      }),
    }
    /** Writes a paragraph whenever it is let. */
    const slow = {
      id: 'slow/writer',
      async *stream() {
        const parts = ['# Title\n\nFirst **par', 'agraph**.\n\n', '- one\n- t', 'wo\n\nLast']
        for (const text of parts) {
          yield { type: 'delta', text } as const
          await waiting
        }
        const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 }
        const text = parts.join('')
        yield { type: 'reply', reply: { text, toolCalls: [], finishReason: 'stop', usage, model: null } } as const
      },
    }
    server = await startServer({
      ...config,
      auth: { mode: 'none' },
      server: { ...config.server, port: 0 },
      agents: [
        defineAgent({ id: 'writer', model, instructions: 'Write.' }),
        defineAgent({ id: 'slow', model: slow, instructions: 'Write slowly.' }),
      ],
    })
  })
  after(async () => {
    next()
    await closePages()
    await server?.close()
  })

  async function ask(prompt: string, use: (page: Page) => Promise<void>, options: { width?: number } = {}) {
    const { page, complaints, close } = await openPage(browser, server.url, options)
    try {
      await page.goto(`${server.url}/conversations?agent=${prompt === 'go' ? 'slow' : 'writer'}`)
      await page.getByLabel('First message').fill(prompt)
      await page.getByRole('button', { name: 'Start', exact: true }).click()
      await page.getByTestId('answer').waitFor()
      await use(page)
      assert.deepEqual(complaints, [])
      assert.equal(await page.evaluate('window.__attacked'), undefined)
    } finally {
      await close()
    }
  }

  const answer = (page: Page) => page.getByTestId('chat').getByTestId('answer-text')
  const done = (page: Page) => page.locator('[data-testid=answer][data-state=completed]').waitFor()

  test('have headings, emphasis, lists, tables, code and marked links, also after a reload', () =>
    ask('rich', async (page) => {
      await done(page)
      for (const again of [false, true]) {
        if (again) await page.reload()
        const text = answer(page)
        await text.getByRole('heading', { name: 'Your holidays' }).waitFor()
        assert.equal(await text.locator('strong').textContent(), '12 days')
        assert.equal(await text.locator('em').textContent(), 'until March')
        assert.equal(await text.locator('ul > li').count(), 2)
        assert.equal(await text.locator('ul ol > li').textContent(), 'inner')
        assert.deepEqual(await text.locator('td').allTextContents(), ['May', '5', 'June', '7'])
        assert.equal(await text.locator('pre').textContent(), 'const days = 12\n')
        const link = text.getByRole('link').first()
        assert.equal(await link.getAttribute('href'), 'https://example.org/rules?year=2026')
        assert.match((await link.getAttribute('rel')) ?? '', /noopener.*noreferrer/)
        assert.equal(await link.getAttribute('target'), '_blank')
        assert.match((await link.textContent()) ?? '', /the rules.*↗.*example\.org/)
        assert.equal(await text.getByRole('link').count(), 2)
      }
      await inspect(page, 'markdown')
      await page.getByRole('treeitem').first().click()
      await page.getByTestId('detail').getByRole('heading', { name: 'Your holidays' }).waitFor()
    }))

  test('copy their code with one key', () =>
    ask('rich', async (page) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      const copy = answer(page).getByRole('button', { name: 'Copy' })
      await copy.focus()
      await page.keyboard.press('Enter')
      await answer(page).getByText('Copied').waitFor()
      assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'const days = 12')
    }))

  test('hold no HTML, load nothing from elsewhere, and link to web pages only, with their host [D19]', () =>
    ask('hostile', async (page) => {
      await done(page)
      const text = answer(page)
      await text.getByRole('link').last().waitFor()
      await text.getByText('<script>window.__attacked=1</script>').first().waitFor()
      assert.equal(
        await page.locator('#app :is(script, iframe, img, svg[onload], [onclick], object, embed)').count(),
        0,
      )
      const links = await text.getByRole('link').evaluateAll((found) => found.map((one) => one.getAttribute('href')))
      assert.deepEqual(links, ['https://attacker.example/pixel.png', 'https://evil.example/login'])
      assert.match((await text.getByRole('link').last().textContent()) ?? '', /bank\.example.*evil\.example/)
    }))

  test('keep what stands there while they are written', () =>
    ask('go', async (page) => {
      const text = answer(page)
      const step = () => {
        const go = next
        waiting = new Promise<void>((resolve) => {
          next = resolve
        })
        go()
      }
      await text.getByRole('heading', { name: 'Title' }).waitFor()
      await text.getByText('First **par').waitFor()
      await page.evaluate(`(() => {
        const chat = document.querySelector('[data-testid=chat] [data-testid=answer-text]')
        window.__heading = chat.querySelector('h3')
        window.__removed = []
        new MutationObserver((changes) => {
          for (const { removedNodes } of changes)
            for (const node of removedNodes) if (node.nodeType === 1) window.__removed.push(node.outerHTML)
        }).observe(chat, { childList: true, subtree: true })
      })()`)
      step()
      await text.locator('strong').getByText('paragraph').waitFor()
      step()
      await text.locator('li').nth(1).waitFor()
      step()
      await text.getByText('Last').waitFor()
      step()
      await done(page)
      const same = `window.__heading === document.querySelector('[data-testid=chat] [data-testid=answer-text] h3')`
      assert.equal(await page.evaluate(same), true)
      assert.deepEqual(await page.evaluate('window.__removed'), [])
      assert.deepEqual(await text.locator('li').allTextContents(), ['one', 'two'])
    }))

  test('fit a screen of 400 pixels', () =>
    ask(
      'rich',
      async (page) => {
        await done(page)
        await answer(page).getByRole('heading', { name: 'Your holidays' }).waitFor()
        assert.ok(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'))
        await inspect(page, 'markdown-narrow')
      },
      { width: 400 },
    ))
})
