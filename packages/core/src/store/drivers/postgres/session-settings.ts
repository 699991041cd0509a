/** What a new connection leads to, and what is set on it: by statements, because a pooler refuses them as startup parameters. */
import type { ClientBase } from 'pg'
import { NotWritable } from './error.ts'
import type { Timeouts } from './settings.ts'

/** What a connection leads to. */
interface Peer {
  /** The process on the server. */
  readonly pid: number
  /** Whether something stands between that gives process ids of its own, as poolers do. */
  readonly isPooled: boolean
}

interface Found {
  readonly pid: number
  readonly standby: boolean
  readonly fixed: boolean
}

/** How long a new connection may take to say where it leads, in ms. */
const lookMs = 5_000

const look = `select pg_backend_pid() as pid, pg_is_in_recovery() as standby,
  current_setting('transaction_read_only') = 'on' as fixed`

/** The settings of a store, by name. Its statements are short: compiling them takes longer than running them. */
function settingsOf({ lockMs, silentMs, replyMs }: Timeouts): readonly (readonly [name: string, value: string])[] {
  return [
    ['lock_timeout', String(lockMs)],
    ['idle_in_transaction_session_timeout', String(silentMs)],
    ['statement_timeout', String(Math.max(replyMs, 60_000))],
    ['jit', 'off'],
  ]
}

/** Columns that set them: for the session, or for the transaction only. */
export function settingColumns(timeouts: Timeouts, reach: 'session' | 'transaction'): string {
  const isLocal = reach === 'transaction'
  return settingsOf(timeouts)
    .map(([name, value]) => `set_config('${name}', '${value}', ${isLocal})`)
    .join(', ')
}

/** Looks where the connection leads and changes nothing. Throws {@link NotWritable}. */
export async function lookAtPeer(client: ClientBase): Promise<Peer> {
  return peerOf(client, await ask(client, look))
}

/** The same, and sets what holds until the connection is closed. */
export async function setUpSession(client: ClientBase, timeouts: Timeouts): Promise<Peer> {
  return peerOf(client, await ask(client, `${look}, ${settingColumns(timeouts, 'session')}`))
}

async function ask(client: ClientBase, text: string): Promise<Found> {
  const config = { text, query_timeout: lookMs }
  return (await client.query<Found>(config)).rows[0] as Found
}

function peerOf(client: ClientBase, { pid, standby, fixed }: Found): Peer {
  if (standby) throw new NotWritable('the server is a standby')
  if (fixed) throw new NotWritable('the server accepts no writes, because `default_transaction_read_only` is on')
  const { processID } = client as ClientBase & { readonly processID: number | null }
  return { pid, isPooled: processID !== pid }
}

/** How often two connections are looked at in turn. */
const rounds = 3

/**
 * Whether each transaction may have another process on the server: then two connections share one, or one has several. Two that keep
 * theirs are those of sessions. Nothing is set.
 */
export async function sharesProcesses(first: ClientBase, second: ClientBase): Promise<boolean> {
  const seen: [Set<number>, Set<number>] = [new Set(), new Set()]
  for (let round = 0; round < rounds; round += 1)
    for (const [index, client] of [first, second].entries())
      seen[index as 0 | 1].add(
        (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? 0,
      )
  return seen.some(({ size }) => size > 1) || [...seen[0]].some((pid) => seen[1].has(pid))
}
