/** A person's server, and one between it and an agent elsewhere, whose process may die: each answers over HTTP, and both keep to the time of the machine. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { createRuntime, type Runtime, type RuntimeOptions } from '@witan/core'
import { type App, createApp, createAuth, createLog, noFederation } from '@witan/server'

/** One side: what answers at its address may be another process than before. */
export interface Side {
  readonly domain: string
  readonly url: string
  /** Leads its address to a new process; null: to none, and all connections break. */
  lead(runtime: Runtime | null): void
  close(): Promise<void>
}

/** Opens the address of a domain. `others` are asked for their keys. */
export async function openSide(domain: string, others: () => readonly Side[]): Promise<Side> {
  let app: App | null = null
  const server = createServer((request, response) => {
    if (app === null) return void response.destroy()
    void getRequestListener(app.fetch)(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const fetchJson = async (asked: string): Promise<unknown> => {
    const { hostname, pathname } = new URL(asked)
    const side = others().find((one) => one.domain === hostname)
    const reply = await fetch(`${side?.url}${pathname}`)
    return reply.json()
  }
  return {
    domain,
    url,
    lead(runtime) {
      app = runtime === null ? null : appOf(runtime, domain, fetchJson)
      server.closeAllConnections()
    },
    async close() {
      app = null
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function appOf(runtime: Runtime, domain: string, fetchJson: (url: string) => Promise<unknown>): App {
  const never = new AbortController().signal
  return createApp({
    ...{ runtime, auth: createAuth('none', () => 80), log: createLog('silent'), studio: new URL('about:blank') },
    ...{ hosts: { port: () => 80, allowed: ['127.0.0.1', domain] }, stop: { streams: never, waits: never }, fetchJson },
    federation: { ...noFederation, domain, domains: [domain], publicUrl: () => `https://${domain}` },
  })
}

/** The runtime of a side. */
export function runtimeOf({ domain }: Side, others: readonly Side[], options: RuntimeOptions): Runtime {
  const resolve = Object.fromEntries(others.map((one) => [one.domain, one.url]))
  return createRuntime({ domains: { [domain]: 'default' }, federation: { resolve }, retry: { tries: 1 }, ...options })
}
