/** Witan, the library: agents, tools, models, stores, and the runtime that connects them. */

// the runtime
export type {
  AcceptedRun,
  AgentAdmin,
  Chat,
  EventFilter,
  FileContent,
  OpenedConversation,
  Page,
  PageOptions,
  Runtime,
  SavedAgent,
  SubAgentAdmin,
  TaskControls,
  Witan,
} from './runtime/contract.ts'
export type { Connection, RuntimeOptions, Source } from './runtime/options.ts'
export { createRuntime } from './runtime.ts'
export type { Principal, Role } from './identity/principal.ts'
export { localPrincipal } from './identity/principal.ts'

// agents and tools
export type { AgentGraph } from './agent/admin/agent-graph.ts'
export type { Agent, AgentDefinition, AgentTool } from './agent/define-agent.ts'
export { agentTool, defineAgent } from './agent/define-agent.ts'
export { defineProtocol } from './agent/protocol/parse-protocol.ts'
export { parseAgent } from './agent/parse.ts'
export type { FunctionContext, FunctionTool, FunctionToolDefinition, StandardSchema } from './tool/define-tool.ts'
export { defineTool } from './tool/define-tool.ts'
export type { Hooks, HooksDefinition } from './hook/define-hooks.ts'
export { defineHooks } from './hook/define-hooks.ts'
export type { QuerySource } from './tool/source.ts'
export { createPostgresSource } from './tool/kinds/postgres-source.ts'
export { createSqliteSource } from './tool/kinds/sqlite-source.ts'

// models
export type {
  Model,
  ModelCallOptions,
  ModelPart,
  ModelPrice,
  ModelReply,
  ModelRequest,
  ModelTool,
} from './model/model.ts'
export { ModelCallError } from './model/model.ts'
export { priceTable } from './model/price-table.ts'
export type { MessageKinds, ModelMessage, ModelToolCall } from './model/message.ts'
export type { AiSdkLanguageModel } from './model/adapters/ai-sdk-types.ts'
export { aiSdkModel } from './model/adapters/ai-sdk.ts'
export { openaiCompatible } from './model/adapters/openai-compatible.ts'

// stores
export type { Store } from './store/store.ts'
export { memoryStore } from './store/drivers/memory.ts'
export { sqliteStore } from './store/drivers/sqlite.ts'
export { postgresStore } from './store/drivers/postgres.ts'
export { routedStore } from './store/drivers/routed.ts'
