/** A record of the processes that this one has started, so that the next start can end what a killed process left behind. */
import { execFile } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../identity/clock.ts'
import { later } from './wire.ts'

/** The processes of one set of servers. */
export interface Ledger {
  /** Ends what processes that are gone have left. Does something once. */
  begin(): Promise<void>
  add(pid: number): Promise<void>
  remove(pid: number): void
}

/** A process, and when it started: a process that was given the same number later started at another time. */
interface Known {
  readonly pid: number
  readonly start: string
}

interface Page {
  readonly owner: Known
  readonly children: readonly Known[]
}

const graceMs = 2_000
let pages = 0

/** The folder for ledgers of this user. */
export function ledgerFolder(): string {
  return join(tmpdir(), `witan-mcp-${userInfo().uid}`)
}

/** Creates the ledger of this process in a folder of its user. Trouble with files is reported; processes are started all the same. */
export function createLedger(of: {
  readonly folder: string
  readonly clock: Clock
  report(error: unknown): void
}): Ledger {
  const file = join(of.folder, `${process.pid}-${++pages}.json`)
  const children = new Map<number, string>()
  let own: Promise<string | null> | null = null
  let begun: Promise<void> | null = null
  const write = async (): Promise<void> => {
    own ??= startOf(process.pid)
    const start = await own
    if (start === null) return
    const page: Page = {
      owner: { pid: process.pid, start },
      children: [...children].map(([pid, begin]) => ({ pid, start: begin })),
    }
    try {
      if (children.size === 0) unlinkSync(file)
      else if (isOwn(of.folder)) writeFileSync(file, JSON.stringify(page), { mode: 0o600 })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') of.report(error)
    }
  }
  return {
    begin() {
      begun ??= endLeft(of)
      return begun
    },
    async add(pid) {
      const start = await startOf(pid)
      if (start === null) return
      children.set(pid, start)
      await write()
    },
    remove(pid) {
      if (children.delete(pid)) write().catch(of.report)
    },
  }
}

/** Whether the folder is this user's own; makes it if there is none. */
function isOwn(folder: string): boolean {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const stat = lstatSync(folder)
  if (!stat.isDirectory() || (process.getuid !== undefined && stat.uid !== process.getuid())) return false
  if ((stat.mode & 0o077) !== 0) chmodSync(folder, 0o700)
  return true
}

async function endLeft(of: { readonly folder: string; readonly clock: Clock; report(error: unknown): void }) {
  try {
    if (!isOwn(of.folder)) return
    for (const name of readdirSync(of.folder).filter((each) => /^\d+-\d+\.json$/.test(each))) {
      const file = join(of.folder, name)
      const page = pageIn(file)
      if (page !== null && (await isAlive(page.owner))) continue
      endPage(page, file, of.clock).catch(of.report)
    }
  } catch (error) {
    of.report(error)
  }
}

/** The page stays until its processes are gone, so that a start that is killed itself loses none. */
async function endPage(page: Page | null, file: string, clock: Clock): Promise<void> {
  const signals = ['SIGTERM', 'SIGKILL'] as const
  for (const signal of signals) {
    let isAny = false
    for (const child of page?.children ?? []) {
      if (!(await isAlive(child))) continue
      isAny = true
      endGroup(child.pid, signal)
    }
    if (!isAny) break
    if (signal === 'SIGTERM') await later(clock, graceMs)
  }
  unlinkSync(file)
}

/** A page that was cut when its writer was killed names nothing. */
function pageIn(file: string): Page | null {
  try {
    const page = JSON.parse(readFileSync(file, 'utf8')) as Partial<Page>
    if (!isKnown(page.owner) || !Array.isArray(page.children)) return null
    return { owner: page.owner, children: page.children.filter(isKnown) }
  } catch {
    return null
  }
}

function isKnown(value: unknown): value is Known {
  const { pid, start } = (value ?? {}) as Partial<Known>
  return Number.isSafeInteger(pid) && (pid as number) > 1 && typeof start === 'string'
}

async function isAlive({ pid, start }: Known): Promise<boolean> {
  return (await startOf(pid)) === start
}

/** When a process started, in whatever words the machine has for it; null if it is gone. */
async function startOf(pid: number): Promise<string | null> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
    // The name of the program stands in brackets and may hold spaces: fields are counted behind it.
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields?.[0] === 'Z' ? null : (fields?.[19] ?? null)
  }
  if (process.platform === 'win32') return null
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'lstart=', '-p', String(pid)], (error, out) =>
      resolve(error === null && out.trim() !== '' ? out.trim() : null),
    )
  })
}

/** Sends a signal to a process and all that it has started. Returns false if there is none. Signal 0 only asks. */
export function endGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal)
    return true
  } catch {
    return false
  }
}
