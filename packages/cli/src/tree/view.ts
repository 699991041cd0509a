/** A run on the terminal: redrawn in place where that is possible, else finished lines. */
import { createConversationFold } from '@witan/client'
import type { Event } from '@witan/protocol'
import type { Terminal } from '../terminal.ts'
import { canRedraw, painter, print, widthOf } from '../terminal.ts'
import { drawTree, lineWidth } from './lines.ts'
import { plainLines } from './plain.ts'
import { reasonedWords } from './reasoned.ts'
import type { Row } from './screen.ts'
import { createScreen } from './screen.ts'

/** Shows one run. Events may come from several streams; repeated ones change nothing. */
export interface RunView {
  take(event: Event): void
  /** Draws what there is and stands still, so that somebody can be asked below the tree. */
  pause(): void
  /** Notes the columns of lines written below the paused tree. They are removed when it is drawn again. */
  wrote(columns: readonly number[]): void
  /** The last drawing. */
  finish(): void
}

const frameMs = 80

/** How much of what a model reasons is drawn while the tree grows, in characters: a frame must not take long. */
const growing = 600

/** Makes the view that fits the terminal. `reasoning`: the words that models reason are shown, not only how long it took. */
export function createRunView(terminal: Terminal, reasoning = false): RunView {
  return canRedraw(terminal) ? liveView(terminal, reasoning) : logView(terminal, reasoning)
}

function logView(terminal: Terminal, reasoning: boolean): RunView {
  const fold = createConversationFold()
  return {
    take: (event) => {
      for (const line of plainLines(fold, event, { reasoning })) print(terminal, line)
    },
    pause: () => {},
    wrote: () => {},
    finish: () => {},
  }
}

function liveView(terminal: Terminal, reasoning: boolean): RunView {
  const fold = createConversationFold()
  const screen = createScreen(terminal.output)
  const paint = painter(terminal)
  let timer: NodeJS.Timeout | undefined
  let frame = 0
  let dirty = false
  /** How far this clock is ahead of the server's. */
  let aheadMs = 0

  const rows = (most = growing): Row[] => {
    const words = (text: string, columns: number) => reasonedWords(text, { columns, most })
    const options = {
      columns: widthOf(terminal.output) - 1,
      now: Date.now() - aheadMs,
      frame,
      ...(reasoning ? { words } : {}),
    }
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
      screen.finish(rows(Number.POSITIVE_INFINITY))
      process.removeListener('exit', restore)
    },
  }
}
