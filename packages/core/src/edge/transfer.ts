/** The edge that hands control over: one tool for all targets, and a roster of them in the system message [K01, K13, Kb17]. */
import type { AgentData } from '@witan/protocol'
import { type AgentEdge, agentEdgesOf, takesControlFrom, transferTool } from '@witan/protocol/edges'
import type { TransferEdge } from '@witan/protocol/entries'
import { meantBy } from '../identity/display-name.ts'
import { type RosterEntry, rosterOf } from '../agent/roster.ts'
import { bindChild, type FindAgent } from '../tool/delegation.ts'
import { type Outcome, refusedTransfer } from '../tool/outcome.ts'
import type { Caller, ImmediateTool, ToolSource } from '../tool/tool.ts'

/** What the edge looks up: agents as the run keeps them, and whether one exists at all. */
interface TransferContext {
  readonly find: FindAgent
  exists(caller: Caller, id: string): boolean
}

type Terms = Pick<TransferEdge, 'map' | 'history' | 'returnsTo' | 'description'>

/** A target in reach: why it cannot be handed over to, or null if it can. */
interface Target {
  readonly id: string
  readonly found: AgentData | null
  readonly terms: Terms
  readonly obstacle: string | null
}

/** `transfer_to_agent`, for agents that hand over. Its enum and the roster are made from one list [Kb18]. */
export function transferTools(context: TransferContext): ToolSource {
  const made = new WeakMap<AgentData, Made>()
  return (caller) => {
    const { agent } = caller
    const { transfers, transferReach, disableTransfer } = agent
    if (transfers.length === 0 && transferReach === 'edges' && !disableTransfer) return []
    const targets = disableTransfer ? none : targetsOf(caller, context)
    const known = made.get(agent)
    if (known !== undefined && isSame(known.targets, targets)) return known.tools
    const tools = [toolOf(targets, context)]
    made.set(agent, { targets, tools })
    return tools
  }
}

/** The tool of an agent, and the targets that it was made from. */
interface Made {
  readonly targets: readonly Target[]
  readonly tools: readonly ImmediateTool[]
}

const none: readonly Target[] = []

function isSame(known: readonly Target[], now: readonly Target[]): boolean {
  return (
    known.length === now.length &&
    known.every(({ found, terms: of, obstacle }, index) => {
      const other = now[index]
      return found === other?.found && of === other.terms && obstacle === other.obstacle
    })
  )
}

const terms: Terms = { map: {}, history: 'all', returnsTo: null, description: '' }

/** The agents that a call may hand over to: those of its own edges, then, with reach `tree`, all others in reach [C10, K05]. */
function targetsOf(caller: Caller, context: TransferContext): readonly Target[] {
  const { agent } = caller
  const own = agent.transfers.flatMap((edge) => targetOf(edge.agent, edge, { caller, context }))
  if (agent.transferReach === 'edges') return own
  const known = new Set(agent.transfers.map((edge) => edge.agent))
  const others = treeOf(caller, context).filter((id) => !known.has(id))
  return [...own, ...others.flatMap((id) => targetOf(id, terms, { caller, context }))]
}

/** One target; nothing if the agent does not want to be one. */
function targetOf(
  id: string,
  of: Terms,
  { caller, context }: { readonly caller: Caller; readonly context: TransferContext },
): readonly Target[] {
  const found = context.find(caller, id)
  if (id === caller.agent.id || (found !== null && !takesControlFrom(found, caller.agent.id))) return []
  return [{ id, found, terms: of, obstacle: obstacleTo(id, found, { caller, map: of.map }) }]
}

/** Why nobody can hand over to an agent now: it is gone, or a value is missing that no model may supply to it [C16]. */
function obstacleTo(
  id: string,
  found: AgentData | null,
  { caller, map }: { readonly caller: Caller; readonly map: Terms['map'] },
): string | null {
  if (found === null) return `\`${id}\` was deleted or disabled.`
  const { missing, generate } = bindChild(caller, found, map)
  const [lacking] = [...missing, ...generate]
  if (lacking === undefined) return null
  return `\`${caller.agentPath}/${id}\` needs \`${lacking.name}\` from the caller; no model supplies it in a hand-over.`
}

/** Every agent below this one; at the root of a run also every agent that the run's root reaches, and the root [E37]. */
function treeOf(caller: Caller, context: TransferContext): readonly string[] {
  const found = new Set([caller.agent.id])
  walk(found, caller, context)
  const [root] = caller.lineage
  if (caller.depth === 0 && root !== undefined) {
    found.add(root.agent)
    walk(found, caller, context)
  }
  return [...found]
}

/** The edges to those that criticise or check: a conversation does not go to them. */
const judging: ReadonlySet<AgentEdge['kind']> = new Set<AgentEdge['kind']>(['reflection', 'guardrails'])

function walk(found: Set<string>, caller: Caller, { find }: TransferContext): void {
  for (const at of found) {
    const agent = at === caller.agent.id ? caller.agent : find(caller, at)
    for (const { kind, agent: id } of agent === null ? [] : agentEdgesOf(agent)) if (!judging.has(kind)) found.add(id)
  }
}

const description =
  'Transfer control to another agent by name: it goes on with this conversation in your place. Answer yourself if you are the best one to do so. When you transfer, call this tool and write no answer.'

function toolOf(targets: readonly Target[], context: TransferContext): ImmediateTool {
  const open = targets.filter(({ obstacle }) => obstacle === null)
  const closed = targets.flatMap(({ obstacle }) => obstacle ?? [])
  return {
    name: transferTool,
    kind: 'transfer',
    offer: open.length === 0 ? null : { name: transferTool, description, parameters: schemaOf(open) },
    systemLines: [`Agents you can hand over to with ${transferTool}:`, ...rosterOf(open.map(entryOf)).text.split('\n')],
    notice: closed.length === 0 ? null : `Not offered: ${closed.join(' ')}`,
    effect: 'none',
    misuse: 'TRANSFER_REFUSED',
    unlisted: ['agent_name'],
    bound: [],
    immediate: true,
    isLast: true,
    check: (args) => ({ ok: true, arguments: args }),
    invoke: ({ arguments: { agent_name: name } }, caller) => outcomeOf(name, { caller, targets, context }),
  }
}

function entryOf({ id, found, terms: of }: Target): RosterEntry {
  return { id, name: found?.name, description: of.description || (found?.description ?? '') }
}

function schemaOf(open: readonly Target[]) {
  const name = { type: 'string', enum: open.map(({ id }) => id), description: 'The agent that takes over.' }
  return Object.freeze({
    type: 'object',
    properties: { agent_name: name },
    required: ['agent_name'],
    additionalProperties: false,
  })
}

interface Reach {
  readonly caller: Caller
  readonly targets: readonly Target[]
  readonly context: TransferContext
}

function outcomeOf(name: unknown, reach: Reach): Outcome {
  const { caller, targets, context } = reach
  const { id, disableTransfer } = caller.agent
  const ignored = disableTransfer
    ? {
        notices: [
          {
            code: 'TRANSFER_IGNORED',
            detail: `\`${id}\` asked for a transfer, which its definition switches off.`,
          } as const,
        ],
      }
    : {}
  const refused = (why: string) => ({ ...refusedTransfer(why), ...ignored })
  const word = String(name ?? '')
  const written = word.slice(0, 64)
  const isOther = (one: string) =>
    one !== id && !targets.some((target) => target.id === one) && context.exists(caller, one)
  if (isOther(word)) return refused(`agent ${written} is not reachable from ${id}`)
  const meant = meantBy(
    word,
    [caller.agent, ...targets.map(({ id: own, found }) => ({ id: own, name: found?.name }))],
    namesOf,
  )
  const [only, second] = meant
  if (only === undefined) return refused(`unknown agent ${written}`)
  if (second !== undefined)
    return refused(`${written} may be ${meant.map((one) => one.id).join(' or ')}: write one of these ids`)
  if (only.id === id) return refused(`${id} is you`)
  const target = targets.find((one) => one.id === only.id) as Target
  const { terms: of } = target
  const isGone = target.obstacle !== null || context.find(caller, target.id) === null
  if (isGone) return refused(`${target.id} is not available`)
  return {
    kind: 'transfer',
    agent: target.id,
    map: of.map,
    handOver: { history: of.history, returns: of.returnsTo === 'caller' },
  }
}

function namesOf({ id, name }: { readonly id: string; readonly name?: string | undefined }): readonly string[] {
  return name === undefined ? [id] : [id, name]
}
