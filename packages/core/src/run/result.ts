/** Builds the result of a run as its caller gets it. */
import type { Interruption, RunResult, Task, Usage, UsageCounters } from '@witan/protocol'
import { addCounters, emptyCounters } from '@witan/protocol/entries'
import { askedView } from '../conversation/fold-interruptions.ts'
import { type AgentCall, callInControl, type LiveJob } from '../conversation/state.ts'
import type { StartedTask } from '../conversation/task-state.ts'
import { jsonLength } from '../identity/json-length.ts'
import { cutTogether } from '../parameter/scrub.ts'
import { mergeUsage } from '../conversation/merge-usage.ts'
import { isoDate } from '../event/project.ts'
import type { StoredResult } from '../task/tracker.ts'
import type { Job } from '../job/job.ts'

/** The total usage, and the usage of each agent path. */
export function usageOf(byPath: ReadonlyMap<string, UsageCounters>): Usage {
  const total = emptyCounters()
  const byAgent: Record<string, UsageCounters> = {}
  for (const [path, counters] of byPath) {
    addCounters(total, counters)
    byAgent[path] = { ...counters } // a copy: the counters still change
  }
  return { ...total, byAgent }
}

/** Usage of the call tree so far. A parent's usage includes its ended children; live calls are added. */
function treeUsage(run: LiveJob): Usage {
  if (run.calls.size === 1) return usageOf(run.root.usage)
  const sum = new Map<string, UsageCounters>()
  for (const call of run.calls.values()) mergeUsage(sum, call.usage)
  return usageOf(sum)
}

/** How many characters of JSON the interruptions of a result have, at most: as many as a page. */
const mostCharacters = 4_000_000

/** The open interruptions, oldest first, up to that bound: the rest is there once the run goes on, and in the list. */
function openInterruptions(run: LiveJob): Interruption[] {
  const open: Interruption[] = []
  let room = mostCharacters
  for (const toolCall of run.toolCalls.values())
    for (const one of toolCall.interruptions) {
      const view = askedView(one)
      room -= jsonLength(view)
      if (room < 0 && open.length > 0) return open
      open.push(view)
    }
  return open
}

/** A task as its run knows it. The store has its current status. */
function taskLine(conversationId: string, { place, toolCallId, startedAt }: StartedTask): Task {
  return {
    taskId: place.call,
    toolCallId,
    callId: place.call,
    conversationId,
    agent: place.author,
    path: place.agentPath.split('/').slice(1).join('/'),
    status: 'queued',
    text: '',
    output: null,
    error: null,
    usage: usageOf(new Map()),
    createdAt: isoDate(startedAt),
    startedAt: null,
    endedAt: null,
  }
}

/** The earlier answers of a call, and of those that have its control. */
export function earlierAnswersOf(call: AgentCall): readonly string[] {
  const { handedTo, earlierAnswers } = call
  return handedTo === null ? earlierAnswers : [...earlierAnswers, ...earlierAnswersOf(handedTo)]
}

/** Builds a result from the outcome of the run. */
export function resultOf(
  job: Job,
  {
    status,
    text,
    output,
    finishReason,
    error,
    sources,
  }: Pick<RunResult, 'status' | 'text' | 'output' | 'finishReason' | 'error' | 'sources'>,
): StoredResult {
  const { run } = job
  const earlierAnswers = earlierAnswersOf(run.root)
  const result: StoredResult = {
    runId: run.root.place.call,
    conversationId: job.log.state.id,
    agent: callInControl(run.root).agent.id,
    status,
    text,
    output,
    ...(sources === undefined ? {} : { sources }),
    finishReason,
    error,
    interruptions: status === 'waiting' ? openInterruptions(run) : [],
    tasks: run.tasks.map((task) => taskLine(job.log.state.id, task)),
    usage: treeUsage(run),
    elapsedMs: job.env.clock.now() - run.root.startedAt,
  }
  return earlierAnswers.length === 0 ? result : { ...result, earlierAnswers: [...cutTogether(earlierAnswers)] }
}
