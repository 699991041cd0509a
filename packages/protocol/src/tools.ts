/** The vocabulary of tools before a run: what an agent is offered, its first request, a tool tried alone, and revisions. */

export type {
  AgentTool,
  ApprovalNeed,
  Preview,
  PreviewInput,
  RevisionLine,
  ServerTool,
  ToolKind,
  Trial,
  TrialInput,
} from './agent-tool.ts'
export {
  agentToolSchema,
  approvalNeeds,
  previewBodySchema,
  previewRequestSchema,
  previewSchema,
  revisionLineSchema,
  serverToolSchema,
  toolKinds,
  trialRequestSchema,
  trialSchema,
} from './agent-tool.ts'
export { mcpServerSchema, type McpServerTool, type McpServerView } from './mcp-view.ts'
