/** The options of a runtime, and their immediate checks. */
import { type ProviderOptions, WitanError } from '@witan/protocol'
import type { KnowledgeBaseInput } from '@witan/protocol/knowledge'
import type { DocumentReader } from '../knowledge/document.ts'
import type { KnowledgeSource } from '../tool/kinds/knowledge-elsewhere.ts'
import type { ProtocolInput } from '@witan/protocol/protocols'
import type { Agent } from '../agent/define-agent.ts'
import { nearest } from '../identity/nearest.ts'
import type { Ceilings } from '../budget/ceilings.ts'
import type { Clock } from '../identity/clock.ts'
import type { Ids } from '../identity/ids.ts'
import type { EmbeddingModel } from '../model/embedding.ts'
import { isModel, type Model, type ModelPrice } from '../model/model.ts'
import type { PriceTable } from '../model/price-table.ts'
import type { Store } from '../store/store.ts'
import type { TelemetryOptions } from '../telemetry/options.ts'
import { type Hooks, isHooks } from '../hook/define-hooks.ts'
import type { FunctionTool } from '../tool/define-tool.ts'
import type { FederationOptions } from '../federation/remotes.ts'
import type { McpServers, McpSettings } from '../tool/mcp/mcp.ts'
import type { McpLock } from '../tool/mcp/pins.ts'
import type { McpServerInput } from '../tool/mcp/settings.ts'
import type { RemoteCaller } from '../tool/remote.ts'
import type { QuerySource } from '../tool/source.ts'
import type { ReportedPlace } from '../job/environment.ts'
import type { WorkNote } from '../worker/worker.ts'

/** A named connection to models: `local` makes `local/qwen3` a model. */
export type Connection =
  | {
      readonly kind: 'openai-compatible'
      readonly baseUrl: string
      readonly apiKey?: string
      readonly headers?: Readonly<Record<string, string>>
      /** By the model's name on this connection. */
      readonly prices?: Readonly<Record<string, ModelPrice>>
      /** For all its calls, unless an agent sets its own. */
      readonly maxOutputTokens?: number
      readonly providerOptions?: ProviderOptions
      /** The least time between two of its requests in this process, in ms: 0 to 3,600,000. Default 0 [Tb14]. */
      readonly minIntervalMs?: number
      /** The most of its requests at once in this process; null, the default: no limit. The others wait their turn [Tb14]. */
      readonly maxConcurrent?: number | null
      /** The media types of files that its models take; `[]` for none. Default: those of `openaiCompatible` [Rb53]. */
      readonly takes?: readonly string[]
    }
  | ((model: string) => Model)

/** A database that queries can read. */
export type Source =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string }
  | QuerySource

/** The options of a runtime. All are optional: without a store, everything stays in memory. */
export interface RuntimeOptions {
  readonly store?: Store
  readonly connections?: Readonly<Record<string, Connection>>
  /** Live models, by the name that agents use. */
  readonly models?: Readonly<Record<string, Model>>
  /** Live models that place texts, by the name that knowledge bases use; others are `connection/model` of an OpenAI-compatible connection. */
  readonly embeddings?: Readonly<Record<string, EmbeddingModel>>
  /** Prices of models that have none of their own, in place of `priceTable`; null: none. */
  readonly prices?: PriceTable | null
  readonly sources?: Readonly<Record<string, Source>>
  readonly tools?: readonly FunctionTool[]
  /** Functions that are asked before and behind what agents do, in this order [F02]. */
  readonly hooks?: readonly Hooks[]
  /** Agents as code or as data, stored when the runtime starts [F10]. */
  readonly agents?: readonly (Agent | object)[]
  /** Protocols as data, stored when the runtime starts [T19]. */
  readonly protocols?: readonly ProtocolInput[]
  /** Knowledge bases as data, stored when the runtime starts [F02]. */
  readonly knowledge?: readonly (KnowledgeBaseInput | KnowledgeSource)[]
  /** Reads files for knowledge bases, such as `createReaders()` of `@witan/readers`. Default: plain text alone. */
  readonly readers?: DocumentReader
  /**
   * The domains under which agents have addresses, each with the database that it is for. A local part alone takes the first domain of its
   * database. Default none: no agent has an address.
   */
  readonly domains?: Readonly<Record<string, string>>
  /** Ceilings, which an agent can only lower. Defaults: depth 8, 500 model calls, 128 tool calls per reply. */
  readonly limits?: Partial<Ceilings>
  /** Retries of model calls; `tries: 1` disables them. `totalMs`: the time limit of one call over all its tries, and of the summary made before it; default one hour. */
  readonly retry?: { readonly tries?: number; readonly baseMs?: number; readonly totalMs?: number }
  /** How long a job is leased; default 15 s. */
  readonly leaseMs?: number
  /**
   * The maximum number of jobs (runs and tasks) at once: at least 1, default 200. At the maximum this process claims no
   * more jobs, and new tasks are left to other processes, or to itself when it has capacity. It always runs the runs that
   * it accepts.
   */
  readonly maxJobs?: number
  /** False if this process works on no jobs: it leaves the runs that it accepts to others. Default true. */
  readonly takesWork?: boolean
  /** Where the traces of runs are exported; nowhere by default. */
  readonly telemetry?: TelemetryOptions
  /** How it is one server among others. Agents on other servers can be called once there is a domain. */
  readonly federation?: FederationOptions
  /**
   * MCP servers whose tools agents may use, by name: as a configuration has them (`${NAME}` is read from the environment of the process), as `mcpSettingsOf`
   * gives them, or an implementation. A saved agent starts none: it only names them.
   */
  readonly mcpServers?: Readonly<Record<string, McpServerInput>> | ReadonlyMap<string, McpSettings> | McpServers
  /** The tools of MCP servers that somebody has looked at; null for none. */
  readonly mcpLock?: McpLock | null
  /** Takes what MCP servers write for people: short lines that begin with the server's name. Default: nobody reads them. */
  readonly mcpLog?: (line: string) => void
  /** What calls agents on other servers, in place of what `domains` and `federation` say. */
  readonly remotes?: RemoteCaller
  readonly clock?: Clock
  readonly ids?: Ids
  /** A number from 0 to 1, for jitter. */
  readonly random?: () => number
  /** Reports internal problems that no caller sees, with the ids of run and call where they are known; default: standard error. */
  readonly report?: (error: unknown, where?: ReportedPlace) => void
  /**
   * Called when this process can no longer receive notifications of other processes, with why, and once more with null when it can.
   * Default: why is reported.
   */
  readonly listening?: (problem: WitanError | null) => void
  /** Called for every job that this process starts and leaves. For display only; nothing depends on it. */
  readonly working?: (note: WorkNote) => void
}

const optionNames: readonly string[] = [
  'store',
  'connections',
  'models',
  'embeddings',
  'prices',
  'sources',
  'tools',
  'hooks',
  'agents',
  'protocols',
  'knowledge',
  'readers',
  'domains',
  'limits',
  'retry',
  'leaseMs',
  'maxJobs',
  'takesWork',
  'telemetry',
  'clock',
  'ids',
  'random',
  'federation',
  'report',
  'working',
  'listening',
  'remotes',
  'mcpServers',
  'mcpLock',
  'mcpLog',
] satisfies (keyof RuntimeOptions)[]

/** Refuses misspelt options and values that are not an agent, model or store, which would otherwise be noticed much later. */
export function refuseUnknown(options: RuntimeOptions): void {
  for (const name of Object.keys(options)) {
    if (optionNames.includes(name)) continue
    const near = nearest(name, optionNames)
    const hint = near === null ? `Known: ${optionNames.join(', ')}.` : `Did you mean \`${near}\`?`
    throw new WitanError('UNKNOWN_KEY', `\`${name}\` is not an option of createRuntime.`, { path: name, hint })
  }
  const wrong = (path: string, what: string, hint: string) =>
    new WitanError('CONFIG_INVALID', `\`${path}\` is not ${what}.`, { path, hint })
  const { maxJobs = 1, agents = [], protocols = [], knowledge = [], models = {}, hooks = [], store } = options
  if (!Number.isInteger(maxJobs) || maxJobs < 1)
    throw wrong('maxJobs', 'a number of jobs', 'Pass an integer of at least 1, or omit it for 200.')
  if (!Array.isArray(agents)) throw wrong('agents', 'a list', 'Write `agents: [one, two]`.')
  const hole = agents.findIndex((agent) => typeof agent !== 'object' || agent === null)
  if (hole >= 0) throw wrong(`agents.${hole}`, 'an agent', 'Pass a result of `defineAgent`, or an agent as data.')
  const [none] = Object.entries(models).find(([, model]) => !isModel(model)) ?? []
  if (none !== undefined) throw wrong(`models.${none}`, 'a model', 'Pass an object with `id` and `stream`.')
  if (!Array.isArray(hooks) || !hooks.every(isHooks))
    throw wrong('hooks', 'a list of hooks', 'Write `hooks: [audit]` with results of `defineHooks`.')
  if (!Array.isArray(protocols)) throw wrong('protocols', 'a list', 'Write `protocols: [one, two]`.')
  if (!Array.isArray(knowledge)) throw wrong('knowledge', 'a list', 'Write `knowledge: [one, two]`.')
  if (store !== undefined && typeof store.append !== 'function')
    throw wrong('store', 'a store', 'Pass `sqliteStore({ file })` or `memoryStore()`.')
}
