/** Runs one set-up to its end, with the people played, and measures it. */
import { readFileSync } from 'node:fs'
import type { Runtime } from '@witan/core'
import type { RunResult } from '@witan/protocol'
import { faultsOf } from '../model/faults.ts'
import { parseProcessModel, type ProcessModel } from '../model/process-model.ts'
import { modelName } from '../model/tools.ts'
import type { Setup } from '../setups/setup.ts'
import { compareVersions, type Measured } from './measured.ts'
import { answerAll, participants } from './play.ts'

/** What the root of each set-up is asked. */
const task =
  'Discover the process «Bike repair»: how a bike is repaired here, from the customer who brings it in to the customer who takes it home.'

/** How far a run is. */
interface Progress {
  readonly modelCalls: number
  readonly questions: number
}

/** The process as it is. */
export const truth = readModel(readFileSync(new URL('../world/truth.json', import.meta.url), 'utf8')) as ProcessModel

/** Runs it. Rejects only if the runtime does: a run that fails is measured as far as it came. */
export async function run(runtime: Runtime, setup: Setup, told: (progress: Progress) => void): Promise<Measured> {
  const began = performance.now()
  const opened = await runtime.start({ agent: setup.root, id: `${setup.name}/`, users: participants, prompt: task })
  const watching = new AbortController()
  const watched = watch(runtime, { conversation: opened.id, signal: watching.signal, told })
  let result = await opened.run?.result
  while (result?.status === 'waiting') {
    await answerAll(runtime, opened.id)
    result = await (await runtime.followRun(result.runId)).result
  }
  const seconds = (performance.now() - began) / 1000
  watching.abort()
  await watched
  if (result === undefined) throw new Error(`${setup.name} did not begin`)
  return { ...(await measure(runtime, setup, result)), seconds }
}

async function measure(runtime: Runtime, setup: Setup, result: RunResult): Promise<Omit<Measured, 'seconds'>> {
  const { usage, error, status, text, conversationId: conversation } = result
  const { participants: all, arrows } = await runtime.getDiagram(result.runId)
  const isPerson = new Set(all.filter((one) => one.isPerson).map(({ id }) => id))
  const versions: (readonly string[])[] = []
  const { items } = await runtime.artifacts.list(conversation, { limit: 200 })
  for (const { id, name } of items) {
    if (name !== modelName) continue
    const model = readModel(Buffer.from((await runtime.artifacts.read(id)).bytes).toString())
    versions.push(model === null ? ['not a process model'] : faultsOf(model, truth))
  }
  const { modelCalls, inputTokens, outputTokens, costUsd, byAgent } = usage
  return {
    ...{ setup: setup.name, conversation, status, agents: setup.agents.length },
    problem: error === null ? null : `${error.code}: ${error.detail}`,
    ...{ lastWords: text ?? '', modelCalls, inputTokens, outputTokens, costUsd, byAgent },
    questions: arrows.filter(({ kind, from, to }) => kind === 'message' && !isPerson.has(from) && isPerson.has(to))
      .length,
    messages: arrows.filter(({ from, to }) => !isPerson.has(from) && !isPerson.has(to)).length,
    versions: versions.length,
    ...compareVersions(versions),
  }
}

function readModel(text: string): ProcessModel | null {
  const model = parseProcessModel(text)
  return 'problems' in model ? null : model
}

/** Follows the log of a conversation and counts. */
async function watch(
  runtime: Runtime,
  { conversation, signal, told }: { conversation: string; signal: AbortSignal; told: (progress: Progress) => void },
): Promise<void> {
  let [modelCalls, questions] = [0, 0]
  for await (const event of runtime.followEvents(conversation, { verbose: true, signal })) {
    if (event.type === 'end' && event.kind === 'model') modelCalls += 1
    else if (event.type === 'message_required') questions += 1
    else continue
    told({ modelCalls, questions })
  }
}
