/**
 * The program that tortured servers run: the source as it stands, in one piece. Finding and reading five hundred modules is most of what a
 * process costs before it serves, and a row starts hundreds of them.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

/** What to start, and where what V8 compiled of it is kept. */
export interface Program {
  readonly script: string
  readonly compiled: string
}

const rig = fileURLToPath(new URL('.', import.meta.url))
/** Beside the dependencies: nobody else writes there, and `npm ci` takes it away. */
const shelf = fileURLToPath(new URL('../../../node_modules/.cache/witan-faults/', import.meta.url))
/** The process and the configuration that it imports; they share their modules. */
const entries = ['worker-process', 'witan.config'] as const

let made: Promise<Program> | null = null

/** Made once in each process, of the source as it is then. */
export function faultProgram(): Promise<Program> {
  made ??= make()
  return made
}

async function make(): Promise<Program> {
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map((name) => [name, join(rig, `${name}.ts`)])),
    platform: 'node',
    resolve: { conditionNames: ['witan-source', 'node'] },
    treeshake: false,
    plugins: [{ name: 'places', transform: (code, id) => inItsPlace(code, id) }],
  })
  const { output } = await bundle.generate({ format: 'esm', keepNames: true, chunkFileNames: '[name].js' })
  await bundle.close()
  const files = output.flatMap((file) => (file.type === 'chunk' ? [{ name: file.fileName, text: file.code }] : []))
  const digest = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16)
  const folder = join(shelf, digest)
  if (!existsSync(folder)) await put(files, folder)
  return { script: join(folder, `${entries[0]}.js`), compiled: join(folder, 'compiled') }
}

/** What a module finds beside itself it finds there still; only the entries go with the bundle. */
function inItsPlace(code: string, id: string): string | null {
  if (!code.includes('import.meta.url') || id.startsWith(rig)) return null
  return code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
}

/** All of it at once: another process may be at the same. */
async function put(files: readonly { readonly name: string; readonly text: string }[], folder: string): Promise<void> {
  await mkdir(shelf, { recursive: true })
  const fresh = await mkdtemp(join(shelf, 'fresh-'))
  for (const { name, text } of files) await writeFile(join(fresh, name), text)
  await rename(fresh, folder).catch(async (error: unknown) => {
    await rm(fresh, { recursive: true })
    if (!existsSync(folder)) throw error
  })
}
