/** A package is compiled after those that it depends on: the compiler builds side by side what no reference puts in order. */
import type { Tree, Violation } from './source.ts'

/** Checks that the build of each package refers to the builds of our packages that it depends on. */
export function checkReferences({ manifests, builds }: Tree): Violation[] {
  const folders = new Map([...manifests].map(([folder, { name }]) => [name, folder]))
  return [...builds].flatMap(([folder, references]) =>
    Object.keys(manifests.get(folder)?.dependencies ?? {}).flatMap((name): Violation[] => {
      const other = folders.get(name)
      if (other === undefined || !builds.has(other) || references.includes(other)) return []
      const file = `${folder}/tsconfig.build.json`
      const what = `is built beside ${name}, which it depends on`
      return [
        { file, what, allowed: 'a build after those it needs', fix: `add ../${other.split('/')[1]} to references` },
      ]
    }),
  )
}
