/** Starts `witan` as a program, from source and without any flag of Node, and reads what it writes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { killedAtEnd } from '../../../../test/support/child.ts'

const program = fileURLToPath(new URL('../../bin/witan.js', import.meta.url))
/** A start takes a second where nothing else is to do, and many times that on a machine that is busy. */
const withinMs = 100_000

/** A program at work. */
export interface Running {
  readonly child: ChildProcess
  /** Waits until what was written since the last match fits, and gives the first group of the match. */
  until(pattern: RegExp): Promise<string>
  stop(): Promise<number | null>
}

/** Starts it in a folder, on a free port. */
export function start(folder: string, ...words: string[]): Running {
  return startWith({ WITAN_PORT: '0' }, folder, ...words)
}

/** Starts it with more in its environment. */
export function startWith(more: Readonly<Record<string, string>>, folder: string, ...words: string[]): Running {
  const { NODE_OPTIONS: _options, ...env } = process.env
  const child = killedAtEnd(
    spawn(process.execPath, [program, ...words], {
      cwd: folder,
      env: { ...env, WITAN_LOG_LEVEL: 'error', NO_COLOR: '1', ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  let written = ''
  let wake = () => {}
  const take = (data: Buffer) => {
    written += String(data)
    wake()
  }
  child.stdout.on('data', take)
  child.stderr.on('data', take)
  child.on('exit', () => wake())
  const until = async (pattern: RegExp): Promise<string> => {
    const timer = setTimeout(() => child.kill('SIGKILL'), withinMs)
    try {
      for (;;) {
        const found = pattern.exec(written)
        if (found) {
          written = written.slice(found.index + found[0].length)
          return found[1] ?? ''
        }
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`ended without ${pattern}:\n${written}`)
        const changed = Promise.withResolvers<void>()
        wake = changed.resolve
        await changed.promise
      }
    } finally {
      clearTimeout(timer)
    }
  }
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    const gone = once(child, 'exit')
    child.kill('SIGTERM')
    await gone
    return child.exitCode
  }
  return { child, until, stop }
}
