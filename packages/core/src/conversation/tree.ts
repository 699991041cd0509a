/** Builds the call tree of a run from its entries. */
import type { CallNode, UsageCounters } from '@witan/protocol'
import type { CallPlace, Entry } from '@witan/protocol/entries'
import {
  addEmbeddings,
  addModelCall,
  addSpentElsewhere,
  callerOf,
  embeddingsIn,
  emptyCounters,
} from '@witan/protocol/entries'
import { addCall, revised } from '@witan/protocol/plan'
import { frozen } from '../identity/frozen.ts'
import { isOfStep } from './plan.ts'
import { isRequired, type RequiredEntry } from './fold-interruptions.ts'

type Node = { -readonly [Field in keyof CallNode]: CallNode[Field] } & { children: Node[]; usage: UsageCounters }

/** The call tree of a run, and its number of tool rounds: replies that call tools the model was offered [C4]. */
interface RunTree {
  readonly root: CallNode
  readonly toolRounds: number
}

/** Builds the tree of the run whose root call is `run`. Null if its start is not among the entries. */
export async function callTree(entries: AsyncIterable<Entry>, run: string): Promise<RunTree | null> {
  const nodes = new Map<string, Node>()
  const open = new Map<string, number>()
  const planned: Planned = { sizes: new Map(), root: run, sum: 0 }
  let toolRounds = 0
  for await (const entry of entries) {
    if (entry.place.run !== run) continue
    applyEntry(nodes, entry, open)
    applyEmbeddings(nodes, entry)
    applyPlan(nodes, entry, planned)
    if (isToolRound(entry)) toolRounds += 1
  }
  const root = nodes.get(run)
  return root === undefined ? null : { root, toolRounds }
}

/** How many characters of plans a tree holds. Beyond it the calls that planned first have none any more, except the root. */
const mostPlanned = 4_000_000

/** The calls of a tree that have a plan, in the order in which they got one. */
interface Planned {
  readonly sizes: Map<Node, number>
  readonly root: string
  sum: number
}

/** A call has what was left of its agent's plan as it began, and what it makes of it. */
function applyPlan(nodes: ReadonlyMap<string, Node>, entry: Entry, planned: Planned): void {
  const { place } = entry
  const caller = nodes.get(place.parentCall ?? '')
  if (entry.type === 'plan' && caller !== undefined) {
    caller.plan = revised(caller.plan, entry.body)
    keepWithin(planned, caller)
  }
  if (entry.type !== 'start') return
  if (isOfStep(entry)) addCall(caller?.plan, place.call)
  const node = nodes.get(place.call)
  if (node !== undefined && node.plan !== null) keepWithin(planned, node)
}

function keepWithin(planned: Planned, node: Node): void {
  const { sizes } = planned
  const size = sizeOf(node.plan)
  planned.sum += size - (sizes.get(node) ?? 0)
  sizes.set(node, size)
  for (const [other, given] of sizes) {
    if (planned.sum <= mostPlanned) return
    if (other === node || other.callId === planned.root) continue
    other.plan = null
    planned.sum -= given
    sizes.delete(other)
  }
}

function sizeOf(plan: Node['plan']): number {
  return plan?.steps.reduce((sum, { id, title, note }) => sum + id.length + title.length + (note?.length ?? 0), 0) ?? 0
}

function isToolRound(entry: Entry): boolean {
  return entry.type === 'end' && entry.kind === 'model' && entry.body.offered && entry.body.toolCalls.length > 0
}

/** `open` counts what each call waits for. */
function applyEntry(nodes: Map<string, Node>, entry: Entry, open: Map<string, number>): void {
  const { place } = entry
  const node = nodes.get(place.call)
  const at = new Date(entry.at).toISOString()
  if (entry.type === 'start') {
    if (node === undefined) add(nodes, entry, newNode(entry, at))
    else Object.assign(node, newNode(entry, node.startedAt))
    if (entry.kind === 'tool') countTool(nodes.get(place.parentCall ?? ''))
  } else if (node === undefined) {
    if (isRequired(entry)) {
      add(nodes, entry, heldNode(entry, at))
      open.set(place.call, 1)
    }
  } else if (entry.type === 'end' && entry.kind === 'model') {
    addModelCall(node.usage, entry.body.usage)
  } else if (entry.type === 'checkpoint') {
    addSpentElsewhere(node.usage, entry.body)
  } else if (entry.type === 'notice') {
    if (entry.body.code === 'USAGE_INCOMPLETE') node.usage.complete = false
  } else if ((entry.type === 'end' || entry.type === 'error') && entry.kind !== 'model') {
    const cancelled =
      entry.type === 'end'
        ? entry.kind === 'agent' && entry.body.finishReason === 'cancelled'
        : entry.body.code === 'RUN_CANCELLED'
    node.status = cancelled ? 'cancelled' : entry.type === 'end' ? 'completed' : 'failed'
    node.endedAt = at
    if (entry.kind === 'agent') for (const child of node.children) endHeld(child, at)
  } else if (isRequired(entry) || entry.type === 'resolved') {
    const count = (open.get(place.call) ?? 0) + (entry.type === 'resolved' ? -1 : 1)
    open.set(place.call, count)
    const isOver = count === 0 && entry.type === 'resolved' && entry.body.state === 'cancelled'
    node.status = count > 0 ? 'waiting' : isOver ? 'cancelled' : 'running'
    // A call that an approval held has no other end than this.
    if (isOver) node.endedAt = at
  }
}

/** What a search of an agent used counts for the agent, as its tools do. */
function applyEmbeddings(nodes: ReadonlyMap<string, Node>, entry: Entry): void {
  const { call, parentCall } = entry.place
  const searcher = nodes.get((entry.kind === 'tool' ? parentCall : call) ?? '')
  if (searcher !== undefined) addEmbeddings(searcher.usage, embeddingsIn(entry))
}

/** A call that was approved behind the cancel of its run never began. */
function endHeld(child: Node, at: string): void {
  if (child.kind === 'tool' && child.endedAt === null) Object.assign(child, { status: 'cancelled', endedAt: at })
}

function add(nodes: Map<string, Node>, { place }: Entry, node: Node): void {
  nodes.set(place.call, node)
  nodes.get(place.parentCall ?? '')?.children.push(node)
}

/** The node of a held call, which is in the tree since its approval was requested. */
function heldNode({ place, body }: RequiredEntry, askedAt: string): Node {
  const name = body.path.split('/').at(-1) ?? ''
  return { ...nodeAt(place, askedAt), kind: 'tool', name, status: 'waiting' }
}

function newNode(entry: Entry & { type: 'start' }, startedAt: string): Node {
  const { place } = entry
  const node = nodeAt(place, startedAt)
  if (entry.kind === 'tool') return { ...node, kind: 'tool', name: entry.body.name }
  const { agent, handedFrom = null, step = null, remote, plan } = entry.body
  const kind = remote === undefined ? 'agent' : 'remote'
  const caller = callerOf(entry.body)
  const known = { ...node, kind, name: agent, handedFrom, step: frozen(step) } as const
  const planned = plan === undefined ? known : { ...known, plan: revised(null, plan) }
  return caller === null ? planned : { ...planned, caller }
}

function nodeAt(place: CallPlace, startedAt: string): Omit<Node, 'kind' | 'name'> {
  return {
    callId: place.call,
    agent: place.author,
    handedFrom: null,
    step: null,
    document: place.document,
    plan: null,
    status: 'running',
    startedAt,
    endedAt: null,
    usage: emptyCounters(),
    children: [],
  }
}

function countTool(parent: Node | undefined): void {
  if (parent !== undefined) parent.usage.toolCalls += 1
}
