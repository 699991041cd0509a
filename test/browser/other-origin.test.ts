/** Pages of other origins in a real browser: a listed one works with the client, all others are left outside. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import type { Browser, Page } from 'playwright-core'
import { rolldown } from 'rolldown'
import { closePages, missing, openBrowser } from './support/browser.ts'

/** The client as a page of somebody's own application loads it. */
async function clientScript(): Promise<string> {
  const input = fileURLToPath(new URL('../../packages/client/src/index.ts', import.meta.url))
  const bundle = await rolldown({ input, platform: 'browser', resolve: { conditionNames: ['witan-source', 'import'] } })
  const { output } = await bundle.generate({ format: 'esm' })
  await bundle.close()
  return output[0].code
}

/** A server of nothing but a page and that script. */
async function startPages(script: string): Promise<{ readonly server: Server; readonly origin: string }> {
  const server = createServer((request, response) => {
    const isScript = request.url === '/client.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? script : '<!doctype html><title>An application</title>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

describe('a page of another origin', { skip: missing(), timeout: 120_000 }, () => {
  let browser: Browser
  let witan: WitanServer
  let pages: readonly { readonly server: Server; readonly origin: string }[]
  before(async () => {
    browser = await openBrowser()
    const script = await clientScript()
    pages = [await startPages(script), await startPages(script)]
    const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
    const model = scriptedModel(() => ({ deltas: ['Good ', 'morning.'], text: 'Good morning.' }))
    witan = await startServer({
      ...config,
      server: { ...config.server, port: 0, allowedOrigins: [pages[0]?.origin ?? ''] },
      agents: [defineAgent({ id: 'greeter', model, instructions: 'Greet.' })],
    })
  })
  after(async () => {
    await closePages()
    await witan?.close()
    for (const { server } of pages ?? []) server.close()
  })

  async function on(index: number, use: (page: Page) => Promise<void>): Promise<void> {
    const page = await browser.newPage()
    try {
      await page.goto(pages[index]?.origin ?? '')
      await use(page)
    } finally {
      await page.close()
    }
  }

  test('that is listed talks to the server with the client, and reads what it needs of the answers', () =>
    on(0, async (page) => {
      const found = await page.evaluate(
        async ({ url, token }) => {
          const path = '/client.js'
          const { createClient } = (await import(path)) as typeof import('@witan/client')
          const chat = createClient({ url, token }).conversation('greeter')
          const types: string[] = []
          for await (const event of chat.stream('Hello')) types.push(event.type)
          const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
          const agent = await fetch(`${url}/api/v1/agents/greeter`, { headers })
          const stale = await fetch(`${url}/api/v1/agents/greeter`, {
            method: 'PUT',
            headers: { ...headers, 'if-match': '"99"' },
            body: JSON.stringify({ model: 'x', instructions: 'y' }),
          })
          const keyed = () =>
            fetch(`${url}/api/v1/conversations`, {
              method: 'POST',
              headers: { ...headers, 'idempotency-key': 'one' },
              body: JSON.stringify({ agent: 'greeter' }),
            })
          await keyed()
          const replayed = (await keyed()).headers.get('idempotency-replayed')
          const stranger = (await (await fetch(`${url}/api/v1/agents`)).json()) as { code: string }
          return { types, etag: agent.headers.get('etag'), stale: stale.status, replayed, stranger: stranger.code }
        },
        { url: witan.url, token: witan.token ?? '' },
      )
      assert.ok(found.types.includes('delta') && found.types.at(-1) === 'end', found.types.join())
      // A compressed answer is another representation, and its tag says which.
      assert.match(found.etag ?? '', /^"1(?:-(?:br|gzip))?"$/)
      assert.deepEqual(
        { ...found, types: [], etag: null },
        {
          types: [],
          etag: null,
          stale: 412,
          replayed: 'true',
          stranger: 'UNAUTHENTICATED',
        },
      )
    }))

  test('that is not listed reads nothing and changes nothing, also in a browser that has the Studio open', () =>
    on(1, async (page) => {
      await page.goto(witan.pageUrl)
      await page.goto(pages[1]?.origin ?? '')
      const outcomes = await page.evaluate(
        async ({ url, token }) => {
          const body = JSON.stringify({ id: 'planted', model: 'x', instructions: 'y' })
          const json = { 'content-type': 'application/json' }
          const tries: (() => Promise<Response>)[] = [
            () => fetch(`${url}/api/v1/agents`, { headers: { authorization: `Bearer ${token}` } }),
            () => fetch(`${url}/api/v1/agents`, { credentials: 'include' }),
            () => fetch(`${url}/api/v1/agents`, { method: 'POST', headers: json, body, credentials: 'include' }),
            () => fetch(`${url}/api/v1/agents`, { method: 'POST', body, credentials: 'include', mode: 'no-cors' }),
          ]
          return Promise.all(
            tries.map((attempt) =>
              attempt().then(
                ({ type }) => type,
                () => 'refused',
              ),
            ),
          )
        },
        { url: witan.url, token: witan.token ?? '' },
      )
      assert.deepEqual(outcomes, ['refused', 'refused', 'refused', 'opaque'])
      const answer = await fetch(`${witan.url}/api/v1/agents`, { headers: { authorization: `Bearer ${witan.token}` } })
      const { items } = (await answer.json()) as { items: { id: string }[] }
      assert.deepEqual(
        items.map(({ id }) => id),
        ['greeter'],
      )
    }))

  test('that is listed cannot use the cookie of the Studio', () =>
    on(0, async (page) => {
      await page.goto(witan.pageUrl)
      await page.goto(pages[0]?.origin ?? '')
      const outcome = await page.evaluate(
        (url) =>
          fetch(`${url}/api/v1/agents`, { credentials: 'include' }).then(
            ({ status }) => status,
            () => 'refused',
          ),
        witan.url,
      )
      assert.equal(outcome, 'refused')
    }))
})
