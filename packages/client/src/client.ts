/** The client of one Witan server. */
import type { Event } from '@witan/protocol'
import type { UsageItem } from '@witan/protocol/schemas'
import type { AuditEntry, PrincipalView } from '@witan/protocol/keys'
import { isWitanError } from '@witan/protocol'
import { refuseUnknown } from './options.ts'
import { type Agents, agentCalls } from './agents.ts'
import { type AuditQuery, listAudit } from './audit.ts'
import type { Chat, ChatOptions } from './chat.ts'
import { createChat } from './conversation.ts'
import {
  type Conversations,
  conversationCalls,
  type Documents,
  documentCalls,
  type EventQuery,
  type Interruptions,
  interruptionCalls,
  type Questions,
  questionCalls,
  type Runs,
  runCalls,
} from './conversations.ts'
import { followEvents } from './events.ts'
import { type Keys, keyCalls } from './keys.ts'
import { type Knowledge, knowledgeCalls } from './knowledge.ts'
import { mcpCalls, type McpServersOfServer } from './mcp.ts'
import { type Memory, memoryCalls } from './memory.ts'
import { type Protocols, protocolCalls } from './protocols.ts'
import { type Artifacts, artifactCalls } from './artifacts.ts'
import { type Tasks, taskCalls } from './tasks.ts'
import { eachItem, type Page } from './page.ts'
import { realTiming, type Timing } from './timing.ts'
import { createTransport } from './transport.ts'
import { listUsage, type UsageQuery } from './usage.ts'

/** The server's address, and what the requests show to it. */
export interface ClientOptions {
  /** The server's address without `/api/v1`; a path in front of it is kept. */
  readonly url: string
  /** The token that the server printed, an API key `wtn_…`, or a JWT. */
  readonly token?: string
  /** The platform's `fetch` by default. */
  readonly fetch?: typeof globalThis.fetch
  /** For tests: another clock. */
  readonly timing?: Partial<Timing>
}

/** All calls of a server. It throws `WitanError` for errors of the server and `ClientError` if no reply arrived. */
export interface Client {
  readonly url: string
  readonly agents: Agents
  readonly protocols: Protocols
  readonly knowledge: Knowledge
  readonly memory: Memory
  readonly mcp: McpServersOfServer
  readonly conversations: Conversations
  readonly documents: Documents
  readonly runs: Runs
  readonly interruptions: Interruptions
  readonly questions: Questions
  readonly artifacts: Artifacts
  readonly tasks: Tasks
  /** What the database has used, by agent, conversation, user, model or day: a page, in the order of the keys, which may be short. */
  usage(query: UsageQuery): Promise<Page<UsageItem>>
  /** The same, item by item, over all pages. */
  allUsage(query: UsageQuery): AsyncGenerator<UsageItem, void, undefined>
  /** Who changed an agent, a protocol or an API key, and when, the latest first. Only for admins. */
  audit(query?: AuditQuery): Promise<Page<AuditEntry>>
  /** The same, change by change, over all pages. */
  allAudit(query?: AuditQuery): AsyncGenerator<AuditEntry, void, undefined>
  readonly keys: Keys
  /** Who the token makes this client. */
  principal(): Promise<PrincipalView>
  /** Creates a conversation with an agent. Sends nothing yet. */
  conversation(agent: string, options?: ChatOptions): Chat
  /** The events of a conversation, stored and then live, without gap or repeat over lost connections. Ends on abort, and when the conversation is deleted. */
  events(
    conversationId: string,
    options?: EventQuery & { readonly signal?: AbortSignal },
  ): AsyncGenerator<Event, void, undefined>
  /** The server's own health report; a `ClientError` if no server answers. */
  health(): Promise<boolean>
  /** Ends every request and stream of this client. Runs on the server go on. */
  close(): void
}

/** Makes a client. Nothing is sent before the first call. */
export function createClient(options: ClientOptions): Client {
  refuseUnknown('createClient', options, ['url', 'token', 'fetch', 'timing'] satisfies (keyof ClientOptions)[])
  const transport = createTransport({
    url: options.url,
    ...(options.token === undefined ? {} : { token: options.token }),
    // Looked up at each call: a browser's `fetch` refuses to be called as another object's method.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    timing: { ...realTiming, ...options.timing },
  })
  return {
    url: options.url,
    agents: agentCalls(transport),
    protocols: protocolCalls(transport),
    knowledge: knowledgeCalls(transport),
    memory: memoryCalls(transport),
    mcp: mcpCalls(transport),
    conversations: conversationCalls(transport),
    documents: documentCalls(transport),
    runs: runCalls(transport),
    interruptions: interruptionCalls(transport),
    questions: questionCalls(transport),
    artifacts: artifactCalls(transport),
    tasks: taskCalls(transport),
    usage: (query) => listUsage(transport, query),
    allUsage: (query) => eachItem((page) => listUsage(transport, { ...query, ...page }), query),
    audit: (query = {}) => listAudit(transport, query),
    allAudit: (query = {}) => eachItem((page) => listAudit(transport, { ...query, ...page }), query),
    keys: keyCalls(transport),
    principal: () => transport.json('GET', '/api/v1/principal'),
    conversation: (agent, chat) => createChat(transport, agent, chat),
    events: (conversationId, query) => followEvents(transport, conversationId, query),
    health: async () => {
      try {
        await transport.open('GET', '/healthz').then((response) => response.body?.cancel())
        return true
      } catch (error) {
        if (isWitanError(error)) return false
        throw error
      }
    },
    close: transport.close,
  }
}
