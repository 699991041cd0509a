/** How much the production dependencies weigh on disk: everything below a package that is not ours. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Packages of others, and what they hold. */
export interface Weight {
  readonly packages: number
  readonly megabytes: number
}

interface Manifest {
  readonly name?: string
  readonly dependencies?: Readonly<Record<string, string>>
}

/** The weight of what the package in `folder` needs in production. */
export function weightOf(folder: string): Weight {
  const found = new Set<string>()
  collect(folder, found)
  const others = [...found].filter((one) => one.includes('node_modules'))
  const bytes = others.reduce((sum, one) => sum + bytesIn(one), 0)
  return { packages: others.length, megabytes: bytes / 1e6 }
}

function collect(folder: string, found: Set<string>): void {
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  for (const name of Object.keys(dependencies)) {
    const place = locate(name, folder)
    if (place === null || found.has(place)) continue
    found.add(place)
    collect(place, found)
  }
}

/** Where Node would find a package, from a folder upwards. Ours stand in `packages/`. */
function locate(name: string, from: string): string | null {
  const ours = join(import.meta.dirname, '..', 'packages', name.replace('@witan/', ''))
  if (name.startsWith('@witan/')) return ours
  for (let folder = from; ; folder = dirname(folder)) {
    const place = join(folder, 'node_modules', name)
    if (existsSync(place)) return place
    if (folder === dirname(folder)) return null
  }
}

function bytesIn(folder: string): number {
  let sum = 0
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isFile()) sum += spaceOf(path)
    else if (entry.isDirectory() && entry.name !== 'node_modules') sum += bytesIn(path)
  }
  return sum
}

/** What the file system sets aside for a file, which is more than its length where there are many small ones. */
function spaceOf(path: string): number {
  const { blocks, size } = statSync(path)
  return Math.max(size, blocks * 512)
}
