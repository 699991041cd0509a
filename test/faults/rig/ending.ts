/** What a conversation came to, without ids, times and attempts: two tellings of one script have the same. */
import type { Entry } from '@witan/protocol/entries'
import type { StoredConversation } from './evidence.ts'

/**
 * Every entry by what it says and where, but for notices and lost model calls, in no order: parallel branches may come in any. An effect whose outcome is
 * unknown counts as done: the script goes on alike, and the history says which it was.
 */
export function endingOf({ entries, jobs }: StoredConversation): readonly string[] {
  const told = entries.flatMap((entry) => {
    const content = contentOf(entry, entries)
    return content === null ? [] : [withoutIds([entry.place.agentPath, entry.place.author, content])]
  })
  return [...told, ...jobs.map(({ status }) => status)].sort()
}

/** The text that tells of a task names its call. */
function withoutIds(told: unknown): string {
  return JSON.stringify(told).replaceAll(/\bc_[a-z0-9]+_[a-z0-9]+/g, 'c')
}

const endedStatuses: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled'])

function contentOf(entry: Entry, entries: readonly Entry[]): unknown {
  switch (entry.type) {
    case 'cancel': // one that got no reply may be said again
    case 'notice':
    case 'summary':
      return null
    case 'message':
      return ['message', entry.body.author, entry.body.text]
    case 'start':
      return entry.kind === 'agent' ? ['starts', entry.body.message] : ['calls', entry.body.name, entry.body.arguments]
    case 'end':
      if (entry.kind === 'agent') return ['ends', entry.body.text, entry.body.finishReason]
      if (entry.kind === 'tool') return ['gives', entry.body.result]
      return ['says', entry.body.text, entry.body.toolCalls.map(({ name }) => name)]
    case 'error':
      // A model call that was under way when its process ended is made again.
      if (entry.kind === 'model' && entry.body.code === 'MODEL_CALL_LOST') return null
      return entry.body.code === 'OUTCOME_UNKNOWN'
        ? ['gives', `${toolOf(entry, entries)} ok`]
        : [entry.kind, entry.body.code]
    case 'task':
      // A task that was taken over runs again, and says so.
      return endedStatuses.has(entry.body.status) ? ['task', entry.body.status] : null
    case 'resolved':
      return ['resolved', entry.body.state, entry.body.answer]
    default:
      return [entry.type]
  }
}

/** The name of the tool that an entry is of. */
function toolOf({ place }: Entry, entries: readonly Entry[]): string {
  const start = entries.find(
    ({ type, kind, place: { call } }) => type === 'start' && kind === 'tool' && call === place.call,
  )
  return start?.type === 'start' && start.kind === 'tool' ? start.body.name : 'nothing'
}
