/** Invariants of what happens outside the log: effects, answers, budgets, time, secrets and memory. */
import type { Entry } from '@witan/protocol/entries'
import type { Evidence, StoredConversation } from './evidence.ts'
import { onceTools } from './world.ts'

type ToolStart = Extract<Entry, { readonly type: 'start'; readonly kind: 'tool' }>

function toolStarts({
  conversations,
}: Evidence): readonly { readonly start: ToolStart; readonly entries: readonly Entry[] }[] {
  return conversations.flatMap(({ entries }) =>
    entries.flatMap((entry) => (entry.type === 'start' && entry.kind === 'tool' ? [{ start: entry, entries }] : [])),
  )
}

function endOf(start: ToolStart, entries: readonly Entry[]): Entry | undefined {
  return entries.find(
    (entry) => entry.kind === 'tool' && entry.type !== 'start' && entry.place.call === start.place.call,
  )
}

function codeOf(entry: Entry | undefined): string | null {
  return entry?.type === 'error' ? entry.body.code : null
}

/** What ends a call before it began. */
const unbegun: ReadonlySet<string | null> = new Set(['QUESTION_EXPIRED', 'APPROVAL_DENIED'])

const unsettled: ReadonlySet<string | null> = new Set([
  'OUTCOME_UNKNOWN',
  'RUN_CANCELLED',
  'TOOL_TIMEOUT',
  'TOOL_ARGS_INVALID',
])

/** [I4] A `once` effect happens at most once, and where nobody knows whether it did, the history says so. */
export function checkOnce(evidence: Evidence): string[] {
  const { ledger } = evidence
  const wrong = ledger.executions
    .filter(({ effect, times }) => effect === 'once' && times > 1)
    .map(({ tool, callId, times }) => `${tool} ${callId} was executed ${times} times`)
  const done = new Set(ledger.executions.map(({ callId }) => callId))
  for (const { start, entries } of toolStarts(evidence)) {
    const over = endOf(start, entries)
    if (!onceTools.has(start.body.name) || over === undefined) continue
    if (over.type === 'end' && !done.has(start.place.call))
      wrong.push(`${start.place.call} is told as done and was not`)
    if (unbegun.has(codeOf(over))) {
      if (done.has(start.place.call)) wrong.push(`${start.place.call} was done, and nobody released it`)
    } else if (over.type === 'error' && !unsettled.has(codeOf(over)))
      wrong.push(`${start.place.call} ended ${codeOf(over)}, which does not say what came of it`)
  }
  return wrong.concat(unintended(evidence))
}

/** An effect whose intent is not in the log is one that nobody could ever account for. */
function unintended(evidence: Evidence): string[] {
  const known = new Set(toolStarts(evidence).map(({ start }) => start.place.call))
  return evidence.ledger.executions
    .filter(({ effect, callId }) => effect !== 'none' && !known.has(callId))
    .map(({ tool, callId }) => `${tool} ${callId} has no intent in the log`)
}

/** [I5] A `keyed` effect that is told as done was asked for at least once and applied exactly once. */
export function checkKeyed(evidence: Evidence): string[] {
  const times = new Map(evidence.ledger.executions.map((one) => [one.callId, one.times]))
  const applied = new Map<string, number>()
  for (const key of evidence.ledger.applied) applied.set(key, 1 + (applied.get(key) ?? 0))
  return toolStarts(evidence).flatMap(({ start, entries }) => {
    if (start.body.name !== 'book' || endOf(start, entries)?.type !== 'end') return []
    const [asked, made] = [times.get(start.place.call) ?? 0, applied.get(start.place.call) ?? 0]
    return asked >= 1 && made === 1
      ? []
      : [`${start.place.call} was asked for ${asked} times and applied ${made} times`]
  })
}

/** [I8] An interruption is resolved at most once, by the winner's value; whoever came second was refused. */
export function checkAnswers({ history, conversations }: Evidence): string[] {
  return conversations.flatMap((conversation) => {
    const wrong: string[] = []
    const accepted = new Map<string, string>()
    for (const { kind, subject, value, conversation: id } of history.acknowledged) {
      if (kind !== 'answer' || subject === null || id !== conversation.id) continue
      const before = accepted.get(subject)
      if (before !== undefined && before !== value) wrong.push(`${subject} was answered ${before} and ${value}`)
      accepted.set(subject, value)
    }
    for (const { view } of conversation.interruptions) wrong.push(...checkResolved(conversation, view, accepted))
    return wrong
  })
}

function checkResolved(
  { id, entries }: StoredConversation,
  view: StoredConversation['interruptions'][number]['view'],
  accepted: ReadonlyMap<string, string>,
): string[] {
  const resolved = entries.filter((entry) => entry.type === 'resolved' && entry.body.id === view.id)
  if (resolved.length > 1) return [`${id}: ${view.id} is resolved ${resolved.length} times`]
  const used = entries.find(
    (entry) => entry.kind === 'tool' && entry.type === 'end' && entry.place.call === view.callId,
  )
  if (view.kind === 'approval') {
    // What the call gives is its tool's; that it runs at all is the answer's.
    const released = resolved.some(({ body }) => JSON.stringify(body).includes('"approved"'))
    return used === undefined || released ? [] : [`${id}: ${view.callId} ran, and nobody released it`]
  }
  const winner = accepted.get(view.id)
  if (used?.type !== 'end' || used.kind !== 'tool' || winner === undefined) return []
  const told = JSON.stringify(used.body.result)
  return told === winner ? [] : [`${id}: ${view.id} was answered ${winner}, and ${told} was used`]
}

/** [I9] Whatever does not wait for somebody has ended, and a dead owner's work went on in time. */
export function checkLive({ conversations, recoveriesMs, bounds }: Evidence): string[] {
  const stuck = conversations.flatMap(({ id, jobs, interruptions }) =>
    jobs.flatMap((job) => {
      if (job.endedAt !== null) return []
      const waits = interruptions.some(({ view, job: own }) => own === job.id && view.state === 'open')
      return job.status === 'waiting' && waits ? [] : [`${id}: job ${job.id} is ${job.status} and waits for nobody`]
    }),
  )
  const late = recoveriesMs.filter((ms) => ms > bounds.recoveryMs).map((ms) => `a run went on only after ${ms} ms`)
  return [...stuck, ...late]
}

/** [I10] No run makes more model calls than its cap; after a cancel and its grace none begins, and within it one at most for each agent at work. */
export function checkBudget({ conversations, bounds, ledger }: Evidence): string[] {
  return conversations.flatMap(({ id, entries }) => {
    const wrong = checkPaid(
      { id, entries, graceMs: bounds.graceMs },
      ledger.executions.filter(({ tool, conversation }) => tool === 'model' && conversation === id),
    )
    const spent = new Map<string, number>()
    const cancelled = new Map<string, number>()
    for (const entry of entries) {
      const { run } = entry.place
      if (entry.type === 'cancel') cancelled.set(run, Math.min(entry.at, cancelled.get(run) ?? entry.at))
      if (entry.type !== 'end' || entry.kind !== 'model') continue
      spent.set(run, 1 + (spent.get(run) ?? 0))
      const since = cancelled.get(run)
      // Tasks have jobs of their own, and go on.
      if (since !== undefined && entry.job === run && entry.body.startedAt > since + bounds.graceMs)
        wrong.push(`${id}: a model call of ${run} began ${entry.body.startedAt - since} ms after its cancel`)
    }
    for (const [run, calls] of spent) {
      if (calls > bounds.modelCalls) wrong.push(`${id}: run ${run} made ${calls} model calls of ${bounds.modelCalls}`)
    }
    return wrong
  })
}

/** What was asked just before a cancel may be told to the ledger just after it. */
const onItsWayMs = 50

/** What a provider was asked for after the first cancel, as the ledger outside counted it. */
function checkPaid(
  { id, entries, graceMs }: { readonly id: string; readonly entries: readonly Entry[]; readonly graceMs: number },
  paid: readonly { readonly at: number }[],
): string[] {
  const cancel = entries.find(({ type }) => type === 'cancel')
  if (cancel === undefined) return []
  const before = entries.filter(({ seq, kind }) => seq < cancel.seq && kind === 'agent')
  const underWay =
    before.filter(({ type }) => type === 'start').length - before.filter(({ type }) => type !== 'start').length
  const after = paid.filter(({ at }) => at > cancel.at + onItsWayMs)
  const late = after.filter(({ at }) => at > cancel.at + graceMs).map(({ at }) => at - cancel.at)
  return [
    ...late.map((ms) => `${id}: a model was asked ${ms} ms after the cancel`),
    ...(after.length > underWay ? [`${id}: ${after.length} model calls after the cancel of ${underWay} agents`] : []),
  ]
}

/** [I13] No reading holds a value that nobody may read. */
export function checkHidden({ readings, canaries }: Evidence): string[] {
  const values = canaries.filter(({ tenant }) => tenant === null)
  return readings.flatMap(({ sink, text }) =>
    values.filter(({ value }) => text.includes(value)).map(() => `${sink} shows a hidden value`),
  )
}

/** [I14] No reading of one tenant holds a value of another. */
export function checkTenants({ readings, canaries }: Evidence): string[] {
  return readings.flatMap(({ sink, tenant: reader, text }) =>
    canaries
      .filter(({ value, tenant }) => tenant !== null && tenant !== reader && text.includes(value))
      .map(({ tenant }) => `${sink} of ${reader} shows a value of ${tenant}`),
  )
}

/** What readers that keep up have queued at any moment. */
const mostLeftBytes = 1_000_000

/** [I15] What was held for readers is dropped with them. */
export function checkMemory({ memory }: Evidence): string[] {
  return memory.flatMap(({ baselineBytes, afterBytes }) =>
    afterBytes - baselineBytes <= mostLeftBytes ? [] : [`held ${baselineBytes} bytes before and ${afterBytes} after`],
  )
}

/** [I16] With faults the same script comes to the same as without. */
export function checkParity({ endings }: Evidence): string[] {
  return endings.flatMap(({ name, faulty, calm }) =>
    JSON.stringify(faulty) === JSON.stringify(calm) ? [] : [`${name}: ${differenceOf(faulty, calm)}`],
  )
}

function differenceOf(faulty: unknown, calm: unknown): string {
  if (!Array.isArray(faulty) || !Array.isArray(calm))
    return `came to ${JSON.stringify(faulty)}, not ${JSON.stringify(calm)}`
  const [less, more] = [without(calm, faulty), without(faulty, calm)]
  return `lacks ${less.join(' | ') || 'nothing'}; has besides ${more.join(' | ') || 'nothing'}`
}

/** The items that one list has, and the other lacks or has fewer times. */
function without(list: readonly unknown[], other: readonly unknown[]): readonly unknown[] {
  const left = [...other]
  return list.filter((one) => {
    const at = left.indexOf(one)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}

const leastAcknowledged = 0.8

/** [I17] Most of what was meant was acknowledged, and every fault that was meant fired. */
export function checkVacuous({ history, faults }: Evidence): string[] {
  const wrong: string[] = []
  const acknowledged = history.acknowledged.length + history.conflicts.length
  if (history.intended === 0 && faults.intended === 0) wrong.push('nothing was tried')
  if (acknowledged < history.intended * leastAcknowledged)
    wrong.push(`only ${acknowledged} of ${history.intended} operations were acknowledged`)
  if (faults.fired < faults.intended) wrong.push(`only ${faults.fired} of ${faults.intended} faults fired`)
  return wrong
}
