/** `npm run compare`: runs the four set-ups on the same process with the same people, and compares them. */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createRuntime } from '@witan/core'
import type { Measured } from './compare/measured.ts'
import { completeRuns, reach, telemetryOf } from './compare/mlflow.ts'
import { run } from './compare/run.ts'
import { saveModel } from './compare/save.ts'
import { tableLines } from './compare/table.ts'
import { choose, loadKeys } from './models.ts'
import { protocols } from './protocols.ts'
import { setupsOf } from './setups/all.ts'

const help = `Compares set-ups of agents that discover the same process.

  npm run compare -w examples/process-discovery -- [options]

  --setup NAME     monolithic, duo, manager or team; repeatable. Default: all
  --model NAME     a model for all agents, such as openai/gpt-5-mini or local/qwen3:8b. Default: scripts
  --out FOLDER     saves the last model of each set-up there, as JSON and as a Mermaid flowchart
  --mlflow URL     an MLflow server, such as http://127.0.0.1:5000: each set-up becomes a run there
  --experiment N   the experiment there. Default: process-discovery
  --json           the figures as JSON
  --help           this text
`

const { env, stdout, stderr } = process
const isColourful = (stream: { readonly isTTY?: boolean }) =>
  stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      setup: { type: 'string', multiple: true },
      model: { type: 'string' },
      out: { type: 'string' },
      mlflow: { type: 'string' },
      experiment: { type: 'string', default: 'process-discovery' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) {
    stdout.write(help)
    return 0
  }
  loadKeys()
  const { modelOf, connections } = choose(values.model, env)
  const all = setupsOf(modelOf)
  const names = all.map(({ name }) => name)
  const wanted = values.setup ?? names
  const unknown = wanted.find((name) => !names.includes(name))
  if (unknown !== undefined) throw new Error(`"${unknown}" is no set-up. There are ${names.join(', ')}.`)
  const setups = all.filter(({ name }) => wanted.includes(name))
  const mlflow = values.mlflow === undefined ? null : { url: values.mlflow, experiment: values.experiment }
  if (mlflow !== null) await reach(mlflow)
  const telemetry = mlflow === null ? {} : telemetryOf(mlflow)
  const agents = setups.flatMap((setup) => setup.agents)
  const runtime = createRuntime({ agents, protocols, connections, telemetry })
  const measured: Measured[] = []
  for (const setup of setups) {
    const line = progressLine(setup.name)
    measured.push(await run(runtime, setup, line.show))
    line.end()
  }
  if (values.out !== undefined)
    for (const one of measured) await saveModel(runtime, one, resolve(env['INIT_CWD'] ?? '.', values.out))
  if (!(await runtime.flushTraces(60_000))) stderr.write('MLflow did not take all traces within a minute.\n')
  await runtime.close()
  stdout.write(values.json ? asJson(measured, values.model) : asTable(measured, values.model))
  if (mlflow !== null) await completeRuns(mlflow, measured, values.model ?? 'script')
  return measured.every(({ status }) => status === 'completed') ? 0 : 1
}

function asJson(setups: readonly Measured[], model = 'script'): string {
  return `${JSON.stringify({ model, setups }, null, 2)}\n`
}

function asTable(measured: readonly Measured[], model?: string): string {
  const about = model === undefined ? 'Every agent plays a script: no language model is called.' : `Model: ${model}`
  return [about, '', ...tableLines(measured, { colours: isColourful(stdout) }), ''].join('\n')
}

/** One line that is redrawn while a set-up runs; on a pipe only its end is said. */
function progressLine(name: string) {
  const isLive = stderr.isTTY === true && env['TERM'] !== 'dumb'
  let last = ''
  return {
    show({ modelCalls, questions }: { readonly modelCalls: number; readonly questions: number }) {
      const count = (many: number, what: string) => `${many} ${what}${many === 1 ? '' : 's'}`
      last = `${name}: ${count(modelCalls, 'model call')}, ${count(questions, 'question')}`
      if (isLive) stderr.write(`\r\u001b[K${last}`)
    },
    end: () => stderr.write(isLive ? '\r\u001b[K' : `${last}\n`),
  }
}

try {
  process.exitCode = await main()
} catch (error) {
  stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 2
}
