/** The stores that the benchmarks of durability measure, PostgreSQL among them, each empty and its own. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore, postgresStore, sqliteStore, type Store } from '@witan/core'
import { startServer } from '../test/postgres/support/server.ts'
import { cpuMsOf } from './about.ts'

/** `normal` and `full` are SQLite; `postgres` waits for the disk at each commit, as a real server does. */
export const groundNames = ['memory', 'normal', 'full', 'postgres'] as const
export type GroundName = (typeof groundNames)[number]

/** Where a store is; it can be sent to another process. Memory cannot be shared. */
export type Site =
  | { readonly kind: 'memory' }
  | { readonly kind: 'normal' | 'full'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly schema: string }

/** Opens the store of a site. */
export function storeAt(site: Site): Store {
  if (site.kind === 'memory') return memoryStore()
  if (site.kind === 'postgres') return postgresStore({ url: site.url, schema: site.schema })
  return sqliteStore({ file: site.file, synchronous: site.kind })
}

/** Makes sites; the server is started when the first one wants it. */
export interface Ground {
  site(kind: GroundName): Promise<Site>
  /** CPU ms of the PostgreSQL server so far; null where it is not ours, or not on Linux. */
  serverCpuMs(): number | null
  close(): Promise<void>
}

/** Ground for one benchmark. `WITAN_TEST_POSTGRES` names a server to use instead of one of our own. */
export function openGround(): Ground {
  const folders: string[] = []
  let server: ReturnType<typeof startServer> | null = null
  const given = process.env['WITAN_TEST_POSTGRES'] ?? ''
  return {
    async site(kind) {
      if (kind === 'memory') return { kind }
      if (kind === 'postgres') {
        server ??= given === '' ? startServer({ fsync: true }) : null
        const url = server === null ? given : (await server).url
        return { kind, url, schema: `bench_${randomBytes(6).toString('hex')}` }
      }
      const folder = mkdtempSync(join(tmpdir(), 'witan-bench-'))
      folders.push(folder)
      return { kind, file: join(folder, 'witan.db') }
    },
    serverCpuMs: () => (server === null ? null : ownServerCpuMs()),
    async close() {
      for (const folder of folders) rmSync(folder, { recursive: true, force: true })
      if (server !== null) await (await server).stop('fast')
    },
  }
}

/** The server is a child of this process, and its backends are children of that. */
function ownServerCpuMs(): number | null {
  if (process.platform !== 'linux') return null
  const parents = new Map<number, { readonly parent: number; readonly name: string }>()
  for (const name of readdirSync('/proc')) {
    const found = /^\d+$/.test(name) ? statusOf(Number(name)) : null
    if (found !== null) parents.set(Number(name), found)
  }
  const mine = [...parents].filter(([, { parent, name }]) => parent === process.pid && name === 'postgres')
  const [postmaster] = mine[0] ?? []
  if (postmaster === undefined) return null
  const backends = [...parents].filter(([, { parent }]) => parent === postmaster).map(([pid]) => pid)
  return (cpuMsOf(postmaster) ?? 0) + backends.reduce((sum, pid) => sum + (cpuMsOf(pid) ?? 0), 0)
}

function statusOf(pid: number): { readonly parent: number; readonly name: string } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const end = text.lastIndexOf(')')
    return { parent: Number(text.slice(end + 2).split(' ')[1]), name: text.slice(text.indexOf('(') + 1, end) }
  } catch {
    return null
  }
}
