/** What the servers of the acceptance tests run. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inOnePiece } from '../../support/one-piece.ts'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** Names the folder of the program in one piece, which a run of all tests makes beforehand. Without it, servers start from the source. */
export const variable = 'WITAN_TEST_PROGRAM'
const folder = process.env[variable]

/** Makes the program in one piece and gives its folder. */
export function acceptanceProgram(): Promise<string> {
  return inOnePiece({ witan: at('../../../packages/cli/src/main.ts'), host: at('host-process.ts') }, null)
}

/** The words for Node that start the command line. */
export const commandLine: readonly string[] = [
  '--no-warnings',
  '--conditions=witan-source',
  folder === undefined ? at('../../../packages/cli/bin/witan.js') : join(folder, 'witan.js'),
]

/** The process that hosts servers. */
export const hostScript: string = folder === undefined ? at('host-process.ts') : join(folder, 'host.js')
