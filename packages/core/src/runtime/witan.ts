/** The methods of one principal. Each waits until the runtime is ready, and then calls the file that implements it. */
import type { Principal } from '../identity/principal.ts'
import { jsonText } from '../identity/json-pieces.ts'
import { readsAll } from '../identity/rights.ts'
import { cancelJob } from '../command/cancel.ts'
import { agentAdmin } from './agents.ts'
import { artifactReader } from './artifact-reader.ts'
import { modelCallReader } from './asked/reader.ts'
import { createChat } from './chat.ts'
import type { Witan } from './contract.ts'
import { listConversations } from './conversation-list.ts'
import { deleteConversation, startConversation } from './conversations.ts'
import { getDocument } from './documents.ts'
import { forkConversation } from './fork.ts'
import { answer, listInterruptions } from './interruptions.ts'
import { keyAdmin } from './keys.ts'
import { knowledgeAdmin } from './knowledge.ts'
import { mcpAdmin } from './mcp.ts'
import { memoryAdmin } from './memory.ts'
import { addParticipant, listParticipants, removeParticipant } from './participants.ts'
import { followRun, liveRun, run } from './runs.ts'
import { protocolAdmin } from './protocols.ts'
import { exportConversation } from './export/conversation-export.ts'
import { jobRow } from './reach.ts'
import type { Scope } from './scope.ts'
import { ownRuns } from './own-runs.ts'
import { taskControls } from './tasks.ts'
import { readMetrics } from './read-metrics.ts'
import { listAudit } from './list-audit.ts'
import { listUsage } from './list-usage.ts'
import {
  followEvents,
  getConversation,
  getDiagram,
  getExchanges,
  getRun,
  listRuns,
  readEvents,
  readFile,
} from './views.ts'
import type { Parts } from './wiring.ts'

/** The methods for one principal. */
export function createWitan(parts: Parts, principal: Principal, ready: () => Promise<void>): Witan {
  const { database } = principal
  const scope: Scope = { parts, principal, database, ready }
  const witan: Witan = {
    principal,
    agents: agentAdmin(scope, (id, request) => run(scope, id, { body: request })),
    protocols: protocolAdmin(scope),
    knowledge: knowledgeAdmin(scope),
    memory: memoryAdmin(scope),
    mcp: mcpAdmin(scope),
    keys: keyAdmin(scope),
    models: readsAll(principal) ? parts.check.modelNames : [],
    conversation: (agent, options = {}) => createChat(witan, agent, options),
    start: (request, options = {}) => ready().then(() => startConversation(scope, request, options)),
    run: (id, request, options = {}) => ready().then(() => run(scope, id, { ...options, body: request })),
    followRun: (id) => ready().then(() => followRun(scope, id)),
    liveRun: (id) => ready().then(() => liveRun(scope, id)),
    getConversation: (id) => ready().then(() => getConversation(scope, id)),
    listRuns: (id, options = {}) => ready().then(() => listRuns(scope, id, options)),
    listConversations: (options = {}) => ready().then(() => listConversations(scope, options)),
    deleteConversation: (id) => ready().then(() => deleteConversation(scope, id)),
    listParticipants: (id, options = {}) => ready().then(() => listParticipants(scope, id, options)),
    addParticipant: (id, request) => ready().then(() => addParticipant(scope, id, request)),
    removeParticipant: (id, user) => ready().then(() => removeParticipant(scope, id, user)),
    forkConversation: (id, request, options = {}) =>
      ready().then(() => forkConversation(scope, id, { ...options, request })),
    getDocument: (path, options = {}) => ready().then(() => getDocument(scope, path, options)),
    readFile: (id, digest) => ready().then(() => readFile(scope, id, digest)),
    artifacts: artifactReader(scope),
    modelCalls: modelCallReader(scope),
    async *exportConversation(id) {
      await ready()
      for await (const line of exportConversation(scope, id)) yield await jsonText(line)
    },
    metrics: () => ready().then(() => readMetrics(scope)),
    audit: (query = {}) => ready().then(() => listAudit(scope, query)),
    usage: (query) => ready().then(() => listUsage(scope, query)),
    tasks: taskControls(scope),
    ownRuns: ownRuns(scope),
    getRun: (id) => ready().then(() => getRun(scope, id)),
    getExchanges: (id) => ready().then(() => getExchanges(scope, id)),
    getDiagram: (id) => ready().then(() => getDiagram(scope, id)),
    async cancelRun(id, options = {}) {
      await ready()
      await jobRow(scope, id, { kind: 'run', deed: 'own' })
      await cancelJob(parts, database, { id, kind: 'run', by: principal.id, tasks: options.tasks ?? false })
    },
    readEvents: (id, filter = {}) => ready().then(() => readEvents(scope, id, filter)),
    followEvents: (id, filter) => followEvents(scope, id, filter),
    listInterruptions: (options = {}) => ready().then(() => listInterruptions(scope, options)),
    answerInterruption: (id, body, options = {}) => ready().then(() => answer(scope, { id, ...options }, body)),
  }
  return witan
}
