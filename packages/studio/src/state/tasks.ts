/** The tasks of a conversation: calls that their caller does not wait for, in all runs. */
import type { CallView, ConversationView } from '@witan/client'

/** All of them, those at work first, then the latest first. */
export function tasksOf(view: ConversationView): CallView[] {
  const tasks = [...view.calls.values()].filter((call) => call.background)
  return tasks.sort((one, other) => rank(one) - rank(other) || other.startedAt.localeCompare(one.startedAt))
}

function rank({ endedAt }: CallView): number {
  return endedAt === null ? 0 : 1
}

/** The agents from below the root on, as tasks and handlers name them. */
export function pathBelowRoot({ agentPath }: CallView): string {
  return agentPath.split('/').slice(1).join('/')
}
