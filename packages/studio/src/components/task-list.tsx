/** What works in the background of a conversation, and what has: the list between the chat and the place to write. */
import { useState } from 'react'
import { count, elapsedMs, formatElapsed } from '../state/format.ts'
import type { CallState, CallView, ConversationView } from '@witan/client'
import { pathBelowRoot, tasksOf } from '../state/tasks.ts'
import { callSummary } from '../state/tree.ts'
import { useNow } from '../state/use-now.ts'
import { Button } from './button.tsx'
import { StateMark } from './state-mark.tsx'
import { TaskControls } from './task-controls.tsx'

interface ListProps {
  readonly view: ConversationView
  readonly onShow: (task: CallView) => void
}

/** Renders nothing if the conversation has no tasks. Ended ones are folded away. */
export function TaskList({ view, onShow }: ListProps) {
  const [opened, setOpened] = useState<string | null>(null)
  const tasks = tasksOf(view)
  const live = tasks.filter(({ endedAt }) => endedAt === null)
  const ended = tasks.filter(({ endedAt }) => endedAt !== null)
  const now = useNow(live.length > 0, 1000)
  if (tasks.length === 0) return null
  const row = (task: CallView) => (
    <TaskRow
      key={task.callId}
      task={task}
      state={callSummary(view, task.callId).state}
      now={now}
      opened={opened === task.callId}
      stopping={view.cancelling.has(task.callId)}
      onOpen={() => setOpened(opened === task.callId ? null : task.callId)}
      onShow={() => onShow(task)}
    />
  )
  return (
    <section
      aria-label="In the background"
      data-testid="tasks"
      className="max-h-[40vh] overflow-y-auto border-t border-line bg-panel"
    >
      <div className="mx-auto max-w-3xl px-4 py-2 md:px-6">
        {live.length > 0 && (
          <>
            <h2 className="text-xs font-semibold text-muted">{count(live.length, 'task')} at work in the background</h2>
            <ul>{live.map(row)}</ul>
          </>
        )}
        {ended.length > 0 && (
          <details>
            <summary className="cursor-default py-1 text-xs text-muted hover:text-ink">
              {count(ended.length, 'task')} ended
            </summary>
            <ul>{ended.map(row)}</ul>
          </details>
        )}
      </div>
    </section>
  )
}

interface RowProps {
  readonly task: CallView
  readonly state: CallState
  readonly now: number
  readonly opened: boolean
  readonly stopping: boolean
  readonly onOpen: () => void
  readonly onShow: () => void
}

function TaskRow({ task, state, now, opened, stopping, onOpen, onShow }: RowProps) {
  const live = task.endedAt === null
  return (
    <li data-task={task.callId} data-state={state} className="py-1">
      <div className="flex items-center gap-2">
        <StateMark state={state} />
        <button type="button" onClick={onShow} className="min-w-0 flex-1 text-left hover:underline">
          <span className="flex items-baseline gap-2">
            <span className="shrink-0 font-medium">{pathBelowRoot(task)}</span>
            <span className="min-w-0 truncate text-xs text-muted">{task.task}</span>
          </span>
        </button>
        <span className="shrink-0 text-xs text-muted tabular-nums">
          {formatElapsed(elapsedMs(task.startedAt, task.endedAt, now))}
        </span>
        {live && (
          <Button look="quiet" aria-expanded={opened} aria-label={`Steer ${task.name}`} onClick={onOpen}>
            {opened ? 'Close' : 'Steer'}
          </Button>
        )}
      </div>
      {live && opened && <TaskControls taskId={task.callId} stopping={stopping} />}
    </li>
  )
}
