/**
 * Runs test/frameworks with agents of other frameworks from PyPI, each of which is installed once into `node_modules/.cache`. Where one
 * cannot be installed the script says so and exits 3, which means "did not run" and not "passed".
 */
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { venvOf } from './venv.ts'

/** The packages of each agent of `examples/frameworks`, in the versions that the guide names. */
const packages: Readonly<Record<string, readonly string[]>> = {
  python_sdk: ['a2a-sdk[http-server]==1.3.0', 'uvicorn==0.54.0'],
  adk_agent: ['google-adk[a2a]==2.13.0'],
  langgraph_agent: ['langgraph==1.2.24', 'a2a-sdk[http-server]==1.3.0', 'uvicorn==0.54.0'],
  pydantic_ai_agent: ['pydantic-ai-slim==2.68.0', 'fasta2a==2.1.1', 'uvicorn==0.54.0'],
  strands_agent: ['strands-agents[a2a]==1.62.0'],
}

function main(): number {
  const pythons: Record<string, string> = {}
  for (const [name, words] of Object.entries(packages)) {
    const venv = venvOf({ name: `witan-framework-${name}`, packages: words, withinMs: 180_000 })
    if (venv instanceof Error) {
      console.error(`agents of other frameworks: COULD NOT RUN: ${words[0]}: ${venv.message}`)
      return 3
    }
    pythons[name] = venv.python
  }
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const words = ['--conditions=witan-source', '--no-warnings', '--test', '--test-timeout=300000']
  const ended = spawnSync(process.execPath, [...words, ...globSync('test/frameworks/*.test.ts')], {
    stdio: 'inherit',
    env: { ...env, WITAN_FRAMEWORK_PYTHONS: JSON.stringify(pythons) },
  })
  return ended.status ?? 1
}

process.exitCode = main()
