/** Runs of a server as its clients make them. */
import { prompt } from './scenario.ts'

/** Runs that the clients keep under way. */
export const clients = 4

/** Makes this many runs at once, and waits for their results. */
export async function runServed(port: number | undefined): Promise<void> {
  await Promise.all(Array.from({ length: clients }, () => run(`http://127.0.0.1:${port}`)))
}

async function run(url: string): Promise<void> {
  // A slow server may close a connection as idle in the moment of the request.
  const response = await start(url).catch(() => start(url))
  const { run } = (await response.json()) as { readonly run?: { readonly status: string } }
  if (run?.status !== 'completed') throw new Error(`a run ended as ${run?.status ?? response.status}`)
}

function start(url: string): Promise<Response> {
  return fetch(`${url}/api/v1/conversations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agent: 'root', id: 'chats/', prompt }),
  })
}
