/** Puts optional packages of other platforms back into the lock: npm drops those that a registry mirror does not carry, and `npm ci` then refuses its own lock. */
import { readFileSync, writeFileSync } from 'node:fs'

interface Locked {
  version?: string
  license?: string
  dev?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  engines?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

const systems = new Set(['android', 'darwin', 'freebsd', 'linux', 'win32', 'openharmony'])
const file = new URL('../package-lock.json', import.meta.url)
const lock = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, Locked> }
const added: string[] = []

for (const [key, owner] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(owner.optionalDependencies ?? {})) {
    const known = `node_modules/${name}` in lock.packages || `${key}/node_modules/${name}` in lock.packages
    const entry = known ? null : platformEntry(name, { version, owner })
    if (entry === null) continue
    lock.packages[`node_modules/${name}`] = entry
    added.push(name)
  }
}

lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
console.log(added.length === 0 ? 'the lock is complete' : `added ${added.join(', ')}`)

/** The entry of a platform package, read from its name such as `@scope/cli-linux-arm64-musl`; null where the name does not tell. */
function platformEntry(name: string, from: { version: string; owner: Locked }): Locked | null {
  const words = (name.split('/').at(-1) ?? '').split('-')
  const at = words.findIndex((word) => systems.has(word))
  const [os, cpu] = [words[at], words[at + 1]]
  if (at < 0 || os === undefined || cpu === undefined) return null
  const { license, dev, engines } = from.owner
  const libc = os !== 'linux' ? null : name.includes('musl') ? 'musl' : name.includes('gnu') ? 'glibc' : null
  return {
    version: from.version,
    cpu: [cpu],
    ...(dev === undefined ? {} : { dev }),
    ...(engines === undefined ? {} : { engines }),
    ...(libc === null ? {} : { libc: [libc] }),
    ...(license === undefined ? {} : { license }),
    optional: true,
    os: [os],
  }
}
