/** The contract of MCP servers: what a configuration says of them, what they offer, and how a tool of theirs is called. */
import type { Effect } from '../tool.ts'

/** How an MCP server is reached, with the variables of its configuration filled in. */
export type McpTransport =
  | {
      readonly type: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      readonly cwd: string | null
      /** What its process gets beside the few variables that every child gets. */
      readonly env: Readonly<Record<string, string>>
    }
  | {
      readonly type: 'http'
      readonly url: string
      readonly headers: Readonly<Record<string, string>>
      readonly auth: McpClientCredentials | null
    }

/** Tokens that a server gets for itself: renewed before they expire, and once after a 401. */
export interface McpClientCredentials {
  readonly kind: 'clientCredentials'
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scope: string | null
}

/** A server as its configuration has it, with every default. Times are in ms. */
export interface McpSettings {
  readonly name: string
  readonly transport: McpTransport
  /** Its own word that a tool only reads counts. */
  readonly trusted: boolean
  /** Names of tools that only read; `*` stands for any characters. */
  readonly readOnly: readonly string[]
  /** The effects of tools, by name or pattern. */
  readonly effects: Readonly<Record<string, Effect>>
  /** What becomes of a tool that is not as it was pinned. */
  readonly onChange: 'block' | 'warn'
  readonly roots: readonly string[]
  /** Whether it may ask people. */
  readonly ask: boolean
  /** One connection for all conversations, or one for each. */
  readonly scope: 'process' | 'conversation'
  /** How long a call may go without progress. */
  readonly timeoutMs: number
  readonly maxTotalMs: number
  readonly connectTimeoutMs: number
  readonly maxResultCharacters: number
  readonly maxTools: number
  /** Whether an agent fails without it. */
  readonly required: boolean
  /** Where its configuration seems to hold a secret as text, such as `env.TOKEN`; absent for nowhere. */
  readonly inlineSecrets?: readonly string[]
}

/** Whose connection is meant. Sessions that differ in anything share nothing. */
export interface McpSession {
  readonly server: string
  /** Headers of each request that hold values of parameters; empty for none. They stand in no message and no log. */
  readonly headers: Readonly<Record<string, string>>
  /** The channel of the conversation, for a server with a connection for each; else null. */
  readonly conversation: string | null
}

/** A tool as its server describes it. Its size and depth are within bounds. */
export interface McpToolDefinition {
  readonly name: string
  readonly description?: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  readonly outputSchema?: Readonly<Record<string, unknown>>
  readonly annotations?: Readonly<Record<string, unknown>>
}

/** What a server offers: its tools in its order, each name once or more. */
export interface McpList {
  readonly tools: readonly McpToolDefinition[]
  readonly protocolVersion: string
  readonly serverInfo: { readonly name: string; readonly version: string } | null
}

/** Why a server did not do what it was asked for. `detail` says it in plain words, with the server's name, and without a hidden value. */
export interface McpFailure {
  readonly kind: 'failed'
  /**
   * `unavailable`: it cannot be reached, and nothing was sent. `lost`: the connection ended while it worked, so what it did is unknown. `timeout`: it took too long.
   * `protocol`: its answer breaks the protocol or its bounds. `refused`: it asked for what is not allowed here. `failed`: it answered with an error.
   */
  readonly reason: 'unavailable' | 'lost' | 'timeout' | 'protocol' | 'refused' | 'failed'
  readonly detail: string
}

/** The answer to a call. What it holds is the server's, within bounds of size and depth. */
export type McpAnswer =
  | {
      readonly kind: 'result'
      readonly content: readonly Readonly<Record<string, unknown>>[]
      readonly structuredContent?: unknown
      readonly isError: boolean
    }
  | {
      /** It wants answers first; the call is made again with them. */
      readonly kind: 'inputRequired'
      readonly requests: Readonly<Record<string, { readonly method: string; readonly params: unknown }>>
      readonly state: string | null
    }
  | McpFailure

/** How far a call has come. */
export interface McpProgress {
  readonly progress: number
  readonly total: number | null
  readonly message: string | null
}

/** One call of a tool. */
export interface McpCall {
  readonly session: McpSession
  /** The tool's own name at its server. */
  readonly tool: string
  readonly arguments: Readonly<Record<string, unknown>>
  /** What its arguments hold that no message and no line of a log may show. */
  readonly hidden: readonly string[]
  /** Entries of `_meta` beside those of the protocol, such as `io.witan/callId`. */
  readonly meta: Readonly<Record<string, unknown>>
  /** Ends the call: the server is told. */
  readonly signal: AbortSignal
  /** Answers to what it asked, and what it wants back with them; null for a first call. */
  readonly given: { readonly responses: Readonly<Record<string, unknown>>; readonly state: string | null } | null
  onProgress(progress: McpProgress): void
}

/** How a server stands in this process. */
export interface McpStanding {
  readonly state: 'idle' | 'ready' | 'failed'
  /** The list that it gave last, whether it still holds or not; null before the first. */
  readonly list: McpList | null
  /** Why the last try failed, in words for whoever runs the server. */
  readonly error: string | null
}

/** The MCP servers of a configuration. Nothing of the protocol is loaded and no server is started before the first `list` or `call`. */
export interface McpServers {
  /** What each server's configuration says, by name. */
  readonly settings: ReadonlyMap<string, McpSettings>
  /** What is known of a server's tools without asking it again; null if it must be asked. */
  known(session: McpSession): McpList | null
  /** Connects if necessary, and asks for its tools unless they are known. Never rejects but when it is aborted. Several that ask at once share one request. */
  list(session: McpSession, signal: AbortSignal): Promise<McpList | McpFailure>
  /** Calls a tool. Never rejects; an aborted call is a failure. */
  call(of: McpCall): Promise<McpAnswer>
  /** Of a server without headers of a caller's own. */
  standing(server: string): McpStanding
  /** Connects anew and asks for its tools anew. */
  refresh(server: string, signal: AbortSignal): Promise<McpList | McpFailure>
  /** Ends all connections and the processes of this one. */
  close(): Promise<void>
}
