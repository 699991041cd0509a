/** The program that tortured servers run. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inOnePiece } from '../../support/one-piece.ts'

/** What to start, and where what V8 compiled of it is kept. */
export interface Program {
  readonly script: string
  readonly compiled: string
}

const rig = fileURLToPath(new URL('.', import.meta.url))

let made: Promise<Program> | null = null

/** Made once in each process, of the source as it is then. */
export function faultProgram(): Promise<Program> {
  made ??= make()
  return made
}

/** The process and the configuration that it imports share their modules. */
async function make(): Promise<Program> {
  const names = ['worker-process', 'witan.config']
  const folder = await inOnePiece(Object.fromEntries(names.map((name) => [name, join(rig, `${name}.ts`)])), rig)
  return { script: join(folder, 'worker-process.js'), compiled: join(folder, 'compiled') }
}
