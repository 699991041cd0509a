/** Acting: running a tool whose intent is in the log, and turning an answer into its outcome. */
import { spend } from '../budget/budget.ts'
import { askedView } from '../conversation/asking.ts'
import type { Slot } from '../conversation/state.ts'
import { faultPoint } from '../identity/fault-point.ts'
import { failed, type Outcome, type ResultOutcome } from '../tool/outcome.ts'
import type { RunningTool, Tool } from '../tool/tool.ts'
import { preparedOf, recordOutcome } from './admit.ts'
import { toolsOf } from '../job/caller.ts'
import { passGate } from '../job/interrupt.ts'
import type { Job } from '../job/job.ts'
import { circumstances } from '../job/task.ts'

/** Runs one tool. An effect waits until its intent is durable; after a crash a `once` tool is not run again [D1, E78]. */
export async function act(slot: Slot, job: Job, signal: AbortSignal): Promise<void> {
  const { caller, toolset } = toolsOf(slot.owner, job)
  const tool = toolset.get(slot.name)
  if (tool === undefined || tool.immediate)
    return recordOutcome(slot, job, failed('TOOL_UNKNOWN', `tool ${slot.name} is not there any more`))
  if (tool.effect === 'once' && slot.epoch < job.identity.epoch) {
    return recordOutcome(
      slot,
      job,
      failed(
        'OUTCOME_UNKNOWN',
        `\`${tool.name}\` was started before a crash; whether its effect happened is unknown. It was not run again.`,
      ),
    )
  }
  if (tool.effect !== 'none') await job.writer.commit()
  if (job.stopped !== null || job.memo.isEnding || signal.aborted) return
  const done = effect({ slot, tool, job }, caller, signal)
  if (tool.effect !== 'once') return done
  job.memo.unrepeatable.add(done)
  return done.finally(() => job.memo.unrepeatable.delete(done))
}

/** Invokes it and records its outcome; the result of what must not repeat is stored before anything else begins. */
async function effect(
  { slot, tool, job }: { readonly slot: Slot; readonly tool: RunningTool; readonly job: Job },
  caller: Parameters<RunningTool['invoke']>[1]['caller'],
  signal: AbortSignal,
): Promise<void> {
  const prepared = preparedOf(slot, tool, job)
  const passed = prepared.ok ? passGate(slot, tool, prepared) : { ...prepared, code: 'TOOL_ARGS_INVALID' as const }
  const outcome = passed.ok
    ? await withinBudget({ slot, tool, job }, () => invoke({ slot, tool, args: passed.arguments }, caller, signal))
    : failed(passed.code, passed.detail)
  faultPoint('effect-done')
  if (job.stopped !== null || signal.aborted) return
  recordOutcome(slot, job, outcome)
  if (tool.effect !== 'once') return
  job.writer.settling = job.writer.commit()
  await job.writer.settling
}

/** A tool that asks a model itself does so only while the tree has room for it; what is under way counts as spent [D13]. */
async function withinBudget(
  { slot, tool, job }: { readonly slot: Slot; readonly tool: RunningTool; readonly job: Job },
  run: () => Promise<ResultOutcome>,
): Promise<ResultOutcome> {
  const { modelCalls = 0 } = tool
  if (modelCalls === 0) return run()
  job.memo.asking += modelCalls
  try {
    const allowance = spend(job.run, slot.owner, circumstances(job))
    return allowance.kind === 'refused' ? failed('BUDGET_EXCEEDED', `${allowance.detail}.`) : await run()
  } finally {
    job.memo.asking -= modelCalls
  }
}

/** Turns the answer that came for a waiting call into its outcome. */
export function resume(slot: Slot, job: Job): void {
  const tool = toolsOf(slot.owner, job).toolset.get(slot.name)
  recordOutcome(slot, job, resumed(slot, tool))
  faultPoint('resumed')
}

function resumed(slot: Slot, tool: Tool | undefined): ResultOutcome {
  if (tool === undefined || !tool.immediate || tool.resume === undefined || slot.answered === null) {
    return failed('TOOL_UNKNOWN', `tool ${slot.name} is not there any more`)
  }
  const { answer, asked } = slot.answered
  const outcome = tool.resume(answer, askedView(asked))
  return outcome.kind === 'result' ? outcome : failed('TOOL_FAILED', `\`${slot.name}\` gave no result`)
}

/** Runs the tool with its time-out; a throw becomes a failure that the model reads. The time-out does not wait for a tool that ignores it. */
async function invoke(
  { slot, tool, args }: { slot: Slot; tool: RunningTool; args: Readonly<Record<string, unknown>> },
  caller: Parameters<RunningTool['invoke']>[1]['caller'],
  signal: AbortSignal,
): Promise<ResultOutcome> {
  const request = { callId: slot.place?.call ?? '', toolCallId: slot.asked.id, arguments: args }
  const limit = new Limit(signal, tool.timeoutMs)
  try {
    const outcome = await limit.race(tool.invoke(request, { caller, signal: limit.signal }))
    if (outcome === 'timeout')
      return failed('TOOL_TIMEOUT', `\`${tool.name}\` took longer than ${tool.timeoutMs} ms and was stopped.`)
    if (outcome === 'aborted') return failed('RUN_CANCELLED', `\`${tool.name}\` was stopped.`)
    return outcome.kind === 'result' ? outcome : failed('TOOL_FAILED', `\`${tool.name}\` gave no result`)
  } catch (error) {
    return failed(
      'TOOL_FAILED',
      `\`${tool.name}\` failed: ${error instanceof Error ? error.message : 'unknown trouble'}`,
    )
  } finally {
    limit.end()
  }
}

/** A time-out and an outer signal in one; everything it set up is taken down at the end [D10]. */
class Limit {
  readonly #controller = new AbortController()
  readonly #stopped: Promise<'timeout' | 'aborted'>
  #end: () => void = () => {}

  constructor(outer: AbortSignal, timeoutMs: number) {
    this.#stopped = new Promise((resolve) => {
      const abort = () => {
        this.#controller.abort(outer.reason)
        resolve('aborted')
      }
      const timer = setTimeout(() => {
        this.#controller.abort(new Error('time-out'))
        resolve('timeout')
      }, timeoutMs)
      outer.addEventListener('abort', abort)
      this.#end = () => {
        clearTimeout(timer)
        outer.removeEventListener('abort', abort)
      }
      if (outer.aborted) abort()
    })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  async race(outcome: Outcome | Promise<Outcome>): Promise<Outcome | 'timeout' | 'aborted'> {
    return outcome instanceof Promise ? Promise.race([outcome, this.#stopped]) : outcome
  }

  end(): void {
    this.#end()
  }
}
