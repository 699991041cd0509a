/** Where a server listens, and whether a server of Witan answers there. */
import type { Config } from '@witan/server'

const ANSWER_LIMIT_MS = 3_000

/** The address of a server on this machine. */
export function urlOf({ host, port }: Pick<Config['server'], 'host' | 'port'>): string {
  return `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`
}

/** True if a server of Witan answers at that address: its `/healthz` says so in JSON. */
export async function isWitan(url: string): Promise<boolean> {
  try {
    const answer = await look(`${url}/healthz`)
    const said: unknown = await answer.json()
    return typeof said === 'object' && said !== null && 'status' in said && said.status === 'ok'
  } catch {
    return false
  }
}

/** The status that an address answers with; null without an answer. */
export async function statusOf(url: string): Promise<number | null> {
  try {
    const answer = await look(url)
    await answer.body?.cancel()
    return answer.status
  } catch {
    return null
  }
}

function look(url: string): Promise<Response> {
  return fetch(url, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS), redirect: 'manual' })
}
