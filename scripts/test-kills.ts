/** Kills a process at each step of an ingest, on SQLite and PostgreSQL, which takes minutes: `npm run test:kills`. */
import { spawnSync } from 'node:child_process'

const files = ['a-killed-end-leaves-a-document-old-or-new', 'a-killed-ingest-loses-nothing']
const words = ['--conditions=witan-source', '--test', '--test-force-exit']
const { status } = spawnSync(process.execPath, [...words, ...files.map((name) => `test/faults/${name}.test.ts`)], {
  stdio: 'inherit',
  env: { ...process.env, WITAN_KILLS: 'each' },
})
process.exitCode = status ?? 1
