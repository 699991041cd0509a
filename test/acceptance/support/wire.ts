/** The JSON of the public contract as an outside client reads it: only the fields that the acceptance tests look at. */

export interface Problem {
  type: string
  code: string
  title: string
  detail: string
  path?: unknown
  hint: string
  requestId: string
}

export interface UsageCounts {
  modelCalls: number
  toolCalls: number
  inputTokens: number
  outputTokens: number
  cachedInputTokens: number
  reasoningTokens: number
  totalTokens: number
  /** Absent where nothing was written. */
  cacheWriteTokens?: number
  costUsd: number | null
  complete: boolean
}

export interface Usage extends UsageCounts {
  byAgent: Record<string, UsageCounts>
}

export interface Interruption {
  id: string
  kind: string
  path: string
  agent: string
  callId: string
  state: string
  name: string
  arguments: Record<string, unknown>
  addressee: string | null
  expiresAt: string | null
  tool?: string
  digest?: string
  questions?: { id: string; options: { id: string; label: string }[] }[]
  prompt?: string
}

/** A run as it is read while it works, as far as a test looks. */
export interface RunState {
  status: string
  result: RunResult | null
  tree: { usage: UsageCounts }
}

export interface RunResult {
  traceId: string
  runId: string
  conversationId: string
  status: 'completed' | 'waiting' | 'failed' | 'cancelled'
  agent: string
  text: string
  earlierAnswers?: string[]
  output: unknown
  finishReason: string
  interruptions: Interruption[]
  tasks: Task[]
  usage: Usage
  elapsedMs: number
  error: Problem | null
}

export interface Started {
  id: string
  agent: string
  run: RunResult | null
}

export interface Conversation {
  id: string
  agent: string
  lastSeq: number
  activeRunId: string | null
  status: 'idle' | 'running' | 'waiting'
  interruptions: Interruption[]
  tasks: Task[]
  runs: RunLine[]
  runCount: number
}

export interface RunLine {
  runId: string
  status: string
  hidden: boolean
  originRunId: string | null
}

export interface Task {
  taskId: string
  toolCallId: string
  callId: string
  conversationId: string
  agent: string
  path: string
  status: 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled'
  text: string
  output: unknown
  error: Problem | null
  usage: Usage
  createdAt: string
  startedAt: string | null
  endedAt: string | null
}

export interface TaskReply {
  status: 'saved' | 'replied' | 'waiting' | 'completed'
  reply: string | null
}

export interface WitanEvent {
  seq: number
  type: string
  kind: string
  callId: string
  parentCallId: string | null
  rootCallId: string
  conversationId: string
  document: string
  author: string
  authorKind: string
  agentPath: string
  invocationId: string
  branch: string | null
  branchPath: string[]
  at: string
  content: Record<string, unknown>
  actions: Record<string, unknown>
}

export interface EventPage {
  events: WitanEvent[]
  lastSeq: number
  more: boolean
}

interface DocumentToolCall {
  id: string
  name: string
  arguments: unknown
  result: unknown
  document: string | null
}

export interface DocumentMessage {
  seq: number
  role: string
  author: string
  to?: string | null
  authorKind: string
  text: string | null
  toolCalls?: DocumentToolCall[] | null
  date: string
}

export interface ConversationDocument {
  id: string
  agent: string
  agents: string[]
  parameters: Record<string, { value?: unknown; sendToModel: boolean }>
  messages: DocumentMessage[]
  linkedConversations: unknown[]
  openCalls: unknown[]
  totalUsage: UsageCounts
  createdAt: string
  lastMessageAt: string
  olderCursor: string | null
  newerCursor: string | null
  hasMore: boolean
}

export interface Finding {
  code: string
  severity: string
  agent: string
  detail: string
  hint: string
}

export interface SavedAgent {
  id: string
  revision: number | string
  source: string
  warnings: Finding[]
  description?: string
}

export interface Page<T> {
  items: T[]
  nextCursor: string | null
}
