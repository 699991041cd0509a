/** A server between a client and a real one that puts hostile text into every text of every reply. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a terminal would obey or hide: escape codes, a title, a link, backspaces, C1 controls, bidi, no width, tags, a lone surrogate, piles of marks. */
export const hostile = [
  '\u001b[2J\u001b[31mred\u001b]0;title\u0007\u001b]8;;http://x\u001b\\link\u001bc',
  '\b\u007f\u0000\r\u000b\u0085\u009b31m\u009d0;t\u009c',
  '\u202eexe\u2066\u200e\u200b\u2060\ufeff\u00ad\u2028\u2029\u{e0041}\u{e007f}\ud800',
  `a${'\u0301'.repeat(40)}`,
].join('')

/** The same in an id, which an address can hold. */
const hostileId = hostile.replace('\ud800', '')

/** These keep their form, so that a client goes on and prints what stands beside them. */
const kept =
  /^(type|kind|status|state|source|authorKind|severity|.*At|at|nextCursor|olderCursor|newerCursor|mode|sendToModel|origin|role)$/
/** Of a path, the hostile part, however the client escapes it. */
const inPaths = /%1[bB](?:%[\da-fA-F]{2}|[^/?&])*/g

/** A hostile server. With `everything`, also words that a client decides by are hostile. */
export interface HostileServer {
  readonly url: string
  everything: boolean
  close(): Promise<void>
}

/** Starts one in front of the server at `url`. */
export async function startHostileServer(url: string): Promise<HostileServer> {
  const state = { everything: false }
  const server = createServer((request, response) => {
    pass(request, response, { url, state }).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    get everything() {
      return state.everything
    },
    set everything(is) {
      state.everything = is
    },
    close: () => {
      server.closeAllConnections()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

interface Behind {
  readonly url: string
  readonly state: { readonly everything: boolean }
}

async function pass(request: IncomingMessage, response: ServerResponse, { url, state }: Behind): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' && !/^(host|connection|content-length|accept-encoding)$/.test(name)
      ? [[name, value]]
      : [],
  )
  const reply = await fetch(url + (request.url ?? '').replace(inPaths, ''), {
    method: request.method ?? 'GET',
    headers,
    ...(body.length === 0 ? {} : { body: unspoilt(body.toString()) }),
  })
  const type = reply.headers.get('content-type') ?? ''
  response.writeHead(reply.status, { 'content-type': type })
  if (!/json|event-stream|ndjson/.test(type)) {
    response.end(/text|mermaid/.test(type) ? (await reply.text()) + hostile : Buffer.from(await reply.arrayBuffer()))
    return
  }
  let rest = ''
  const lines = /event-stream|ndjson/.test(type)
  const decoder = new TextDecoder()
  for await (const chunk of reply.body ?? []) {
    rest += decoder.decode(chunk, { stream: true })
    if (!lines) continue
    const end = rest.lastIndexOf('\n') + 1
    response.write(
      rest.slice(0, end).replace(/^(data: )?(\{.*\})$/gm, (_, lead = '', json) => lead + spoiltJson(json, state)),
    )
    rest = rest.slice(end)
  }
  response.end(lines ? rest : spoiltJson(rest, state))
}

function spoiltJson(json: string, state: Behind['state']): string {
  return json === '' ? json : JSON.stringify(spoilt(JSON.parse(json), '', state))
}

function unspoilt(json: string): string {
  return [hostile, hostileId].reduce((text, part) => text.replaceAll(JSON.stringify(part).slice(1, -1), ''), json)
}

function spoilt(value: unknown, key: string, state: Behind['state']): unknown {
  if (typeof value === 'string')
    return !state.everything && kept.test(key) ? value : value + (/id$/i.test(key) ? hostileId : hostile)
  if (Array.isArray(value)) return value.map((item) => spoilt(item, key, state))
  if (typeof value !== 'object' || value === null) return value
  const isNamed = /^(parameters|arguments|byAgent|bound|fields|policy|output|result)$/.test(key)
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [isNamed ? name + hostile : name, spoilt(item, name, state)]),
  )
}
