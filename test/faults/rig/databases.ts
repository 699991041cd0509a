/** A server for several databases at once, as one with keys would be: the bearer of a request says whose it is. One runtime works for all. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { localPrincipal, type Principal } from '@witan/core'
import { type DatabaseId, WitanError } from '@witan/protocol'
import { type Auth, createApp, createAuth, createLog, loadConfig, openRuntime } from '@witan/server'

/** The database that needs no bearer. */
export const defaultDatabase = 'default'

/** Serves the default database and these others until the process ends. */
export async function serveDatabases(file: string, others: readonly string[]): Promise<void> {
  const config = await loadConfig({ file })
  const log = createLog(config.logLevel)
  const runtime = await openRuntime(config, log)
  let port = 0
  const hosts = { port: () => port, allowed: [] }
  const stop = { streams: new AbortController().signal, waits: new AbortController().signal }
  const names = [defaultDatabase, ...others]
  const principals = new Map<string, Principal>(
    names.map((name) => [name, { ...localPrincipal, database: name as DatabaseId }]),
  )
  const auth: Auth = {
    ...createAuth('none', () => port),
    async check({ headers }) {
      const principal = principals.get(headers.get('authorization')?.replace('Bearer ', '') ?? defaultDatabase)
      if (principal === undefined) throw new WitanError('UNAUTHENTICATED', 'No such database.')
      return principal
    },
  }
  const app = createApp({ runtime, auth, hosts, log, stop, studio: new URL('file:///nowhere/') })
  const server = createServer(async (incoming, outgoing) => {
    const gone = new AbortController()
    outgoing.on('close', () => gone.abort())
    const { method = 'GET', headers, url = '/' } = incoming
    const body = method === 'GET' ? {} : { body: Readable.toWeb(incoming) as never, duplex: 'half' as const }
    const sent = Object.entries(headers).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : []))
    const request = new Request(`http://${headers.host}${url}`, {
      method,
      headers: sent as [string, string][],
      signal: gone.signal,
      ...body,
    })
    const response = await app.fetch(request)
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    if (response.body === null) outgoing.end()
    else
      Readable.fromWeb(response.body as ReadableStream)
        .on('error', () => outgoing.destroy())
        .pipe(outgoing)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
  console.log(JSON.stringify({ type: 'ready', url: `http://127.0.0.1:${port}` }))
}
