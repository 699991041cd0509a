/**
 * Runs the official conformance kit of A2A, of which `--kit FOLDER` names a clone, over both bindings. Without it, or where the kit cannot run,
 * the script says so and exits 3, which means "did not run" and not "passed".
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const bindings = ['jsonrpc', 'http_json']
const tests = 'tests/compatibility'

interface Kit {
  readonly folder: string
  readonly python: string
}

function kitOf(given: { readonly kit?: string; readonly python?: string }): Kit | string {
  if (given.kit === undefined) return 'no kit is named. Clone a2aproject/a2a-tck and pass `-- --kit FOLDER`'
  const folder = resolve(given.kit)
  if (!existsSync(join(folder, tests)))
    return `${folder} has no \`${tests}\`. Pass the folder of a clone of a2aproject/a2a-tck`
  const python = resolve(given.python ?? join(folder, '.venv/bin/python'))
  if (existsSync(python)) return { folder, python }
  return `there is no ${python}. Make the kit's environment as its README says, or pass \`--python FILE\``
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { kit: { type: 'string' }, python: { type: 'string' } } })
  const kit = kitOf(values)
  if (typeof kit === 'string') {
    console.error(`The A2A kit: COULD NOT RUN: ${kit}.`)
    return 3
  }
  const { startSubject } = await import('../test/a2a-kit/front.ts')
  const subject = await startSubject()
  try {
    let worst = 0
    for (const binding of bindings) {
      console.log(`\nThe A2A kit over ${binding}, at ${subject.url}`)
      const words = [
        '-m',
        'pytest',
        tests,
        '-q',
        '-rfsxX',
        '--tb=line',
        '--sut-host',
        subject.url,
        '--transport',
        binding,
      ]
      const child = spawn(kit.python, words, { cwd: kit.folder, stdio: 'inherit' })
      const [code] = (await once(child, 'exit')) as [number | null]
      worst = Math.max(worst, code ?? 1)
    }
    return worst
  } finally {
    await subject.close()
  }
}

process.exitCode = await main()
