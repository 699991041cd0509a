/** Events in, the run's tree out. Takes events in place and never draws. */
import type { Event } from '@witan/protocol'

/** What a node is doing. */
export type NodeState = 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled'

/** One call of an agent or a tool. Times are milliseconds of the server's clock. */
export interface TreeNode {
  readonly callId: string
  /** A call that is held for its approval is a tool until it starts, perhaps as an agent. */
  kind: 'agent' | 'tool'
  name: string
  readonly parent: TreeNode | null
  readonly children: TreeNode[]
  readonly startedAt: number
  endedAt: number | null
  state: NodeState
  /** What an agent was asked, or what a model gave a tool; `bound` are names whose values it never saw. */
  task: string
  arguments: unknown
  bound: readonly string[]
  /** What the agent says: so far, and whole at its end. */
  text: string
  result: unknown
  error: { readonly code: string; readonly detail: string } | null
  notices: string[]
  /** Its caller does not wait for it: it may live on when everything above it has ended. */
  background: boolean
  /** A run that nobody asked for. */
  hidden: boolean
  interruptionId: string | null
  attempt: number
  textEnded: boolean
  model: string | null
  modelCalls: number
  /** Tokens of its own model calls; `counted` is false where a provider did not say. */
  tokens: number
  counted: boolean
}

/** All runs that were seen, oldest first, and every call by its id. */
export interface Tree {
  readonly runs: TreeNode[]
  readonly nodes: Map<string, TreeNode>
  lastSeq: number
}

/** A tree in which nothing has happened. */
export function createTree(): Tree {
  return { runs: [], nodes: new Map(), lastSeq: 0 }
}

/** Takes one event in and gives the call that it changed, or null. A repeated event changes nothing. */
export function takeEvent(tree: Tree, event: Event): TreeNode | null {
  if (event.seq !== undefined) {
    if (event.seq <= tree.lastSeq) return null
    tree.lastSeq = event.seq
  }
  if (event.type === 'start') return onStart(tree, event)
  if (event.type.endsWith('_required')) return onRequired(tree, event)
  if (event.type === 'resolved') return onResolved(tree, event)
  const node = tree.nodes.get(event.callId)
  if (node === undefined) return null
  if (event.type === 'delta') onDelta(node, event)
  if (event.type === 'end') onEnd(node, event)
  if (event.type === 'error') onError(node, event)
  if (event.type === 'task') node.background = true
  if (event.type === 'notice') node.notices.push(`${textOf(event.content.code)}: ${textOf(event.content.detail)}`)
  return node
}

/** The tokens of a call and everything below it. */
export function tokensBelow(node: TreeNode): { readonly tokens: number; readonly counted: boolean } {
  let { tokens, counted } = node
  for (const child of node.children) {
    const below = tokensBelow(child)
    tokens += below.tokens
    counted &&= below.counted
  }
  return { tokens, counted }
}

/** The agent ids and the tool from below the root: how a handler names it. */
export function pathOf(node: TreeNode): string {
  return node.parent === null || node.parent.parent === null ? node.name : `${pathOf(node.parent)}/${node.name}`
}

function onStart(tree: Tree, event: Event): TreeNode | null {
  if (event.kind !== 'agent' && event.kind !== 'tool') return null
  const node = tree.nodes.get(event.callId) ?? addNode(tree, event, event.kind)
  if (node.kind !== event.kind) Object.assign(node, { kind: event.kind, name: nameOf(event, event.kind) })
  node.task = textOf(event.content.message)
  node.hidden = event.content.hidden === true
  node.arguments = event.content.arguments ?? null
  node.bound = Array.isArray(event.content.bound) ? event.content.bound.map(textOf) : []
  return node
}

function addNode(tree: Tree, event: Event, kind: 'agent' | 'tool'): TreeNode {
  const parent = event.parentCallId === null ? null : (tree.nodes.get(event.parentCallId) ?? null)
  const node: TreeNode = {
    callId: event.callId,
    kind,
    name: nameOf(event, kind),
    parent,
    children: [],
    startedAt: Date.parse(event.at),
    endedAt: null,
    state: 'running',
    task: '',
    arguments: null,
    bound: [],
    text: '',
    result: null,
    error: null,
    notices: [],
    background: false,
    hidden: false,
    interruptionId: null,
    attempt: 0,
    textEnded: false,
    model: null,
    modelCalls: 0,
    tokens: 0,
    counted: true,
  }
  tree.nodes.set(node.callId, node)
  if (parent === null) tree.runs.push(node)
  else parent.children.push(node)
  return node
}

function nameOf(event: Event, kind: TreeNode['kind']): string {
  if (kind === 'agent') return event.agentPath.split('/').at(-1) || event.author
  return textOf(event.content.name) || textOf(event.content.tool) || event.author
}

function onRequired(tree: Tree, event: Event): TreeNode {
  const callId = textOf(event.content.callId) || event.callId
  const node = tree.nodes.get(callId) ?? addNode(tree, { ...event, callId }, 'tool')
  node.state = 'waiting'
  node.interruptionId = textOf(event.content.id)
  node.arguments = event.content.arguments ?? node.arguments
  return node
}

function onResolved(tree: Tree, event: Event): TreeNode | null {
  const id = textOf(event.content.id)
  const node = [...tree.nodes.values()].find((each) => each.interruptionId === id)
  if (node === undefined) return null
  node.interruptionId = null
  if (node.state !== 'waiting') return node
  node.state = event.content.state === 'answered' ? 'running' : 'cancelled'
  return node
}

function onDelta(node: TreeNode, event: Event): void {
  const text = textOf(event.content.text)
  const attempt = Number(event.content.attempt ?? 0)
  if (attempt < node.attempt) return
  const anew = event.content.snapshot === true || node.textEnded || attempt > node.attempt
  node.text = anew ? text : node.text + text
  node.attempt = attempt
  node.textEnded = false
}

function onEnd(node: TreeNode, event: Event): void {
  const { content } = event
  if (event.kind === 'model') {
    onModelEnd(node, content)
    return
  }
  node.endedAt = Date.parse(event.at)
  node.interruptionId = null
  if (event.kind === 'tool') {
    node.result = content.result ?? null
    if (node.state !== 'cancelled') node.state = 'completed'
    return
  }
  node.state = content.finishReason === 'cancelled' ? 'cancelled' : 'completed'
  node.text = textOf(content.text)
  node.result = content.output ?? null
  if (node.state === 'cancelled') cancelBelow(node)
}

function onModelEnd(node: TreeNode, content: Event['content']): void {
  const usage = typeof content.usage === 'object' && content.usage !== null ? content.usage : {}
  const input = 'inputTokens' in usage ? usage.inputTokens : null
  const output = 'outputTokens' in usage ? usage.outputTokens : null
  node.textEnded = true
  node.modelCalls += 1
  node.model = textOf(content.model) || node.model
  if (typeof input === 'number' && typeof output === 'number') node.tokens += input + output
  else node.counted = false
}

function onError(node: TreeNode, event: Event): void {
  const error = { code: textOf(event.content.code) || 'INTERNAL', detail: textOf(event.content.detail) }
  if (event.kind === 'model') {
    node.notices.push(`${error.code}: ${error.detail}`)
    return
  }
  node.error = error
  node.state = error.code === 'RUN_CANCELLED' ? 'cancelled' : 'failed'
  node.endedAt = Date.parse(event.at)
  node.interruptionId = null
  if (node.kind === 'agent') cancelBelow(node)
}

/** A call that is over has nothing running or waiting below it but tasks. */
function cancelBelow(node: TreeNode): void {
  for (const child of node.children) {
    if (child.background) continue
    if (child.state === 'running' || child.state === 'waiting') child.state = 'cancelled'
    cancelBelow(child)
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
