/** The OpenAPI 3.1 document, made from the schemas that validate requests. */
import {
  actionSchema,
  agentSchema,
  agentViewSchema,
  apiKeySchema,
  callNodeSchema,
  checkReportSchema,
  conversationRequestSchema,
  conversationSchema,
  directRunBodySchema,
  documentSchema,
  eventPageSchema,
  eventSchema,
  findingSchema,
  interruptionSchema,
  keyRequestSchema,
  limitsSchema,
  callerRowSchema,
  matrixRowSchema,
  parameterSchema,
  principalSchema,
  problemSchema,
  protocolSchema,
  querySchema,
  runRequestSchema,
  runResultSchema,
  runStateSchema,
  startedConversationSchema,
  storedAgentSchema,
  storedProtocolSchema,
  subAgentEdgeSchema,
  taskMessageSchema,
  taskProgressSchema,
  taskQuestionSchema,
  taskReplySchema,
  taskSchema,
  usageCountersSchema,
  usageSchema,
} from '@witan/protocol/schemas'
import { accessOf } from '@witan/protocol/access'
import {
  ingestSchema,
  knowledgeBaseSchema,
  knowledgeDocumentSchema,
  passageSchema,
  sourceSchema,
  storedKnowledgeBaseSchema,
} from '@witan/protocol/knowledge'
import { memoryBlockSchema, memoryRevisionSchema } from '@witan/protocol/memory'
import { z } from 'zod'
import type { Answer, Route } from './route.ts'

type Json = Record<string, unknown>

/** The document, as JSON. */
export interface OpenApiDocument {
  readonly openapi: '3.1.1'
  readonly info: Json
  readonly paths: Readonly<Record<string, Json>>
  readonly components: Json
  readonly security: readonly Json[]
}

const requestNames: Readonly<Record<string, z.ZodType>> = {
  Agent: agentSchema,
  Parameter: parameterSchema,
  Query: querySchema,
  Action: actionSchema,
  SubAgentEdge: subAgentEdgeSchema,
  Limits: limitsSchema,
  Protocol: protocolSchema,
  KnowledgeBase: knowledgeBaseSchema,
  ConversationRequest: conversationRequestSchema,
  RunRequest: runRequestSchema,
  DirectRunRequest: directRunBodySchema,
  TaskMessage: taskMessageSchema,
  TaskQuestion: taskQuestionSchema,
  KeyRequest: keyRequestSchema,
}
const answerNames: Readonly<Record<string, z.ZodType>> = {
  StoredAgent: storedAgentSchema,
  AgentView: agentViewSchema,
  StoredProtocol: storedProtocolSchema,
  StoredKnowledgeBase: storedKnowledgeBaseSchema,
  KnowledgeDocument: knowledgeDocumentSchema,
  MemoryBlock: memoryBlockSchema,
  MemoryRevision: memoryRevisionSchema,
  Ingest: ingestSchema,
  Passage: passageSchema,
  Source: sourceSchema,
  Finding: findingSchema,
  MatrixRow: matrixRowSchema,
  CallerRow: callerRowSchema,
  CheckReport: checkReportSchema,
  Conversation: conversationSchema,
  StartedConversation: startedConversationSchema,
  RunResult: runResultSchema,
  RunState: runStateSchema,
  CallNode: callNodeSchema,
  Document: documentSchema,
  Event: eventSchema,
  EventPage: eventPageSchema,
  Interruption: interruptionSchema,
  Task: taskSchema,
  TaskReply: taskReplySchema,
  TaskProgress: taskProgressSchema,
  Usage: usageSchema,
  UsageCounters: usageCountersSchema,
  ApiKey: apiKeySchema,
  Principal: principalSchema,
  Problem: problemSchema,
}

/** Schemas by name; `io` says whether defaults may be left out (requests) or are always there (answers). */
interface Shelf {
  ref(schema: z.ZodType, name: string): Json
  schemas(): Json
}

/** Documents these routes. */
export function openApiDocument(routes: readonly Route[]): OpenApiDocument {
  const requests = createShelf('input', requestNames)
  const answers = createShelf('output', answerNames)
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = route.path.replace('+}', '}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, requests, answers) }
  }
  const bearer = {
    type: 'http',
    scheme: 'bearer',
    description: 'The token that the server printed at its start, an API key, or a JWT, by its mode.',
  }
  return {
    openapi: '3.1.1',
    info: { title: 'Witan', version: 'v1', license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    paths,
    components: { schemas: { ...requests.schemas(), ...answers.schemas() }, securitySchemes: { bearer } },
    security: [{ bearer: [] }],
  }
}

function operation(route: Route, requests: Shelf, answers: Shelf): Json {
  const body = route.bodyDocument ?? route.body
  const title = route.name.replace(/^./, (first) => first.toUpperCase())
  const problem = { 'application/problem+json': { schema: answers.ref(problemSchema, 'Problem') } }
  const responses: Json = { default: { description: 'What went wrong, and what to do.', content: problem } }
  for (const [status, answer] of Object.entries(route.answers)) {
    responses[status] = { description: answer.description, ...content(answer, `${title}${status}`, answers) }
  }
  return {
    operationId: route.name,
    tags: [route.tag],
    summary: route.summary,
    parameters: [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)],
    ...(body === undefined ? {} : { requestBody: requestBody(route, requests.ref(body, `${title}Request`)) }),
    responses,
    ...accessIn(route),
  }
}

/** Who reaches the route: the roles in `x-witan-roles`, and `person` for people who take part in conversations. */
function accessIn({ method, path }: Route): Json {
  const reach = accessOf({ method, path: path.replace('+}', '}') }) ?? []
  if (reach === 'open') return { security: [] }
  return { 'x-witan-roles': reach === 'anybody' ? ['anybody'] : ['admin', ...reach] }
}

function content(answer: Answer, name: string, answers: Shelf): Json {
  if (answer.isBytes === true) return { content: { '*/*': { schema: { type: 'string', format: 'binary' } } } }
  if (answer.schema === null) return {}
  const stream = { 'text/event-stream': { schema: { type: 'string' } } }
  const json = { 'application/json': { schema: answers.ref(answer.schema, name) } }
  return { content: answer.stream === true ? { ...json, ...stream } : json }
}

function requestBody(route: Route, schema: Json): Json {
  return { required: route.bodyOptional !== true, content: { 'application/json': { schema } } }
}

function pathParameters(route: Route): Json[] {
  const slash = 'A slash in it is written `%2F` or `:`.'
  return [...route.path.matchAll(/\{(\w+)(\+?)\}/g)].map(([, name, rest]) => {
    const description = rest === '+' ? 'Slashes stand as they are.' : slash
    return { name, in: 'path', required: true, description, schema: { type: 'string' } }
  })
}

function queryParameters(route: Route): Json[] {
  if (route.query === undefined) return []
  const { properties = {} } = z.toJSONSchema(route.query, { io: 'input' })
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', required: false, schema }))
}

function headerParameters(route: Route): Json[] {
  const header = (name: string, description: string): Json => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  })
  const guard = route.guarded === true ? [header('If-Match', 'Only over the revision of this ETag.')] : []
  if (route.method === 'POST')
    return [header('Idempotency-Key', 'At most 255 characters; one effect in 24 hours.'), ...guard]
  return route.name === 'followEvents' ? [header('Last-Event-ID', 'Resumes after this seq.')] : guard
}

function createShelf(io: 'input' | 'output', named: Readonly<Record<string, z.ZodType>>): Shelf {
  const registry = z.registry<{ id: string }>()
  const uri = (id: string): string => `#/components/schemas/${id}`
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id })
  return {
    ref(schema, name) {
      if (!registry.has(schema)) registry.add(schema, { id: name })
      return { $ref: uri(registry.get(schema)?.id ?? name) }
    },
    schemas() {
      const made = z.toJSONSchema(registry, { io, uri }).schemas
      return Object.fromEntries(Object.entries(made).map(([id, { $schema: _s, $id: _i, ...schema }]) => [id, schema]))
    },
  }
}
