/** Invariants of the log itself and of what readers saw of it. Each gives what is wrong, in words; nothing for a good history. */
import type { AnyEvent } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import type { Evidence, StoredConversation } from './evidence.ts'
import type { Acknowledged, Connection } from './history.ts'

const isOver = ({ type }: Entry): boolean => type === 'end' || type === 'error'
const isStart = ({ type }: Entry): boolean => type === 'start'

/** [I1] Every acknowledged input stands in the final history exactly once. Cancels of one run are alike: at least as many as were acknowledged. */
export function checkAcknowledged({ history, conversations }: Evidence): string[] {
  const byId = new Map(conversations.map((one) => [one.id, one]))
  return history.acknowledged.flatMap((input) => {
    const entries = byId.get(input.conversation)?.entries ?? []
    const times = entries.filter((entry) => holds(entry, input)).length
    const alike = history.acknowledged.filter(({ kind, subject }) => kind === 'cancel' && subject === input.subject)
    return (input.kind === 'cancel' ? times >= alike.length : times === 1)
      ? []
      : [`${input.conversation}: ${input.kind} ${input.value} stands ${times} times`]
  })
}

function holds(entry: Entry, { kind, subject, value }: Acknowledged): boolean {
  if (kind === 'message') return entry.type === 'message' && entry.body.author === 'user' && entry.body.text === value
  if (kind === 'cancel') return entry.type === 'cancel' && entry.place.call === subject
  return entry.type === 'resolved' && entry.body.id === subject && JSON.stringify(answered(entry.body.answer)) === value
}

function answered(answer: unknown): unknown {
  return typeof answer === 'object' && answer !== null && 'value' in answer ? answer.value : answer
}

/** [I2] `seq` is 1..n; what a client saw is in order, without holes where it asked for all, and is what is stored. */
export function checkOrder({ history, conversations }: Evidence): string[] {
  const wrong: string[] = []
  for (const { id, entries } of conversations) {
    const at = entries.findIndex(({ seq }, index) => seq !== index + 1)
    if (at >= 0) wrong.push(`${id}: entry ${at + 1} has seq ${entries[at]?.seq}`)
  }
  const byId = new Map(conversations.map(({ id, entries }) => [id, entries]))
  const known = new Map<string, string>()
  for (const connection of history.connections) {
    wrong.push(...checkConnection(connection, byId.get(connection.conversation) ?? [], known))
  }
  return wrong
}

function checkConnection(
  { conversation, from, whole, frames }: Connection,
  entries: readonly Entry[],
  known: Map<string, string>,
): string[] {
  const wrong: string[] = []
  let last = from
  for (const { id, event } of frames) {
    const stored = entries[id - 1]
    if (id <= last) wrong.push(`${conversation}: event ${id} came after ${last}`)
    if (whole && id > last + 1) wrong.push(`${conversation}: events between ${last} and ${id} did not come`)
    if (event.seq !== id || stored === undefined || signature(stored) !== signatureOf(event))
      wrong.push(`${conversation}: event ${id} is not what is stored`)
    const key = `${conversation} ${id}`
    const text = JSON.stringify(event)
    if ((known.get(key) ?? text) !== text) wrong.push(`${conversation}: event ${id} was told in two ways`)
    known.set(key, text)
    last = id
  }
  return wrong
}

const signature = ({ type, kind, place }: Entry): string => `${type} ${kind} ${place.call}`
const signatureOf = ({ type, kind, callId }: AnyEvent): string => `${type} ${kind} ${callId}`

/** [I3] A run has exactly one end, and nothing of it follows but what its tasks say. */
export function checkOneEnd({ conversations }: Evidence): string[] {
  return conversations.flatMap(({ id, entries, jobs }) =>
    rootsOf(entries).flatMap((run) => {
      const ends = entries.filter((entry) => entry.place.call === run && entry.kind === 'agent' && isOver(entry))
      const live = jobs.find((job) => job.id === run)?.endedAt === null
      if (ends.length !== (live ? 0 : 1)) return [`${id}: run ${run} has ${ends.length} ends`]
      const last = entries.findLast((entry) => entry.place.run === run && entry.job === run)
      return live || last === ends[0] ? [] : [`${id}: ${last?.type} ${last?.seq} follows the end of run ${run}`]
    }),
  )
}

function rootsOf(entries: readonly Entry[]): readonly string[] {
  return entries.filter((entry) => isStart(entry) && entry.place.parentCall === null).map(({ place }) => place.call)
}

/** [I6] Each start has one end or error, and a parent ends after the children it waits for. */
export function checkSettled({ conversations }: Evidence): string[] {
  return conversations.flatMap(({ id, entries, jobs }) => {
    const live = new Set(jobs.filter(({ endedAt }) => endedAt === null).map((job) => job.id))
    const tasks = new Set(jobs.filter(({ kind }) => kind === 'task').map((job) => job.id))
    const wrong: string[] = []
    const ends = new Map<string, Entry[]>()
    for (const entry of entries) {
      if (!isOver(entry)) continue
      const key = `${entry.kind} ${entry.place.call}`
      ends.set(key, [...(ends.get(key) ?? []), entry])
    }
    for (const start of entries.filter(isStart)) {
      const own = ends.get(`${start.kind} ${start.place.call}`) ?? []
      const isTask = tasks.has(start.place.call)
      if (own.length > 1 || (own.length === 0 && !live.has(isTask ? start.place.call : start.job)))
        wrong.push(`${id}: ${start.kind} ${start.place.call} has ${own.length} ends`)
      const parent = ends.get(`agent ${start.place.parentCall}`)?.[0]
      if (parent !== undefined && !isTask && (own[0]?.seq ?? 0) > parent.seq)
        wrong.push(`${id}: ${start.place.call} ended after its parent`)
    }
    for (const key of ends.keys()) {
      if (key.startsWith('model ')) continue
      if (!entries.some((entry) => isStart(entry) && `${entry.kind} ${entry.place.call}` === key))
        wrong.push(`${id}: ${key} ends without a start`)
    }
    return wrong
  })
}

/** [I7] Entries of a job never go back to an earlier epoch. What others put in carries epoch 0. */
export function checkEpochs({ conversations }: Evidence): string[] {
  return conversations.flatMap(({ id, entries }) => {
    const last = new Map<string, number>()
    return entries.flatMap(({ job, epoch, seq }) => {
      if (epoch === 0) return []
      const before = last.get(job) ?? 0
      last.set(job, Math.max(before, epoch))
      return epoch >= before ? [] : [`${id}: entry ${seq} of job ${job} is of epoch ${epoch}, after ${before}`]
    })
  })
}

/** [I11] Call ids are unique, parents exist and come first, the root stays the root, and depth has its cap. */
export function checkTree({ conversations, bounds }: Evidence): string[] {
  return conversations.flatMap((conversation) => checkCalls(conversation, bounds.depth))
}

function checkCalls({ id, entries }: StoredConversation, cap: number): string[] {
  const wrong: string[] = []
  const known = new Map<string, { readonly run: string; readonly depth: number }>()
  for (const entry of entries) {
    const { call, parentCall, run } = entry.place
    if (!isStart(entry)) {
      // A call that must be released has not begun when that is asked.
      const isBefore = entry.type === 'approval_required' || entry.type === 'resolved'
      const isKnown = known.has(call) || (isBefore && parentCall !== null && known.has(parentCall))
      if (entry.type !== 'message' && !isKnown) wrong.push(`${id}: ${entry.type} of unknown call ${call}`)
      continue
    }
    const parent = parentCall === null ? null : known.get(parentCall)
    if (known.has(call)) wrong.push(`${id}: call ${call} starts twice`)
    if (parent === undefined) wrong.push(`${id}: the parent of ${call} does not come before it`)
    if (run !== (parent?.run ?? call)) wrong.push(`${id}: ${call} has another root than its parent`)
    const depth = parent ? parent.depth + (entry.kind === 'agent' ? 1 : 0) : 0
    if (depth > cap) wrong.push(`${id}: ${call} is ${depth} deep`)
    known.set(call, { run, depth })
  }
  return wrong
}

/** [I12] What came live of a call's last attempt is what is stored of it, as far as it was read; an earlier attempt was replaced. */
export function checkText({ history, conversations }: Evidence): string[] {
  const byId = new Map(conversations.map(({ id, entries }) => [id, entries]))
  return history.connections.flatMap(({ conversation, deltas }) => {
    const entries = byId.get(conversation) ?? []
    return [...textsOf(deltas)].flatMap(([key, text]) => {
      const [call, attempt] = [key.slice(0, key.lastIndexOf(' ')), Number(key.slice(key.lastIndexOf(' ')))]
      const replies = entries.filter(
        (entry) => entry.kind === 'model' && entry.type === 'end' && entry.place.call === call,
      )
      const own = replies.find(
        (entry) => entry.type === 'end' && entry.kind === 'model' && entry.body.attempt === attempt,
      )
      if (own?.type === 'end' && own.kind === 'model')
        return own.body.text.startsWith(text)
          ? []
          : [`${conversation}: ${call} said "${text}", stored is "${own.body.text}"`]
      const over = entries.some((entry) => entry.place.call === call && entry.kind === 'agent' && isOver(entry))
      const later = replies.some(
        (entry) => entry.type === 'end' && entry.kind === 'model' && entry.body.attempt > attempt,
      )
      return over || later ? [] : [`${conversation}: what ${call} said in attempt ${attempt} was never settled`]
    })
  })
}

/** What a reader has of each call and attempt in the end; a snapshot replaces what came before it. */
function textsOf(deltas: readonly AnyEvent[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  for (const { callId, content } of deltas) {
    const key = `${callId} ${String(content['attempt'])}`
    const before = content['snapshot'] === true ? '' : (texts.get(key) ?? '')
    texts.set(key, before + String(content['text']))
  }
  return texts
}

/**
 * [I18] Each task that ended of itself is told once, to the call that started it or to the root. What is told to a call below the
 * root counts if that reads it; while a job is live the telling may be still to come. Of a cancelled one nobody is told.
 */
export function checkTold({ conversations }: Evidence): string[] {
  return conversations.flatMap(({ id, entries, jobs }) => {
    const isOver = jobs.every(({ endedAt }) => endedAt !== null)
    const told = tellings(entries)
    return entries.flatMap((entry) => {
      if (entry.type !== 'task' || !['completed', 'failed', 'cancelled'].includes(entry.body.status)) return []
      const { taskId, status } = entry.body
      const times = told.filter((task) => task === taskId).length
      const most = status === 'cancelled' ? 0 : 1
      if (times <= most && (!isOver || times === most)) return []
      return [`${id}: task ${taskId} ended ${status} and was told ${times} times`]
    })
  })
}

/** The tasks that somebody was told of, once for each time. */
function tellings(entries: readonly Entry[]): readonly string[] {
  const told: string[] = []
  const unread = new Map<string, (readonly string[])[]>()
  for (const { type, kind, place, body } of entries) {
    const inbox = unread.get(place.call)
    if (type === 'start' && kind === 'agent' && place.parentCall !== null) unread.set(place.call, [[]])
    else if (type === 'message') {
      if (place.parentCall === null) told.push(...(body.tasks ?? []))
      else inbox?.push(body.tasks ?? [])
    } else if (type === 'end' && kind === 'model') told.push(...(inbox?.splice(0, body.taken).flat() ?? []))
  }
  return told
}
