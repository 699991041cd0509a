/** Checks the layout: floors, packages, cycles, exports, shape, where connections begin, and the order of builds. Prints one line for each violation and exits 1 if there is any. */
import { resolve } from 'node:path'
import { checkCycles } from './structure/cycles.ts'
import { checkExports } from './structure/exports.ts'
import { checkFloors } from './structure/floors.ts'
import { checkOutgoing } from './structure/outgoing.ts'
import { checkPackages } from './structure/packages.ts'
import { checkReferences } from './structure/references.ts'
import { checkShape } from './structure/shape.ts'
import type { Tree, Violation } from './structure/source.ts'
import { readTree } from './structure/source.ts'

/** Every violation of a tree. */
export function checkTree(tree: Tree): Violation[] {
  return [checkFloors, checkPackages, checkCycles, checkExports, checkShape, checkOutgoing, checkReferences].flatMap(
    (check) => check(tree),
  )
}

if (import.meta.main) {
  const tree = readTree(resolve(import.meta.dirname, '..'))
  const violations = checkTree(tree)
  for (const { file, what, allowed, fix } of violations)
    console.error(`${file}: ${what}. Allowed: ${allowed}. Fix: ${fix}.`)
  console.log(`structure: ${tree.files.size} files, ${violations.length} violations`)
  process.exitCode = violations.length > 0 ? 1 : 0
}
