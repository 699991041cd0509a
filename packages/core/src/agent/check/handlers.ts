/** The paths for which a client must register handlers: one for each action on each way to its agent [R26, R27]. */
import type { AgentData } from '@witan/protocol'
import { takesControlFrom } from '@witan/protocol/edges'
import { type AgentPath, type AgentSet, pathsFrom, positionOf, reachable } from './graph.ts'
import type { Pausable } from '../../identity/pausable.ts'

/** Adds the handler paths below one root until there are `most` of them. */
export function* addHandlers(
  paths: readonly AgentPath[],
  handlers: Set<string>,
  { agents, most }: { readonly agents: AgentSet; readonly most: number },
): Pausable<void> {
  for (const at of paths) {
    yield
    if (handlers.size >= most) return
    addActions(at.agent, at.path, handlers)
    if (at.agent.transferReach === 'tree') yield* addTargets(at, handlers, agents)
  }
}

function addActions(agent: AgentData, path: string, handlers: Set<string>): void {
  for (const { name } of agent.actions) handlers.add([...path.split('/').slice(1), name].join('/'))
}

/** Adds the actions that hand-overs with reach `tree` lead to: those of all agents below, and at the root's position all agents of the root's tree. */
function* addTargets(at: AgentPath, handlers: Set<string>, agents: AgentSet): Pausable<void> {
  const position = positionOf(at)
  const inReach = reachable(position.parent === null ? position.agent : at.agent, agents)
  for (const target of inReach) {
    const { id } = at.agent
    if (target.id === id || !takesControlFrom(target, id)) continue
    if (!reachable(target, agents).some(({ actions }) => actions.length > 0)) continue
    for (const { path, agent } of yield* pathsFrom(target, agents, { most: mostBelow }))
      addActions(agent, `${position.path}/${path}`, handlers)
  }
}

/** The most paths that are followed below one target. */
const mostBelow = 200
