/** The comparison as its tests call it. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** What came of a program. */
interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs a program of the sources with this environment and no other; what V8 compiled of them is kept where the tests keep it. */
export function run(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
  const kept = { PATH, NODE_COMPILE_CACHE, ...env }
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
