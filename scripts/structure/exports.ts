/** Finds exports that no other file imports. The keyword tells readers that other files depend on the name. */
import type { SourceFile, Tree, Violation } from './source.ts'
import { isTest, resolveImport } from './source.ts'
import { join } from 'node:path/posix'

/** Checks every file of a package but tests and the entry points that its manifest names: their exports are the contract. */
export function checkExports(tree: Tree): Violation[] {
  const entries = entryPoints(tree)
  const imported = importedNames(tree)
  return [...tree.files.values()].flatMap((file) => {
    if (!/^packages\/[^/]+\/src\//.test(file.path) || isTest(file.path) || entries.has(file.path)) return []
    const names = imported.get(file.path) ?? new Set()
    if (names.has(everything)) return []
    return exportedNames(file)
      .filter((name) => !names.has(name))
      .map((name) => needless(file, name))
  })
}

function needless({ path }: SourceFile, name: string): Violation {
  return {
    file: path,
    what: `exports ${name}, which no other file imports`,
    allowed: 'exports that another file imports',
    fix: 'remove `export`, and the declaration if nothing in the file uses it',
  }
}

/** The files that the manifests of packages export. */
function entryPoints({ manifests }: Tree): ReadonlySet<string> {
  const found = new Set<string>()
  for (const [folder, { exports = {} }] of manifests)
    for (const target of Object.values(exports))
      if (typeof target === 'object' && target !== null && 'witan-source' in target)
        found.add(join(folder, String(target['witan-source'])))
  return found
}

const everything = '*'
const named = /^(?:import|export)\s+(?:type\s+)?(?:\w+\s*,\s*)?\{([^}]*)\}\s*from\s*(['"])([^'"\n]+)\2/gm
const whole = /(?:\*\s*(?:as\s+\w+\s*)?from|\bimport\s*\()\s*(['"])([^'"\n]+)\1/g

/** What is imported from each file, by its path; `*` for a file that is imported as a whole. */
function importedNames(tree: Tree): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  const add = (file: SourceFile, specifier: string, names: readonly string[]) => {
    const target = resolveImport(tree, file.path, specifier)
    if (target === undefined) return
    const known = found.get(target) ?? new Set()
    found.set(target, known)
    for (const name of names) known.add(name)
  }
  for (const file of tree.files.values()) {
    for (const [, list = '', , specifier = ''] of file.code.matchAll(named)) add(file, specifier, namesIn(list, 0))
    for (const [, , specifier = ''] of file.code.matchAll(whole)) add(file, specifier, [everything])
  }
  return found
}

const declared =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|const|let|class|interface|type)\s+(\w+)/gm
const listed = /^export\s+(?:type\s+)?\{([^}]*)\}/gm

function exportedNames({ code }: SourceFile): readonly string[] {
  const names = [...code.matchAll(declared)].map(([, name = '']) => name)
  return [...names, ...[...code.matchAll(listed)].flatMap(([, list = '']) => namesIn(list, -1))]
}

/** The names of a list such as `a, type b as c`: as they are called where they come from (0), or as they are passed on (-1). */
function namesIn(list: string, place: 0 | -1): readonly string[] {
  const parts = list.split(',').map((part) => part.trim().replace(/^type\s+/, ''))
  return parts.flatMap((part) => (part === '' ? [] : (part.split(/\s+as\s+/).at(place) ?? [])))
}
