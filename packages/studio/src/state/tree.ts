/** The rows of a run's tree as they are drawn: depth, shown state, what each waits for, sums over children, and model calls between them. */
import type { CallState, CallView, ConversationView, Tokens } from '@witan/client'
import type { ModelCallLine } from '@witan/protocol/schemas'
import { modelRowId, unreadRowId } from './model-calls.ts'

/** One drawn row. `state` is what a reader should see: an agent whose children all wait is itself waiting. */
export interface TreeRow {
  /** The call's id; of a model call an id of its own. */
  readonly id: string
  /** The call; of a model call the one of its agent. */
  readonly call: CallView
  readonly model: ModelCallLine | null
  /** Set for a model call that is not read yet: its number in the agent's call. */
  readonly unread: number | null
  /** How many rows stand below it when it is not folded. */
  readonly below: number
  readonly level: number
  readonly position: number
  readonly siblings: number
  readonly state: CallState
  readonly waitsFor: readonly string[]
  /** The agent that has control in its place while it works; null if it has not handed over. */
  readonly handedTo: string | null
  readonly tokens: Tokens
  readonly expanded: boolean
}

interface Summary {
  readonly state: CallState
  readonly waitsFor: readonly string[]
  readonly handedTo: string | null
  readonly tokens: Tokens
}

/** What a tree shows beside the calls. */
interface Shown {
  readonly collapsed: ReadonlySet<string>
  /** By the id of the agent's call, in their order. */
  readonly models?: ReadonlyMap<string, readonly ModelCallLine[]>
  /** Whether more model calls are on the server: each has a row already. Default: false. */
  readonly isPart?: boolean
}

type Place = Pick<TreeRow, 'level' | 'position' | 'siblings'>

/** All rows of the tree below a root call, folded-in ones left out. */
export function treeRows(view: ConversationView, rootCallId: string, shown: Shown): TreeRow[] {
  const { collapsed, models, isPart = false } = shown
  const summaries = new Map<string, Summary>()
  summarise(view, rootCallId, summaries)
  const rows: TreeRow[] = []
  const visit = (callId: string, { level: own, position, siblings: all }: Place) => {
    const at = { level: own, position, siblings: all }
    const call = view.calls.get(callId)
    const summary = summaries.get(callId)
    if (call === undefined || summary === undefined) return
    const expanded = !collapsed.has(callId)
    const known = models?.get(callId) ?? []
    const children = inOrder(view, call, known)
    const unread = isPart ? Math.max(0, call.modelCalls - known.length) : 0
    const siblings = children.length + unread
    rows.push({ id: callId, call, model: null, unread: null, below: siblings, ...at, ...summary, expanded })
    if (!expanded) return
    const level = at.level + 1
    for (const [index, child] of children.entries()) {
      const place = { level, position: index + 1, siblings, unread: null }
      if (typeof child === 'string') visit(child, place)
      else rows.push({ ...modelSummary(child), id: modelRowId(child), call, model: child, below: 0, ...place })
    }
    for (let index = 0; index < unread; index += 1) {
      const number = known.length + index + 1
      const place = { level, position: children.length + index + 1, siblings, below: 0 }
      rows.push({ ...unreadSummary, id: unreadRowId(callId, number), call, model: null, unread: number, ...place })
    }
  }
  visit(rootCallId, { level: 1, position: 1, siblings: 1 })
  return rows
}

/** The row of one call by itself; null if the run does not have it. */
export function rowOf(view: ConversationView, rootCallId: string, callId: string | null): TreeRow | null {
  const call = view.calls.get(callId ?? '')
  if (call === undefined || (call.rootCallId !== rootCallId && call.callId !== rootCallId)) return null
  const at = { id: call.callId, below: call.children.length, level: 1, position: 1, siblings: 1 }
  return { call, model: null, unread: null, ...at, expanded: true, ...callSummary(view, call.callId) }
}

/** The children of a call and its model calls, by when they began; a model call stands before what it began. */
function inOrder(view: ConversationView, { children }: CallView, models: readonly ModelCallLine[]) {
  if (models.length === 0) return children
  const all: (string | ModelCallLine)[] = []
  let next = 0
  for (const child of children) {
    const at = Date.parse(view.calls.get(child)?.startedAt ?? '')
    for (let model = models[next]; model !== undefined; model = models[next]) {
      if (model.startedAt === null || Date.parse(model.startedAt) > at) break
      all.push(model)
      next += 1
    }
    all.push(child)
  }
  return [...all, ...models.slice(next)]
}

const unreadSummary: Summary & Pick<TreeRow, 'expanded'> = {
  ...{ state: 'completed', waitsFor: [], handedTo: null, expanded: true },
  tokens: { input: 0, output: 0, complete: true },
}

function modelSummary({ status, usage }: ModelCallLine): Summary & Pick<TreeRow, 'expanded'> {
  const tokens = { input: usage?.inputTokens ?? 0, output: usage?.outputTokens ?? 0, complete: usage !== null }
  return { state: status, waitsFor: [], handedTo: null, tokens, expanded: true }
}

/** The state of a run, derived from its calls. */
export function runSummary(view: ConversationView, rootCallId: string): Summary {
  return callSummary(view, rootCallId)
}

/** What one call with everything below it looks like. */
export function callSummary(view: ConversationView, callId: string): Summary {
  return summarise(view, callId, new Map())
}

/** The words of a call, for a search in its run: what it is, what it was told, and what came of it. */
export function callWords({ name, task, text, error, arguments: given }: CallView): string {
  const said = given === null || given === undefined ? '' : JSON.stringify(given)
  return [name, task, text, said, error?.code ?? '', error?.detail ?? ''].join('\n')
}

/** What took part in a run: different agents, their calls, and calls of tools. */
interface CallCounts {
  readonly agents: number
  readonly agentCalls: number
  readonly toolCalls: number
}

/** Counts the calls of a run. */
export function countCalls(view: ConversationView, rootCallId: string): CallCounts {
  const agents = new Set<string>()
  let [agentCalls, toolCalls] = [0, 0]
  const pending = [rootCallId]
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    const call = view.calls.get(id)
    if (call === undefined) continue
    if (call.kind === 'agent') {
      agents.add(call.name)
      agentCalls += 1
    } else toolCalls += 1
    for (const child of call.children) pending.push(child)
  }
  return { agents: agents.size, agentCalls, toolCalls }
}

/** The calls from the root down to this one. */
export function callPath(view: ConversationView, callId: string): CallView[] {
  const path: CallView[] = []
  for (let call = view.calls.get(callId); call !== undefined; call = view.calls.get(call.parentCallId ?? '')) {
    path.unshift(call)
  }
  return path
}

const nothing: Summary = {
  state: 'cancelled',
  waitsFor: [],
  handedTo: null,
  tokens: { input: 0, output: 0, complete: true },
}

function summarise(view: ConversationView, callId: string, into: Map<string, Summary>): Summary {
  const call = view.calls.get(callId)
  if (call === undefined) return nothing
  const children = call.children.map((child) => {
    const { name = child, background = false, handedFrom = null } = view.calls.get(child) ?? {}
    return { name, waitedFor: !background, isTarget: handedFrom === callId, ...summarise(view, child, into) }
  })
  const tokens = children.reduce((sum, child) => addTokens(sum, child.tokens), call.tokens)
  const active = children.filter(({ waitedFor, state }) => waitedFor && (state === 'running' || state === 'waiting'))
  const over = call.endedAt !== null || call.state !== 'running'
  const parked = active.length > 0 && active.every((child) => child.state === 'waiting')
  const summary: Summary = {
    state: !over && parked ? 'waiting' : call.state,
    waitsFor: over ? [] : active.filter((child) => !child.isTarget).map((child) => child.name),
    handedTo: over ? null : (active.findLast((child) => child.isTarget)?.name ?? null),
    tokens,
  }
  into.set(callId, summary)
  return summary
}

function addTokens(one: Tokens, other: Tokens): Tokens {
  return { input: one.input + other.input, output: one.output + other.output, complete: one.complete && other.complete }
}
