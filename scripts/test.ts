/**
 * Runs every test but the browser's. Most files share one process, which saves the 0.15 s a process costs; those that
 * start servers or kill workers get one each. Arguments are passed on to node: `npm test -- --test-name-pattern=budget`.
 */
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'

const groups = [
  {
    isolation: 'none',
    files: [
      'packages/*/src/**/*.test.ts',
      'scripts/**/*.test.ts',
      'test/{conformance,scenarios,properties,leaks,docs}/**/*.test.ts',
    ],
  },
  { isolation: 'process', files: ['test/{acceptance,faults}/**/*.test.ts', 'examples/*/*.test.ts'] },
]

for (const { isolation, files } of groups) {
  const found = globSync(files)
  if (found.length === 0) continue
  const how = ['--test', `--test-isolation=${isolation}`, '--test-timeout=60000', '--test-force-exit']
  const { status } = spawnSync(process.execPath, [...how, ...process.argv.slice(2), ...found.sort()], {
    stdio: 'inherit',
  })
  if (status !== 0) process.exitCode = 1
}
