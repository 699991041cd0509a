/**
 * Programs of tests, each in one piece: the source as it stands. Finding and reading five hundred modules is most of what a process costs
 * before it serves, and the tests start hundreds of them.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

/** Beside the dependencies: nobody else writes there, and `npm ci` takes it away. */
const shelf = fileURLToPath(new URL('../../node_modules/.cache/witan-programs/', import.meta.url))

/**
 * Writes the modules of these entries, files by name, and gives the folder: an entry is `NAME.js` there. What a module finds beside itself
 * it finds there still, but for the files in the folder `along`, which belong to the program.
 */
export async function inOnePiece(entries: Readonly<Record<string, string>>, along: string | null): Promise<string> {
  const programs = new Set(Object.values(entries))
  const transform = (code: string, id: string) => inItsPlace(programs.has(id) ? code : asPart(code), id, along)
  const bundle = await rolldown({
    input: entries,
    platform: 'node',
    resolve: { conditionNames: ['witan-source', 'node'] },
    treeshake: false,
    plugins: [{ name: 'places', transform }],
  })
  const { output } = await bundle.generate({ format: 'esm', keepNames: true, chunkFileNames: '[name].js' })
  await bundle.close()
  const files = output.flatMap((file) => (file.type === 'chunk' ? [{ name: file.fileName, text: file.code }] : []))
  const digest = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16)
  const folder = join(shelf, digest)
  if (!existsSync(folder)) await put([...files, { name: 'package.json', text: '{"type":"module"}' }], folder)
  return folder
}

const made = new Map<string, Promise<string>>()

/** The program of one module in one piece, made once in each process: for tests that start it many times. */
export function programOf(entry: string): Promise<string> {
  const known = made.get(entry) ?? inOnePiece({ program: entry }, null).then((folder) => join(folder, 'program.js'))
  made.set(entry, known)
  return known
}

/** A module that the program imports is not the one that was started. */
function asPart(code: string): string {
  return code.replaceAll('import.meta.main', 'false')
}

function inItsPlace(code: string, id: string, along: string | null): string {
  if (along !== null && id.startsWith(along)) return code
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
