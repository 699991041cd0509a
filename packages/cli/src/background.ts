/** Background tasks: those that still run when a run has ended, and the follow-ups that report their end. */
import type { Chat } from '@witan/client'
import type { Event, Task } from '@witan/protocol'
import type { Source } from '@witan/protocol/knowledge'
import type { Connection } from './connect.ts'
import { printSources } from './speaking.ts'
import type { Terminal } from './terminal.ts'
import { print, printText } from './terminal.ts'
import type { Line } from './tree/lines.ts'
import { plural } from './tree/phrase.ts'
import { oneLine } from './tree/width.ts'

/** Whether a task has not ended. */
export function isLive({ status }: Pick<Task, 'status'>): boolean {
  return status === 'queued' || status === 'running' || status === 'waiting'
}

/** Says which tasks of a run still work, and where to look for them; nothing where none does. */
export function printStillAtWork(
  { terminal, connection }: { readonly terminal: Terminal; readonly connection: Connection },
  tasks: readonly Task[],
): void {
  const live = tasks.filter(isLive)
  if (live.length === 0) return
  print(terminal)
  const verb = live.length === 1 ? 'works' : 'work'
  print(terminal, [{ text: `${plural(live.length, 'task')} still ${verb} in the background:`, tone: 'busy' }])
  for (const task of live) print(terminal, taskLine(task))
  print(terminal, [{ text: `  ${whatNow(connection)}`, tone: 'faint' }])
  print(terminal)
}

function taskLine({ path, taskId, status }: Task): Line {
  const waits = status === 'waiting' ? '  waits for an answer' : ''
  return [
    { text: '  ⇢ ', tone: 'busy' },
    { text: oneLine(path), tone: 'strong' },
    { text: `  ${taskId}`, tone: 'faint' },
    { text: waits, tone: 'wait' },
  ]
}

/** A task lives where its application lives: in a server, in the next process on the same file, or nowhere. */
function whatNow({ url, lasts, options }: Connection): string {
  if (url !== null) return `Look with: witan tasks list${options}`
  if (!lasts) return 'The store is in memory: this ends with the process. --wait stays until it is done.'
  return 'It stops with this process and goes on with the next one on this store. --wait stays until it is done.'
}

/** Shows the answer of a follow-up run, with the passages that it names. */
type ShowFollowUp = (text: string, sources?: readonly Source[]) => void

/** Prints the result of a follow-up run. */
export interface FollowUps {
  /** Tells of those that end from now on, and of those that ended since it was last asked; the returned function ends it. */
  listen(show: ShowFollowUp): () => void
  /** Resolves when no task and no run of the conversation is at work; all that ended was shown. `watch` gets each event before that. */
  drain(show: ShowFollowUp, watch?: (event: Event) => void): Promise<void>
}

/** Follows the conversation of a chat. `drawn` has the runs that the terminal has drawn itself; they are not printed again. */
export function createFollowUps(
  { connection, chat }: { readonly connection: Connection; readonly chat: Pick<Chat, 'id'> },
  drawn: ReadonlySet<string>,
): FollowUps {
  const { client } = connection
  const hidden = new Set<string>()
  /** Which agent has control of a run, where it is not the root's. */
  const speakers = new Map<string, string>()
  let from = 0
  const take = (event: Event, show: ShowFollowUp) => {
    from = event.seq ?? from
    if (event.type === 'transfer' && event.invocationId === event.rootCallId)
      speakers.set(event.rootCallId, event.content.to)
    if (event.kind !== 'agent' || event.callId !== event.rootCallId) return
    if (event.type === 'start' && event.content.hidden) hidden.add(event.callId)
    const isOver = event.type === 'end' || event.type === 'error'
    if (!isOver || !hidden.delete(event.callId) || drawn.has(event.callId)) return
    if (event.type === 'error') return show(`The follow-up failed: ${event.content.detail}`)
    if (event.type === 'end') show(endText(event, speakers.get(event.callId)), event.content.sources)
  }
  const read = async (show: ShowFollowUp, signal: AbortSignal) => {
    for await (const event of client.events(chat.id, { from, signal })) take(event, show)
  }
  return {
    listen(show) {
      const stop = new AbortController()
      // A stream that is lost is no reason to end a conversation: the next listening reads what it missed.
      if (drawn.size > 0) read(show, stop.signal).catch(() => {})
      return () => stop.abort()
    },
    async drain(show, watch) {
      const stop = new AbortController()
      const isQuiet = async () => {
        const { tasks, status: now, lastSeq } = await client.conversations.get(chat.id)
        return now !== 'running' && tasks.every(({ status }) => status === 'waiting') ? lastSeq : null
      }
      let last = await isQuiet()
      if (last === null || from < last) {
        for await (const event of client.events(chat.id, { from, verbose: true, signal: stop.signal })) {
          watch?.(event)
          take(event, show)
          if (event.type === 'task' || isRootEnd(event)) last = await isQuiet()
          if (last !== null && from >= last) break
        }
      }
      stop.abort()
    },
  }
}

function isRootEnd({ type, kind, callId, rootCallId }: Event): boolean {
  return kind === 'agent' && callId === rootCallId && (type === 'end' || type === 'error')
}

function endText({ content, author }: Extract<Event, { type: 'end'; kind: 'agent' }>, speaker = author): string {
  if (content.finishReason === 'cancelled') return 'The follow-up was cancelled.'
  const text = content.text === '' ? JSON.stringify(content.output) : content.text
  return speaker === author ? text : `${speaker}:\n${text}`
}

/** The answer of a follow-up run, printed between the others. */
export function printFollowUp(terminal: Terminal, text: string, sources?: readonly Source[]): void {
  print(terminal, [{ text: '⇢ from the background', tone: 'busy' }])
  print(terminal)
  printText(terminal, text.trimEnd())
  printSources(terminal, sources)
  print(terminal)
}
