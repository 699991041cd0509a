/** Reads the source tree as text: files, what they import, and where an import leads. No compiler, no dependency. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path/posix'

/** One broken rule, said so that the reader knows what to do about it. */
export interface Violation {
  readonly file: string
  readonly what: string
  readonly allowed: string
  readonly fix: string
}

/** A source file; `path` is relative to the root of the repository, with forward slashes. */
export interface SourceFile {
  readonly path: string
  readonly text: string
  /** The text with comments blanked out; strings and line numbers stay. */
  readonly code: string
  /** Module specifiers, type-only ones too, as written and each once. */
  readonly imports: readonly string[]
}

/** The parts of a package.json that decide what the package's files may import. */
export interface Manifest {
  readonly name?: string
  readonly exports?: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** The whole tree as every check sees it. */
export interface Tree {
  readonly files: ReadonlyMap<string, SourceFile>
  /** By folder: `packages/core`; the root itself is the empty string. */
  readonly manifests: ReadonlyMap<string, Manifest>
  /** By folder: the folders that its build for publishing refers to. */
  readonly builds: ReadonlyMap<string, readonly string[]>
  /** Every folder under a scanned one, empty ones too. */
  readonly folders: readonly string[]
}

/** How a package is compiled for publishing. */
const buildFile = 'tsconfig.build.json'
const scanned = ['packages', 'examples', 'test', 'scripts', 'bench']
const ignored = new Set(['node_modules', 'dist', '.witan'])
const sourceName = /\.(ts|tsx|mts|js|mjs)$/

/** Whether a file is a test, which may stand anywhere and look at anything in its package. */
export const isTest = (path: string): boolean =>
  /\.test(-d)?\.tsx?$|^packages\/(cli|client|server)\/src\/testing\//.test(path) || path.startsWith('test/')

/** Reads every source file and manifest under `root`. */
export function readTree(root: string): Tree {
  const files = new Map<string, SourceFile>()
  const manifests = new Map<string, Manifest>()
  const builds = new Map<string, readonly string[]>()
  const folders: string[] = []
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const visit = (folder: string) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory() && !ignored.has(entry.name)) {
        folders.push(path)
        visit(path)
      } else if (entry.name === 'package.json') manifests.set(folder, JSON.parse(read(path)) as Manifest)
      else if (entry.name === buildFile) builds.set(folder, referencesOf(folder, read(path)))
      else if (entry.isFile() && sourceName.test(entry.name)) files.set(path, sourceFile(path, read(path)))
    }
  }
  for (const folder of scanned) if (existsSync(join(root, folder))) visit(folder)
  if (existsSync(join(root, 'package.json'))) manifests.set('', JSON.parse(read('package.json')) as Manifest)
  return { files, manifests, builds, folders }
}

function referencesOf(folder: string, text: string): readonly string[] {
  const { references = [] } = JSON.parse(text) as { readonly references?: readonly { readonly path: string }[] }
  return references.map(({ path }) => dirname(join(folder, path)))
}

/** One file as the checks see it; exported so that a test can feed text. */
export function sourceFile(path: string, text: string): SourceFile {
  const code = withoutComments(text)
  return { path, text, code, imports: importsOf(code) }
}

const literal = /(['"])(?:\\.|(?!\1)[^\\\n])*\1|`(?:\\[\s\S]|[^\\`])*`/
const pattern = /(?<=[(=,:[!&|?{};\n]\s*|\breturn )\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//
const token = new RegExp(`${literal.source}|${pattern.source}|//[^\\n]*|/\\*[\\s\\S]*?\\*/`, 'g')

function withoutComments(text: string): string {
  return text.replace(token, (found) => (/^\/[/*]/.test(found) ? blank(found) : found))
}

/** The code with the insides of strings blanked as well, for rules about words in code. */
export function withoutStrings(code: string): string {
  return code.replace(new RegExp(`${literal.source}|${pattern.source}`, 'g'), blank)
}

const blank = (text: string): string => text.replace(/[^\n]/g, ' ')

const importForms = [
  /^\s*(?:import|export)\b[^'"`;=()]*?\bfrom\s*(['"])([^'"\n]+)\1/gm,
  /^\s*import\s*(['"])([^'"\n]+)\1/gm,
  /\bimport\s*\(\s*(['"])([^'"\n]+)\1/g,
]

function importsOf(code: string): readonly string[] {
  const found = importForms.flatMap((form) => [...code.matchAll(form)].map((match) => match[2] ?? ''))
  return [...new Set(found)]
}

/** The package a file lives in, as its folder (`packages/core`), or the empty string for files of no package. */
export function packageOf(path: string): string {
  const parts = path.split('/')
  return parts[0] === 'packages' && parts.length > 2 ? `packages/${parts[1]}` : ''
}

/** The name of a package from a bare specifier: `@witan/core/testing` is `@witan/core`. */
export function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** The file a specifier leads to, when it is one of ours: a relative path, or a workspace package's entry. */
export function resolveImport(tree: Tree, from: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return normalize(join(dirname(from), specifier))
  for (const [folder, manifest] of tree.manifests) {
    if (folder !== '' && manifest.name === packageName(specifier)) {
      const key = `.${specifier.slice(manifest.name.length)}`
      const entry = manifest.exports?.[key]
      const source = typeof entry === 'object' && entry !== null && 'witan-source' in entry ? entry['witan-source'] : ''
      return typeof source === 'string' && source !== '' ? join(folder, source) : undefined
    }
  }
  return undefined
}
