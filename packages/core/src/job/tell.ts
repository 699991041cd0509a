/** Telling of tasks that ended: to the call that started them while it lives, or to the root by a hidden run of its own [F22, C29, E55]. */
import type { CallPlace, Entry, EntryContent } from '@witan/protocol/entries'
import { type ConversationState, type EndedTask, liveJob } from '../conversation/state.ts'
import type { JobChange } from '../store/store.ts'
import type { PinnedAgent } from './environment.ts'
import type { Job } from './job.ts'
import { type Begin, runEntries } from './start.ts'

/** What is appended so that somebody learns of it. */
export interface Telling {
  readonly entries: readonly Entry[]
  readonly jobs: readonly JobChange[]
}

const nothing: Telling = { entries: [], jobs: [] }

/**
 * What the end of a task brings along; `ended` is null for one that was cancelled, of which nobody is told. Its caller hears of it
 * at its next step; but the root's model, and whoever has ended, hear of it in a follow-up run, which begins now, or with the end of
 * the run that is live. So is what the task was told of and never read.
 */
export function tellEnd(job: Job, ended: EndedTask | null): Telling {
  const { state } = job.log
  const of = ended === null ? null : liveJob(state, ended.caller.job)
  const caller = of?.calls.get(ended?.caller.place.call ?? '')
  if (of !== null && ended !== null && caller !== undefined && caller.parent !== null) {
    const id = of.root.place.call
    return {
      entries: [messageFrom(job, { tasks: [ended], to: caller.place, job: id, appendNo: job.env.ids.append() })],
      jobs: [{ kind: 'wake', id, owner: job.env.owner, leaseMs: job.env.leaseMs }],
    }
  }
  const unread = job.run.root.document.inbox.flatMap(({ told = [] }) => told)
  const waiting = [...state.untold.values(), ...unread, ...(ended === null ? [] : [ended])]
  if (state.run === null || waiting.length === 0) return followUp(job, waiting)
  return { entries: [], jobs: [wakeRun(job, state.run.root.place.call)] }
}

function wakeRun(job: Job, id: string): JobChange {
  return { kind: 'wake', id, owner: job.env.owner, leaseMs: job.env.leaseMs }
}

/** A hidden run of the root that tells its model of these tasks; nothing where the root agent is gone or there are none. */
export function followUp(job: Job, tasks: readonly EndedTask[]): Telling {
  const [first] = tasks
  const { state } = job.log
  const pinned = first === undefined ? null : job.env.pin(state.database, state.rootAgent)
  if (first === undefined || pinned === null || pinned.data.disabled) return nothing
  const begin = beginning(job, { pinned, tasks, originRunId: first.place.run })
  const { entries, place } = runEntries({ env: job.env, state }, begin)
  const { env } = job
  const about = { hidden: true, originRunId: first.place.run }
  const at = env.clock.now()
  const create = {
    kind: 'create',
    id: place.call,
    job: 'run',
    owner: env.owner,
    leaseMs: env.leaseMs,
    at,
    about,
  } as const
  return { entries, jobs: [create] }
}

function beginning(
  job: Job,
  of: { readonly pinned: PinnedAgent; readonly tasks: readonly EndedTask[]; readonly originRunId: string },
): Begin {
  const text = textOf(job.log.state, of.tasks)
  return {
    pinned: of.pinned,
    message: text,
    hidden: true,
    originRunId: of.originRunId,
    messages: [{ author: 'witan', text, tasks: of.tasks.map(({ place }) => place.call) }],
  }
}

/** All that wait to be told, for a run that begins now anyway [E53]. */
export function untoldMessage(state: ConversationState): Begin['messages'][number] | null {
  const tasks = [...state.untold.values()]
  if (tasks.length === 0) return null
  return { author: 'witan', text: textOf(state, tasks), tasks: tasks.map(({ place }) => place.call) }
}

function textOf(state: ConversationState, tasks: readonly EndedTask[]): string {
  const runs = [...new Set(tasks.map(({ place }) => place.run))]
  const ends = runs.flatMap((run) => state.badEnds.get(run) ?? [])
  const told = ends.map((end) => `[from @witan to @${state.rootAgent}] The run that started this ${end}`)
  return [...told, ...tasks.map((task) => linesOf(task, state.rootAgent))].join('\n\n')
}

function linesOf({ place, status, text }: EndedTask, to: string): string {
  const how = status === 'completed' ? 'is completed' : 'failed'
  return `[from @${place.author} to @${to}] Task ${place.call} ${how}: ${text}`
}

function messageFrom(
  job: Job,
  of: { readonly tasks: readonly EndedTask[]; readonly to: CallPlace; readonly job: string; readonly appendNo: number },
): Entry {
  const text = of.tasks.map((task) => linesOf(task, of.to.author)).join('\n\n')
  const content: EntryContent = {
    type: 'message',
    kind: null,
    body: { author: 'witan', text, tasks: of.tasks.map(({ place }) => place.call) },
  }
  const place = { ...of.to, author: 'witan' }
  const { job: id, appendNo } = of
  return { ...content, seq: 0, at: job.env.clock.now(), place, job: id, epoch: 0, appendNo } as Entry
}
