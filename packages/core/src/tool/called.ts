/** Which tool a model means that writes another name than the tool's own, such as an agent's display name [T05]. */
import { spelling } from '../identity/display-name.ts'
import type { ModelToolCall } from '../model/message.ts'
import type { Called, Tool, Toolset } from './tool.ts'

/** A tool that a word may mean, and how the word stands for it. */
export interface MeantTool extends Called {
  readonly tool: Tool
}

const indexes = new WeakMap<Toolset, ReadonlyMap<string, readonly MeantTool[]>>()

/** The tools of a set by the other names that they have, however those are spelled. Made at the first name that no tool has. */
function indexOf(toolset: Toolset): ReadonlyMap<string, readonly MeantTool[]> {
  const known = indexes.get(toolset)
  if (known !== undefined) return known
  const made = new Map<string, MeantTool[]>()
  for (const tool of toolset.values())
    for (const one of tool.called ?? [])
      for (const name of new Set(one.names.map(spelling))) {
        const same = made.get(name) ?? []
        made.set(name, same)
        same.push({ tool, ...one })
      }
  indexes.set(toolset, made)
  return made
}

/**
 * The tools that a word may mean: the one of exactly that name, else all that reach an agent of that name. The call is to run only if
 * there is one.
 */
export function toolsMeant(word: string, toolset: Toolset): readonly MeantTool[] {
  const exact = toolset.get(word)
  if (exact !== undefined) return [{ tool: exact, names: [word] }]
  const wanted = spelling(word)
  return (wanted === '' ? undefined : indexOf(toolset).get(wanted)) ?? []
}

/** The arguments of a call of this tool, as JSON: those that the model wrote, or those that its name for the tool stands for. */
export function argumentsFor(tool: Tool, { name, arguments: written }: Omit<ModelToolCall, 'id'>): string {
  if (name === tool.name) return written
  const meant = tool.called?.find(({ names }) => names.some((one) => spelling(one) === spelling(name)))
  return meant?.arguments === undefined ? written : JSON.stringify(meant.arguments)
}

/** How to call it by its own name, for a model. */
export function properCall({ tool, arguments: fixed }: MeantTool): string {
  return fixed === undefined ? tool.name : `${tool.name} with ${JSON.stringify(fixed)}`
}
