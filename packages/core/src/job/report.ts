/** Reports ended tasks: to the call that started them while it is live, else to the root in a hidden run [F22, C29, E55]. */
import type { CallPlace, Entry, EntryContent, MessageBody, Writable } from '@witan/protocol/entries'
import { attributed } from '../model/attribution.ts'
import { isSamePrincipal, shownCaller } from '../identity/principal.ts'
import { cutTogether } from '../parameter/scrub.ts'
import { makeEntry } from '../conversation/entry.ts'
import { contentOf } from '../conversation/said.ts'
import { type ConversationState, liveJob } from '../conversation/state.ts'
import type { TaskAnswer, EndedTask } from '../conversation/task-state.ts'
import type { JobChange } from '../store/store.ts'
import type { PinnedAgent } from './environment.ts'
import type { Job } from './job.ts'
import { type Begin, runEntries } from './start.ts'

/** The entries and job changes that report the end of tasks. */
interface EndReport {
  readonly entries: readonly Entry[]
  readonly jobs: readonly JobChange[]
}

const nothing: EndReport = { entries: [], jobs: [] }

/**
 * The report of a task's end; `ended` is null for a cancelled task, which is not reported. A live caller below the root reads the
 * report at its next step. If the root started the task, or the caller has ended, a follow-up run reports it. That run begins now,
 * or when the live run ends. It also reports what the task itself never read.
 */
export function reportEnd(job: Job, ended: EndedTask | null): EndReport {
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
  const unread = job.run.root.document.inbox.flatMap(({ reports = [] }) => reports)
  const waiting = [...state.unreported.values(), ...unread, ...(ended === null ? [] : [ended])]
  if (state.run === null || waiting.length === 0) return followUp(job, waiting)
  return { entries: [], jobs: [wakeRun(job, state.run.root.place.call)] }
}

function wakeRun(job: Job, id: string): JobChange {
  return { kind: 'wake', id, owner: job.env.owner, leaseMs: job.env.leaseMs }
}

/**
 * A hidden run of the root that reports these tasks to its model. It works for the principal of the first, so it reports only the
 * tasks of that principal; the end of the run begins the next. Empty if there are none, or the root agent is deleted or
 * disabled.
 */
export function followUp(job: Job, tasks: readonly EndedTask[]): EndReport {
  const [first] = tasks
  const { state } = job.log
  const pinned = first === undefined ? null : job.env.pin(state.database, state.rootAgent)
  if (first === undefined || pinned === null || pinned.data.disabled) return nothing
  const own = tasks.filter(({ principal }) => isSamePrincipal(principal, first.principal))
  const begin = beginning(job, { pinned, tasks: own, first })
  const { entries, place } = runEntries({ env: job.env, state }, begin)
  const { env } = job
  const about = { hidden: true, originRunId: first.place.run, ...shownCaller(first.principal) }
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
  of: { readonly pinned: PinnedAgent; readonly tasks: readonly EndedTask[]; readonly first: EndedTask },
): Begin {
  const { state } = job.log
  const message = reportOf(of.tasks, (form) => textOf(state, of.tasks, form))
  return {
    pinned: of.pinned,
    message: message.text,
    hidden: true,
    originRunId: of.first.place.run,
    principal: of.first.principal,
    toolMode: null,
    messages: [message],
  }
}

/** The message that reports all unreported tasks, for a run that begins now anyway; null if there are none [E53]. */
export function unreportedMessage(state: ConversationState): Begin['messages'][number] | null {
  const tasks = [...state.unreported.values()]
  if (tasks.length === 0) return null
  return reportOf(tasks, (form) => textOf(state, tasks, form))
}

/** The message that reports these tasks: for everybody, and for a model where that differs. */
function reportOf(tasks: readonly EndedTask[], textFor: (form: keyof TaskAnswer) => string): MessageBody {
  const [text, forModel] = [textFor('plain'), textFor('forModel')]
  const body: Writable<MessageBody> = { author: 'witan', text, tasks: tasks.map(({ place }) => place.call) }
  if (forModel !== text) body.forModel = forModel
  return body
}

function textOf(state: ConversationState, tasks: readonly EndedTask[], form: keyof TaskAnswer): string {
  const runs = [...new Set(tasks.map(({ place }) => place.run))]
  const ends = runs.flatMap((run) => state.badEnds.get(run) ?? [])
  const lines = ends.map((end) => attributed('witan', state.rootAgent, `The run that started this ${end[form]}`))
  return [...lines, ...linesOf(tasks, state.rootAgent, form)].join('\n\n')
}

function linesOf(tasks: readonly EndedTask[], to: string, form: keyof TaskAnswer): readonly string[] {
  const answers = cutTogether(tasks.map(({ answer }) => contentOf(answer[form])))
  return tasks.map(({ place, status }, at) => {
    const how = status === 'completed' ? 'is completed' : 'failed'
    return attributed(place.author, to, `Task ${place.call} ${how}: ${answers[at]}`)
  })
}

function messageFrom(
  job: Job,
  of: { readonly tasks: readonly EndedTask[]; readonly to: CallPlace; readonly job: string; readonly appendNo: number },
): Entry {
  const body = reportOf(of.tasks, (form) => linesOf(of.tasks, of.to.author, form).join('\n\n'))
  const content: EntryContent = { type: 'message', kind: null, body }
  const place = { ...of.to, author: 'witan' }
  const { job: id, appendNo } = of
  return makeEntry(content, { place, job: id, epoch: 0, appendNo, at: job.env.clock.now() })
}
