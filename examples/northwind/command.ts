/** The command line on the example, as its tests call it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../packages/cli/bin/witan.js', import.meta.url))
const config = fileURLToPath(new URL('./witan.config.ts', import.meta.url))
const ours = /^(OPENAI_|ANTHROPIC_|GOOGLE_|WITAN_|NODE_OPTIONS$)/

/** What came of a command. */
interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs a command of `witan` on the example, without the keys and settings of this environment. */
export async function witan(words: readonly string[], { env = {}, input = '' } = {}): Promise<Ended> {
  const kept = Object.entries(process.env).filter(([name]) => !ours.test(name))
  const child = spawn(process.execPath, [program, ...words, '--config', config], {
    env: { ...Object.fromEntries(kept), WITAN_STORE_URL: 'memory:', NORTHWIND_PACE_MS: '0', ...env },
  })
  child.stdin.end(input)
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code: child.exitCode, out, err }
}
