/** Which hooks are asked, by point, agent and tool. */
import { WitanError } from '@witan/protocol'
import { type GuardrailAction, type HookPoint, hookPoints } from '@witan/protocol/entries'
import { functionAt, type Hooks } from './define-hooks.ts'

/** One hook of a row. */
export interface HookOfRow {
  readonly hooks: Pick<Hooks, 'name' | 'timeoutMs' | 'onError'>
  readonly ask: (seen: object) => unknown
  /** What a guardrail does, which is asked as a hook is; absent for a hook. */
  readonly action?: GuardrailAction
  /** The agent whose guardrail it is. */
  readonly of?: string
}

/** The hooks that are asked one after the other. */
export type HookRow = readonly HookOfRow[]

/** An agent, and the hooks without which it may not run. Those of earlier versions list none. */
interface Hooked {
  readonly id: string
  readonly hooks?: readonly string[]
}

const nobody: HookRow = []
const ofTools: ReadonlySet<HookPoint> = new Set<HookPoint>(['beforeTool', 'afterTool', 'onInterruption'])

/** The hooks of a process. */
export class HookRows {
  readonly #all: readonly Hooks[]
  /** By agent, point and tool. */
  readonly #rows = new WeakMap<Hooked, Partial<Record<HookPoint, Map<string, HookRow>>>>()
  readonly #points: ReadonlySet<HookPoint>

  /** Throws `CONFIG_INVALID` for two of one name. */
  constructor(all: readonly Hooks[]) {
    const names = all.map(({ name }) => name)
    const twice = names.find((name, at) => names.indexOf(name) !== at)
    if (twice !== undefined) {
      const hint = 'Give each a name of its own: agents list hooks by their names.'
      throw new WitanError('CONFIG_INVALID', `Two hooks have the name \`${twice}\`.`, { path: 'hooks', hint })
    }
    this.#all = all
    this.#points = new Set(hookPoints.filter((point) => all.some((one) => functionAt(one, point) !== null)))
  }

  /** Whether there is none at all. */
  get isEmpty(): boolean {
    return this.#all.length === 0
  }

  /** The name of a hook that an agent lists and this process lacks; null for none. */
  missing({ hooks = [] }: Hooked): string | null {
    return hooks.find((name) => !this.#all.some((one) => one.name === name)) ?? null
  }

  /** Those that are asked at a point of an agent's call, in their order: behind something in the reverse one. */
  at(point: HookPoint, agent: Hooked, tool = ''): HookRow {
    if (!this.#points.has(point)) return nobody
    const rows = this.#rowsOf(agent, point)
    const known = rows.get(tool)
    if (known !== undefined) return known
    const row = this.#all.flatMap((hooks) => {
      const ask = functionAt(hooks, point)
      return ask !== null && isFor(hooks, point, { agent, tool }) ? [{ hooks, ask }] : []
    })
    if (point.startsWith('after')) row.reverse()
    if (rows.size >= mostTools) rows.clear()
    rows.set(tool, row)
    return row
  }

  /** Those that are asked of any of these agents, each once. */
  atAny(point: HookPoint, agents: readonly Hooked[]): HookRow {
    const [first, ...more] = agents
    const row = first === undefined ? nobody : this.at(point, first)
    if (more.length === 0) return row
    const any = new Set(agents.flatMap((agent) => this.at(point, agent).map(({ hooks }) => hooks)))
    const all = this.#all.flatMap((hooks) => {
      const ask = any.has(hooks) ? functionAt(hooks, point) : null
      return ask === null ? [] : [{ hooks, ask }]
    })
    return point.startsWith('after') ? all.reverse() : all
  }

  #rowsOf(agent: Hooked, point: HookPoint): Map<string, HookRow> {
    const byPoint = this.#rows.get(agent) ?? {}
    this.#rows.set(agent, byPoint)
    const rows = byPoint[point] ?? new Map<string, HookRow>()
    byPoint[point] = rows
    return rows
  }
}

/** Models may name any tool: the rows that are kept have a bound. */
const mostTools = 1_000

function isFor(
  { name, agents, tools }: Hooks,
  point: HookPoint,
  { agent, tool }: { readonly agent: Hooked; readonly tool: string },
): boolean {
  if (ofTools.has(point) && tools !== undefined && !tools.includes(tool)) return false
  return agents === undefined || agents.includes(agent.id) || agent.hooks?.includes(name) === true
}
