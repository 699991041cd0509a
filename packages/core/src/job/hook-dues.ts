/** What hooks are still to be asked of, in this process: what the log does not decide and what they have not allowed yet. */
import type { HookPoint } from '@witan/protocol/entries'
import { type AgentCall, answeredCall, type ToolCall } from '../conversation/state.ts'
import type { HookRow, HookRows } from '../hook/rows.ts'

/** The hooks of a job. */
export class HookDues {
  readonly rows: HookRows
  /** Calls that may go on, tool calls that may begin, interruptions that may stay open, and answers that may end their calls. */
  readonly #allowed = new WeakSet<object>()
  /** Tool calls that have been answered, and answers of agents, whose results may be read. */
  readonly #passed = new WeakSet<object>()

  constructor(rows: HookRows) {
    this.rows = rows
  }

  /** Whether a call may not go on yet: hooks are to be asked, or an agent lists some that this process may lack. */
  opens(call: AgentCall): boolean {
    const { agent } = call
    const isListing = agent.hooks !== undefined && agent.hooks.length > 0
    if (this.rows.isEmpty && !isListing) return false
    return !this.#allowed.has(call) && (isListing || this.rows.at('beforeRun', agent).length > 0)
  }

  /** Whether tool calls of the last reply may not begin yet. */
  admits(call: AgentCall): boolean {
    return !this.rows.isEmpty && call.toolCalls.some((one) => this.isToBegin(one))
  }

  /** Whether hooks are to be asked of a tool call that its model has asked for. */
  isToBegin(toolCall: ToolCall): boolean {
    const { state, passed, checked, owner, name } = toolCall
    if (state !== 'requested' || passed !== null || checked !== null || this.#allowed.has(toolCall)) return false
    return this.rows.at('beforeTool', owner.agent, name).length > 0
  }

  /** Whether hooks are to be told of what a tool call waits for. */
  asks({ state, interruptions, owner, name }: ToolCall): boolean {
    if (this.rows.isEmpty || state !== 'waiting' || interruptions.every((one) => this.#allowed.has(one))) return false
    return this.rows.at('onInterruption', owner.agent, name).length > 0
  }

  /** Whether hooks are to be asked of what a person or a client has answered. */
  settles(toolCall: ToolCall): boolean {
    if (this.rows.isEmpty || toolCall.checked?.result !== undefined || this.#passed.has(toolCall)) return false
    return this.rows.at('afterTool', toolCall.owner.agent, toolCall.name).length > 0
  }

  /** At which point hooks are to be asked of the answer of a call: as its end, and as the result that its caller reads. Null for none. */
  ends(call: AgentCall): 'afterRun' | 'afterTool' | null {
    const { final, agent } = call
    if (this.rows.isEmpty || final === null) return null
    if (final.isChecked !== true && !this.#allowed.has(final) && this.rows.at('afterRun', agent).length > 0)
      return 'afterRun'
    const { askedBy } = answeredCall(call)
    if (askedBy?.state !== 'child' || final.isPassed === true || this.#passed.has(final)) return null
    return this.rows.at('afterTool', askedBy.owner.agent, askedBy.name).length > 0 ? 'afterTool' : null
  }

  /** Notes what hooks have allowed. */
  allow(one: object): void {
    this.#allowed.add(one)
  }

  /** Notes a result that may be read. */
  pass(one: object): void {
    this.#passed.add(one)
  }
}

/** The hooks that are asked of a call at a point; none in a replay. */
export function hooksAt(
  { hooks }: { readonly hooks: HookDues | null },
  point: HookPoint,
  { agent, tool }: Pick<AgentCall, 'agent'> & { readonly tool?: string },
): HookRow {
  return hooks === null ? noRow : hooks.rows.at(point, agent, tool)
}

const noRow: HookRow = []
