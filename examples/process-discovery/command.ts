/** The comparison as its tests call it. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** What came of a program. */
interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs a program of the sources with this environment and no other. */
export function run(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const kept = { PATH: process.env['PATH'] ?? '', ...env }
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--no-warnings', '--conditions=witan-source', ...words],
      { env: kept },
      (error, out, err) => resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err }),
    )
  })
}

/** Compares set-ups. */
export function compare(words: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended> {
  return run([fileURLToPath(new URL('./compare.ts', import.meta.url)), ...words], env)
}
