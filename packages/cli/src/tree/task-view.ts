/** The tasks of a conversation on a terminal, while a command waits for their end: redrawn in place, each as a tree. */
import { type CallView, createConversationFold } from '@witan/client'
import type { Event } from '@witan/protocol'
import { canRedraw, painter, type Terminal, widthOf } from '../terminal.ts'
import { drawTree, lineWidth } from './lines.ts'
import { createScreen, type Row } from './screen.ts'

/** Shows the tasks that had not ended when their run was drawn, and those that came later. On a pipe it shows nothing. */
interface TaskView {
  take(event: Event): void
  /** Leaves what there is as ordinary text, so that an answer can be printed below it. Tasks that go on are drawn again below that. */
  pause(): void
}

const frameMs = 80
/** What a shell expects of a program that Ctrl+C ended. */
const interrupted = 130

/** Makes the view. `drawn` has the runs that the terminal has drawn; `close` gives the cursor back. */
export function createTaskView(terminal: Terminal, drawn: ReadonlySet<string>): TaskView & { close(): void } {
  if (!canRedraw(terminal)) return { take: () => {}, pause: () => {}, close: () => {} }
  const fold = createConversationFold()
  const screen = createScreen(terminal.output)
  const paint = painter(terminal)
  /** Tasks whose end is printed for good. */
  const printed = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let frame = 0
  /** How far this clock is ahead of the server's: what an event that has just come says best. */
  let aheadMs = Number.POSITIVE_INFINITY

  const tasks = () => {
    const first = fold.view.runs.findIndex((runId) => drawn.has(runId))
    const later = first < 0 ? [] : fold.view.runs.slice(first)
    return [...fold.view.calls.values()].filter(
      (call) => call.background && later.includes(call.rootCallId) && !printed.has(call.callId) && !wasDrawn(call),
    )
  }
  /** Whether its end was in the tree of its run. */
  const wasDrawn = ({ rootCallId, endedAt }: CallView) => {
    const end = fold.view.calls.get(rootCallId)?.endedAt ?? null
    return drawn.has(rootCallId) && endedAt !== null && end !== null && endedAt <= end
  }
  const rows = (): Row[] => {
    const options = { columns: widthOf(terminal.output) - 1, now: Date.now() - aheadMs, frame }
    const lines = tasks().flatMap(({ callId }) => drawTree(fold.view, callId, options))
    return lines.map((line) => ({ text: paint(line), columns: lineWidth(line) }))
  }
  const tick = () => {
    frame += 1
    screen.draw(rows())
  }
  const stop = () => {
    clearInterval(timer)
    timer = undefined
  }
  const restore = () => screen.close()
  const leave = () => process.exit(interrupted)
  process.once('exit', restore)
  process.once('SIGINT', leave)
  const pause = () => {
    stop()
    screen.finish(rows())
    for (const { callId, endedAt } of tasks()) if (endedAt !== null) printed.add(callId)
  }
  return {
    take: (event) => {
      fold.take(event)
      aheadMs = Math.min(aheadMs, Date.now() - Date.parse(event.at))
      timer ??= setInterval(tick, frameMs)
    },
    pause,
    close: () => {
      pause()
      process.removeListener('exit', restore)
      process.removeListener('SIGINT', leave)
    },
  }
}
