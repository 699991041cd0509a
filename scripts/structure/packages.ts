/** Who may import whom between packages, and how: through declared entries and declared dependencies only. */
import { isBuiltin } from 'node:module'
import type { Manifest, SourceFile, Tree, Violation } from './source.ts'
import { isTest, packageName, packageOf, resolveImport } from './source.ts'

const arrows: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  core: ['protocol'],
  readers: ['core'],
  client: ['protocol'],
  studio: ['client', 'protocol'],
  server: ['core', 'protocol', 'readers', 'studio'],
  cli: ['server', 'core', 'client', 'protocol', 'readers'],
}

/** Checks arrows, deep imports and undeclared dependencies of every file. Tests are free of the arrows only. */
export function checkPackages(tree: Tree): Violation[] {
  return [...tree.files.values()].flatMap((file) => file.imports.flatMap((each) => checkImport(tree, file, each)))
}

function checkImport(tree: Tree, file: SourceFile, specifier: string): Violation[] {
  const own = packageOf(file.path)
  if (specifier.startsWith('.')) {
    const target = packageOf(resolveImport(tree, file.path, specifier) ?? '')
    return target === '' || target === own ? [] : [deep(file, specifier)]
  }
  if (isBuiltin(specifier) || specifier.startsWith('virtual:')) return []
  const folder = [...tree.manifests].find(([, manifest]) => manifest.name === packageName(specifier))?.[0]
  if (folder?.startsWith('packages/')) return checkWorkspace(tree, file, specifier)
  return own === '' || isTest(file.path) ? [] : checkDeclared(tree, file, specifier)
}

function checkWorkspace(tree: Tree, file: SourceFile, specifier: string): Violation[] {
  if (resolveImport(tree, file.path, specifier) === undefined) return [deep(file, specifier)]
  const own = packageOf(file.path).replace('packages/', '')
  const other = packageName(specifier).replace('@witan/', '')
  const allowed = arrows[own]
  const program = file.path.includes('/bin/') && own === other
  if (own === '' || program || isTest(file.path) || allowed === undefined || allowed.includes(other)) {
    return []
  }
  const what = own === other ? `imports its own package ${specifier}` : `imports ${specifier}`
  const rule = `${own} imports of our packages ${allowed.join(', ') || 'none'}`
  return [{ file: file.path, what, allowed: rule, fix: 'move the shared part to protocol, or have it handed in' }]
}

function checkDeclared(tree: Tree, file: SourceFile, specifier: string): Violation[] {
  const own = packageOf(file.path)
  const name = packageName(specifier)
  const manifest: Manifest = tree.manifests.get(own) ?? {}
  const bundled = own === 'packages/studio' || /\.config\.ts$/.test(file.path)
  const declared = {
    ...manifest.dependencies,
    ...manifest.peerDependencies,
    ...(bundled ? manifest.devDependencies : {}),
  }
  if (name in declared) return []
  const allowed = `${own} depends on ${Object.keys(declared).join(', ') || 'nothing'}`
  return [
    { file: file.path, what: `imports undeclared ${name}`, allowed, fix: 'declare it in package.json or do without' },
  ]
}

function deep(file: SourceFile, specifier: string): Violation {
  const allowed = 'a package is imported by its name and the entries of its exports'
  return {
    file: file.path,
    what: `reaches into another package: ${specifier}`,
    allowed,
    fix: 'export it there, or move it',
  }
}
