/** An agent elsewhere whose documents lead to a private address: each URL of them is refused, and nothing there is asked. */
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { call, lastUserMessage } from '@witan/core/testing'
import { createStage } from '../support/stage.ts'

const site = 'https://b.test'
const finger = '/.well-known/webfinger'
const cardPath = '/card/docs'
const a2aPath = '/a2a/.well-known/agent-card.json'
const keys = '/.well-known/jwks.json'

/** What the documents say where nothing is wrong. */
const links = {
  card: `${site}${cardPath}`,
  endpoint: `${site}/a2a`,
  interface: `${site}/a2a`,
  isSigned: false,
}
type Links = typeof links

const documentsOf = (of: Links): Readonly<Record<string, object>> => ({
  [finger]: {
    subject: 'acct:docs@b.test',
    links: [{ rel: 'https://mentionable.dev/ns/rel/agent-card', href: of.card }],
  },
  [cardPath]: { address: '@docs@b.test', name: 'Docs', a2a: { endpoint: of.endpoint } },
  [a2aPath]: {
    name: 'Docs',
    supportedInterfaces: [{ url: of.interface, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: true },
    // Only who signs has keys that are asked for.
    ...(of.isSigned ? { signatures: [{ protected: 'e30', signature: 'x' }] } : {}),
  },
  [keys]: { keys: [] },
})

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

describe('an agent elsewhere', () => {
  let documents: Readonly<Record<string, object>> = {}
  /** Where a path of its server redirects to. */
  let redirects: Readonly<Record<string, string>> = {}
  const inside: string[] = []
  const remote = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    const location = redirects[path]
    if (location !== undefined) return response.writeHead(302, { location }).end()
    const found = request.method === 'POST' ? undefined : documents[path]
    return response.writeHead(found === undefined ? 404 : 200).end(JSON.stringify(found ?? {}))
  })
  const internal = createServer((request, response) => {
    inside.push(`${request.method} ${request.url}`)
    response.end('{}')
  })
  let [port, secret] = [0, 0]
  before(async () => {
    port = await listening(remote)
    secret = await listening(internal)
  })
  after(() => {
    remote.close()
    internal.close()
  })

  /** The code with which a call ends. */
  async function calledBy(at: { address: string } | { card: string }): Promise<unknown> {
    const { ask, events, runtime } = createStage({
      agents: [{ id: 'desk', remotes: [{ name: 'docs', ...at }] }],
      plays: { desk: (request, turn) => (turn === 0 ? call('docs', { message: lastUserMessage(request) }) : 'done') },
      options: {
        domains: { 'a.test': 'default' },
        federation: { resolve: { 'b.test': `http://127.0.0.1:${port}` } },
      },
    })
    const { status } = await ask('desk', 'go', { id: 'chats/1' })
    assert.equal(status, 'completed')
    const ended = (await events('chats/1')).filter(
      ({ document, type }) => document === 'chats/1/docs' && type !== 'start',
    )
    await runtime.close()
    return ended.find(({ type }) => type === 'error')?.content['code']
  }

  const wrong: Readonly<Record<string, (path: string) => string>> = {
    'a private address': (path) => `https://127.0.0.1:${secret}${path}`,
    'a private address without TLS': (path) => `http://127.0.0.1:${secret}${path}`,
    'a name of a private address': (path) => `https://localhost:${secret}${path}`,
    'a private address with a password': (path) => `https://a:b@127.0.0.1:${secret}${path}`,
    'a file': () => 'file:///etc/passwd',
  }
  const places: Readonly<Record<string, (to: (path: string) => string) => void>> = {
    'the link of its WebFinger': (to) => {
      documents = documentsOf({ ...links, card: to(cardPath) })
    },
    'the endpoint of its card': (to) => {
      documents = documentsOf({ ...links, endpoint: to('/a2a') })
    },
    'the interface of its A2A card': (to) => {
      documents = documentsOf({ ...links, interface: to('/a2a') })
    },
    ...Object.fromEntries(
      [finger, cardPath, a2aPath, keys].map((path) => [
        `a redirect of ${path}`,
        (to: (path: string) => string) => {
          redirects = { [path]: to(path) }
        },
      ]),
    ),
  }

  for (const [place, lead] of Object.entries(places))
    for (const [what, to] of Object.entries(wrong))
      test(`[D21] ${place} leads to ${what}`, async () => {
        documents = documentsOf({ ...links, isSigned: place.endsWith(keys) })
        redirects = {}
        lead(to)
        assert.equal(await calledBy({ address: '@docs@b.test' }), 'URL_NOT_PUBLIC')
        assert.deepEqual(inside, [])
      })

  test('[D21] its card itself is at a private address', async () => {
    for (const scheme of ['http', 'https'])
      assert.equal(await calledBy({ card: `${scheme}://127.0.0.1:${secret}/card` }), 'URL_NOT_PUBLIC')
    assert.deepEqual(inside, [])
  })
})
