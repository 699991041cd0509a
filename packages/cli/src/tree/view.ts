/** A run on the terminal: redrawn in place where that is possible, else finished lines. */
import { createConversationFold } from '@witan/client'
import type { Event } from '@witan/protocol'
import type { Terminal } from '../terminal.ts'
import { canRedraw, painter, print } from '../terminal.ts'
import { drawTree, lineWidth } from './lines.ts'
import { plainLines } from './plain.ts'
import type { Row } from './screen.ts'
import { createScreen } from './screen.ts'

/** Shows one run. Events may come from several streams; repeated ones change nothing. */
export interface RunView {
  take(event: Event): void
  /** Draws what there is and stands still, so that somebody can be asked below the tree. */
  pause(): void
  /** So many columns a line were written below the paused tree; they go when it is drawn again. */
  wrote(columns: readonly number[]): void
  /** The last drawing. */
  finish(): void
}

const frameMs = 80

/** Makes the view that fits the terminal. */
export function createRunView(terminal: Terminal): RunView {
  return canRedraw(terminal) ? liveView(terminal) : logView(terminal)
}

function logView(terminal: Terminal): RunView {
  const fold = createConversationFold()
  const paint = painter(terminal)
  return {
    take: (event) => {
      for (const line of plainLines(fold, event)) print(terminal.output, paint(line))
    },
    pause: () => {},
    wrote: () => {},
    finish: () => {},
  }
}

function liveView(terminal: Terminal): RunView {
  const fold = createConversationFold()
  const screen = createScreen(terminal.output)
  const paint = painter(terminal)
  let timer: NodeJS.Timeout | undefined
  let frame = 0
  let dirty = false
  /** How far this clock is ahead of the server's. */
  let aheadMs = 0

  const rows = (): Row[] => {
    const options = { columns: (terminal.output.columns ?? 80) - 1, now: Date.now() - aheadMs, frame }
    const lines = fold.view.runs.flatMap((runId) => drawTree(fold.view, runId, options))
    return lines.map((line) => ({ text: paint(line), columns: lineWidth(line) }))
  }
  const tick = () => {
    frame += 1
    if (dirty || fold.view.runs.some(isMoving)) screen.draw(rows())
    dirty = false
  }
  const isMoving = (runId: string) => fold.view.calls.get(runId)?.state === 'running'
  const stop = () => {
    clearInterval(timer)
    timer = undefined
  }
  const restore = () => screen.close()
  process.once('exit', restore)
  return {
    take: (event) => {
      if (fold.view.lastSeq === 0) aheadMs = Date.now() - Date.parse(event.at)
      fold.take(event)
      dirty = true
      timer ??= setInterval(tick, frameMs)
    },
    pause: () => {
      stop()
      screen.draw(rows())
      screen.close()
    },
    wrote: (columns) => screen.wrote(columns),
    finish: () => {
      stop()
      screen.finish(rows())
      process.removeListener('exit', restore)
    },
  }
}
