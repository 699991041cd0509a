/** Runs an example of several servers as a person would: its programs, on free ports, in a folder of their own. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'

const bin = fileURLToPath(new URL('../../packages/cli/bin/witan.js', import.meta.url))

/** What a program printed, and how it ended. */
interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** An example beside the test at `module`, whose variables begin with `prefix`: three ports, a folder, no pauses. */
export async function exampleRun(module: string, prefix: string) {
  const here = (path: string) => fileURLToPath(new URL(path, module))
  const folder = await mkdtemp(join(tmpdir(), 'witan-example-'))
  const ports = await Promise.all([0, 1, 2].map(freePort))
  const ours = { [`${prefix}_PORTS`]: ports.join(), [`${prefix}_FOLDER`]: folder, FEDERATION_PACE_MS: '0' }
  const env = { PATH: process.env['PATH'], ...ours }
  const run = (...words: readonly string[]): Promise<Ended> =>
    new Promise((resolve) => {
      const all = ['--no-warnings', '--conditions=witan-source', ...words]
      execFile(process.execPath, all, { cwd: folder, env }, (error, out, err) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err }),
      )
    })
  return {
    ports,
    start: () => run(here('./start.ts')),
    /** A command of `witan` with the configuration of one of its servers. */
    witan: (server: string, ...words: readonly string[]) =>
      run(bin, ...words, '--config', here(`./${server}.config.ts`)),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
