/** The call tree of a run, from its entries. */
import type { CallNode, UsageCounters } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import { addModelCall, emptyCounters } from '@witan/protocol/entries'

type Node = { -readonly [Field in keyof CallNode]: CallNode[Field] } & { children: CallNode[]; usage: UsageCounters }

/** Builds the tree of the run whose root call is `run`. Null where its start is not among the entries. */
export async function callTree(entries: AsyncIterable<Entry>, run: string): Promise<CallNode | null> {
  const nodes = new Map<string, Node>()
  for await (const entry of entries) if (entry.place.run === run) take(nodes, entry)
  return nodes.get(run) ?? null
}

function take(nodes: Map<string, Node>, entry: Entry): void {
  const { place } = entry
  const node = nodes.get(place.call)
  const at = new Date(entry.at).toISOString()
  if (entry.type === 'start') {
    const made = newNode(entry, at)
    nodes.set(place.call, made)
    nodes.get(place.parentCall ?? '')?.children.push(made)
    if (entry.kind === 'tool') countTool(nodes.get(place.parentCall ?? ''))
  } else if (node === undefined) {
    return
  } else if (entry.type === 'end' && entry.kind === 'model') {
    addModelCall(node.usage, entry.body.usage)
  } else if (entry.type === 'end' || entry.type === 'error') {
    const cancelled =
      entry.type === 'end'
        ? entry.kind === 'agent' && entry.body.finishReason === 'cancelled'
        : entry.body.code === 'RUN_CANCELLED'
    node.status = cancelled ? 'cancelled' : entry.type === 'end' ? 'completed' : 'failed'
    node.endedAt = at
  } else if (entry.type === 'action_required') node.status = 'waiting'
  else if (entry.type === 'resolved') node.status = 'running'
}

function newNode(entry: Entry & { type: 'start' }, startedAt: string): Node {
  const { place } = entry
  const name = entry.kind === 'agent' ? entry.body.agent : entry.body.name
  return {
    callId: place.call,
    kind: entry.kind,
    name,
    document: place.document,
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
