/** Every route of the server with a request of it, and who reaches what it is about: written down once more, from the rules alone. */

/** The ids of what is in every database. */
export interface Ids {
  readonly conversation: string
  readonly run: string
  readonly task: string
  readonly artifact: string
  readonly modelCall: string
  readonly digest: string
  readonly action: string
  readonly message: string
  readonly question: string
  readonly agent: string
  readonly protocol: string
  readonly key: string
  readonly base: string
  readonly knowledgeDocument: string
  readonly ingest: string
  /** What an agent remembers about `subject`. */
  readonly block: string
  readonly subject: string
}

/** What connects a caller with the conversation: it is its own, it takes part, it has left, or nothing. */
export const ties = ['maker', 'bob', 'carl', 'eve'] as const
type Tie = (typeof ties)[number]

/** A caller: the person of that name, in these roles. */
export interface Caller {
  readonly tie: Tie
  readonly roles: readonly string[]
}

type Right = (caller: Caller) => boolean

const has =
  (...roles: readonly string[]): Right =>
  (caller) =>
    roles.some((role) => caller.roles.includes(role))
const everybody: Right = () => true
const admin = has('admin')
const definitions = has('admin', 'read')
const starts = has('admin', 'run')
const owns: Right = (caller) => admin(caller) || (caller.tie === 'maker' && has('run')(caller))
const speaks: Right = (caller) => owns(caller) || caller.tie === 'bob'
const reads: Right = (caller) => speaks(caller) || has('read')(caller)
/** What is addressed to nobody. */
export const answers: Right = (caller) => owns(caller) || has('answer')(caller)
/** What is about bob, too. */
const isAsked: Right = (caller) => admin(caller) || caller.tie === 'bob'

/** A request of a route. `isAbout`: its path has an id; otherwise what does not exist is the path itself. */
export interface Row {
  readonly route: string
  readonly right: Right
  readonly path: (ids: Ids) => string
  readonly isAbout: boolean
  readonly body?: (ids: Ids) => unknown
  readonly headers?: Readonly<Record<string, string>>
  /** What the request does cannot be done twice, or stays in lists. */
  readonly isDone?: boolean
  /** The answer speaks of the conversation. */
  readonly shows?: boolean
}

type More = Partial<Pick<Row, 'isAbout' | 'body' | 'headers' | 'isDone' | 'shows'>>

const conversation = '/api/v1/conversations/{conversation}'
const knowledge = '/api/v1/knowledge/{base}'
const knowledgeDocument = `${knowledge}/documents/{knowledgeDocument}`
const memory = '/api/v1/memory'
const stale = { 'if-match': '"999"' }

/** The request of a route whose path is filled in with ids. */
function row(right: Right, [route, path]: readonly [route: string, path: string], more: More = {}): Row {
  const fill = (ids: Ids) => path.replace(/\{(\w+)\}/g, (_, name: keyof Ids) => ids[name])
  return { route, right, path: fill, isAbout: path.includes('{'), ...more }
}

function get(path: string, of: string, right: Right = reads): Row {
  return row(right, [`GET ${path}`, of], { shows: true })
}

const agent = { model: 'play/model', instructions: 'x' }
const prompt = { prompt: 'more' }

/** Every route, some with more than one request. */
export const rows: readonly Row[] = [
  row(everybody, ['GET /healthz', '/healthz']),
  row(everybody, ['GET /readyz', '/readyz']),
  row(everybody, ['GET /.well-known/webfinger', '/.well-known/webfinger?resource=acct:front@reach.example']),
  row(everybody, ['GET /.well-known/agent-card/{local}', '/.well-known/agent-card/front']),
  row(everybody, ['GET /.well-known/agent-card.json', '/.well-known/agent-card.json']),
  row(everybody, ['GET /.well-known/jwks.json', '/.well-known/jwks.json']),
  row(everybody, ['GET /.well-known/did.json', '/.well-known/did.json']),
  row(everybody, ['GET /a2a/{local}/.well-known/agent-card.json', '/a2a/front/.well-known/agent-card.json']),
  row(everybody, ['GET /api/v1/openapi.json', '/api/v1/openapi.json']),
  row(everybody, ['GET /api/v1/principal', '/api/v1/principal']),
  row(admin, ['GET /api/v1/keys', '/api/v1/keys']),
  row(admin, ['POST /api/v1/keys', '/api/v1/keys'], { body: () => ({}) }),
  row(admin, ['DELETE /api/v1/keys/{keyId}', '/api/v1/keys/{key}'], { isDone: true }),
  row(admin, ['GET /api/v1/audit', '/api/v1/audit']),
  row(definitions, ['GET /api/v1/usage', '/api/v1/usage?by=agent']),

  row(has('admin', 'read', 'run'), ['GET /api/v1/agents', '/api/v1/agents']),
  row(admin, ['POST /api/v1/agents', '/api/v1/agents'], { body: () => ({ id: 'new', ...agent }) }),
  row(admin, ['POST /api/v1/agents/batch', '/api/v1/agents/batch'], {
    body: () => ({ agents: [{ id: 'new', ...agent }] }),
  }),
  row(has('admin', 'read', 'run'), ['GET /api/v1/agents/{id}', '/api/v1/agents/{agent}']),
  row(admin, ['PUT /api/v1/agents/{id}', '/api/v1/agents/{agent}'], { body: () => agent, headers: stale }),
  row(admin, ['DELETE /api/v1/agents/{id}', '/api/v1/agents/{agent}'], { headers: stale }),
  row(definitions, ['GET /api/v1/agents/{id}/graph', '/api/v1/agents/{agent}/graph']),
  row(definitions, ['GET /api/v1/agents/{id}/tools', '/api/v1/agents/{agent}/tools']),
  row(admin, ['POST /api/v1/agents/{id}/preview', '/api/v1/agents/{agent}/preview'], { body: () => ({}) }),
  row(admin, ['POST /api/v1/agents/{id}/tools/{tool}/try', '/api/v1/agents/{agent}/tools/note/try'], {
    body: () => ({ confirm: true }),
  }),
  row(definitions, ['GET /api/v1/agents/{id}/revisions', '/api/v1/agents/{agent}/revisions']),
  row(definitions, ['GET /api/v1/agents/{id}/revisions/{n}', '/api/v1/agents/{agent}/revisions/1']),
  row(admin, ['PUT /api/v1/agents/{id}/tools/{tool}', '/api/v1/agents/{agent}/tools/note'], { headers: stale }),
  row(admin, ['DELETE /api/v1/agents/{id}/tools/{tool}', '/api/v1/agents/{agent}/tools/note'], { headers: stale }),
  row(definitions, ['GET /api/v1/agents/{parentId}/subagents', '/api/v1/agents/{agent}/subagents']),
  row(admin, ['POST /api/v1/agents/{parentId}/subagents', '/api/v1/agents/{agent}/subagents'], {
    ...{ body: () => ({ agent: { id: 'new', ...agent } }), headers: stale },
  }),
  row(admin, ['PUT /api/v1/agents/{parentId}/subagents/{id}', '/api/v1/agents/{agent}/subagents/clerk'], {
    ...{ body: () => ({}), headers: stale },
  }),
  row(admin, ['DELETE /api/v1/agents/{parentId}/subagents/{id}', '/api/v1/agents/{agent}/subagents/clerk'], {
    headers: stale,
  }),
  ...['agents', 'agent'].map((word) =>
    row(starts, [`POST /api/v1/${word}/{parentId}/subagents/{id}/run`, `/api/v1/${word}/{agent}/subagents/clerk/run`], {
      body: () => ({ prompt: 'go', wait: false }),
      isDone: true,
    }),
  ),
  row(admin, ['PUT /api/v1/agents/{id}/knowledge/{base}', '/api/v1/agents/{agent}/knowledge/{base}'], {
    headers: stale,
  }),
  row(admin, ['DELETE /api/v1/agents/{id}/knowledge/{base}', '/api/v1/agents/desk/knowledge/{base}'], {
    headers: stale,
  }),
  row(definitions, ['GET /api/v1/knowledge', '/api/v1/knowledge']),
  row(definitions, ['GET /api/v1/knowledge/{id}', knowledge]),
  row(admin, ['PUT /api/v1/knowledge/{id}', knowledge], { body: () => ({}), headers: stale }),
  row(admin, ['DELETE /api/v1/knowledge/{id}', knowledge], { headers: stale }),
  row(definitions, ['POST /api/v1/knowledge/{id}/search', `${knowledge}/search`], { body: () => ({ query: 'words' }) }),
  row(definitions, ['GET /api/v1/knowledge/{id}/revisions', `${knowledge}/revisions`]),
  row(definitions, ['GET /api/v1/knowledge/{id}/revisions/{n}', `${knowledge}/revisions/1`]),
  row(definitions, ['GET /api/v1/knowledge/{id}/documents', `${knowledge}/documents`]),
  row(admin, ['POST /api/v1/knowledge/{id}/documents', `${knowledge}/documents`], { body: () => ({ documents: [] }) }),
  row(definitions, ['GET /api/v1/knowledge/{id}/documents/{key}', knowledgeDocument]),
  row(definitions, ['GET /api/v1/knowledge/{id}/documents/{key}/passages', `${knowledgeDocument}/passages`]),
  row(admin, ['DELETE /api/v1/knowledge/{id}/documents/{key}', knowledgeDocument], { isDone: true }),
  row(definitions, ['GET /api/v1/knowledge/{id}/ingests/{ingestId}', `${knowledge}/ingests/{ingest}`]),
  row(everybody, ['GET /api/v1/memory', memory]),
  get('/api/v1/memory/{id}', `${memory}/{block}`, isAsked),
  get('/api/v1/memory/{id}/revisions', `${memory}/{block}/revisions`, isAsked),
  row(isAsked, ['GET /api/v1/memory/conversations', `${memory}/conversations?subject={subject}`]),
  row(isAsked, ['POST /api/v1/memory', memory], {
    ...{ isAbout: true, isDone: true },
    body: ({ subject }) => ({ agent: 'desk', subject, key: 'new', text: 'x' }),
  }),
  row(isAsked, ['PUT /api/v1/memory/{id}', `${memory}/{block}`], {
    body: () => ({ text: 'x', expectedRevision: 999 }),
  }),
  row(isAsked, ['DELETE /api/v1/memory/{id}', `${memory}/{block}`], { isDone: true }),
  row(isAsked, ['DELETE /api/v1/memory', `${memory}?subject={subject}`], { isDone: true }),
  row(admin, ['POST /api/v1/check', '/api/v1/check'], { body: () => ({}) }),
  row(definitions, ['GET /api/v1/tools', '/api/v1/tools']),
  row(definitions, ['GET /api/v1/mcp/servers', '/api/v1/mcp/servers']),
  row(admin, ['POST /api/v1/mcp/servers/{name}/refresh', '/api/v1/mcp/servers/box/refresh']),
  row(definitions, ['GET /api/v1/protocols', '/api/v1/protocols']),
  row(definitions, ['GET /api/v1/protocols/{name}/revisions', '/api/v1/protocols/{protocol}/revisions']),
  row(definitions, ['GET /api/v1/protocols/{name}/revisions/{n}', '/api/v1/protocols/{protocol}/revisions/1']),
  row(definitions, ['GET /api/v1/protocols/{name}', '/api/v1/protocols/{protocol}']),
  row(admin, ['PUT /api/v1/protocols/{name}', '/api/v1/protocols/{protocol}'], { body: () => ({}), headers: stale }),
  row(admin, ['DELETE /api/v1/protocols/{name}', '/api/v1/protocols/{protocol}'], { headers: stale }),

  row(starts, ['POST /api/v1/conversations', '/api/v1/conversations'], {
    body: () => ({ agent: 'root' }),
    isDone: true,
  }),
  row(everybody, ['GET /api/v1/conversations', '/api/v1/conversations']),
  get('/api/v1/conversations/{id}', conversation),
  row(owns, ['DELETE /api/v1/conversations/{id}', conversation], { isDone: true }),
  row(owns, ['POST /api/v1/conversations/{id}/fork', `${conversation}/fork`], { body: () => ({ seq: 9999 }) }),
  get('/api/v1/conversations/{id}/export', `${conversation}/export`, admin),
  row(reads, ['GET /api/v1/conversations/{id}/files/{digest}', `${conversation}/files/{digest}`]),
  get('/api/v1/documents/{path}', '/api/v1/documents/{conversation}'),
  get('/api/v1/documents/{path}', '/api/v1/documents/{conversation}/clerk'),
  row(reads, ['GET /api/v1/conversations/{id}/participants', `${conversation}/participants`]),
  row(owns, ['POST /api/v1/conversations/{id}/participants', `${conversation}/participants`], {
    body: () => ({ id: 'dora' }),
  }),
  row(owns, ['DELETE /api/v1/conversations/{id}/participants/{user}', `${conversation}/participants/fred`], {
    isDone: true,
  }),
  row(speaks, ['DELETE /api/v1/conversations/{id}/participants/{user}', `${conversation}/participants/bob`], {
    isDone: true,
  }),
  get('/api/v1/conversations/{id}/artifacts', `${conversation}/artifacts`),
  get('/api/v1/conversations/{id}/model-calls', `${conversation}/model-calls`, definitions),
  row(definitions, [
    'GET /api/v1/conversations/{id}/model-calls/{callNumber}',
    `${conversation}/model-calls/{modelCall}`,
  ]),
  row(definitions, ['GET /api/v1/conversations/{id}/readers', `${conversation}/readers?seq=1`]),
  get('/api/v1/artifacts/{id}', '/api/v1/artifacts/{artifact}'),
  row(reads, ['GET /api/v1/artifacts/{id}/content', '/api/v1/artifacts/{artifact}/content']),
  get('/api/v1/conversations/{id}/events', `${conversation}/events?verbose=true`),
  get('/api/v1/conversations/{id}/events', `${conversation}/events?from=1`),

  row(speaks, ['POST /api/v1/conversations/{id}/runs', `${conversation}/runs`], { body: () => prompt }),
  row(owns, ['POST /api/v1/conversations/{id}/runs', `${conversation}/runs`], {
    body: () => ({ ...prompt, onActive: 'interrupt', ifLastSeq: 0 }),
  }),
  row(admin, ['POST /api/v1/conversations/{id}/runs', `${conversation}/runs`], {
    body: () => ({ ...prompt, author: 'fred' }),
  }),
  row(reads, ['GET /api/v1/conversations/{id}/runs', `${conversation}/runs`]),
  get('/api/v1/runs/{id}', '/api/v1/runs/{run}'),
  row(reads, ['GET /api/v1/runs/{id}/exchanges', '/api/v1/runs/{run}/exchanges']),
  row(reads, ['GET /api/v1/runs/{id}/diagram', '/api/v1/runs/{run}/diagram']),
  row(owns, ['POST /api/v1/runs/{id}/cancel', '/api/v1/runs/{run}/cancel'], { isDone: true }),

  row(everybody, ['GET /api/v1/interruptions', '/api/v1/interruptions']),
  row(answers, ['POST /api/v1/interruptions/{id}/answer', '/api/v1/interruptions/{action}/answer'], {
    ...{ body: () => ({ answer: 1 }), isDone: true },
  }),
  row(isAsked, ['POST /api/v1/interruptions/{id}/answer', '/api/v1/interruptions/{message}/answer'], {
    body: () => ({ answer: { no: 'text' } }),
  }),
  row(answers, ['POST /api/v1/questions/{id}/respond', '/api/v1/questions/{question}/respond'], {
    body: () => ({ answer: { nothing: { options: ['none'] } } }),
  }),

  row(everybody, ['GET /api/v1/tasks', '/api/v1/tasks']),
  get('/api/v1/tasks/{id}', '/api/v1/tasks/{task}'),
  row(owns, ['POST /api/v1/tasks/{id}/messages', '/api/v1/tasks/{task}/messages'], {
    body: () => ({ text: 'x', mode: 'send' }),
  }),
  row(owns, ['POST /api/v1/tasks/{id}/progress', '/api/v1/tasks/{task}/progress'], {
    body: () => ({ question: 'so?' }),
  }),
  row(owns, ['POST /api/v1/tasks/{id}/cancel', '/api/v1/tasks/{task}/cancel'], { isDone: true }),
]

/** Lists that everybody may ask for: who finds something of the conversation in them. */
export const lists: Readonly<Record<string, Right>> = {
  'GET /api/v1/conversations': reads,
  'GET /api/v1/tasks': reads,
  'GET /api/v1/memory': isAsked,
  'GET /api/v1/interruptions': (caller) => reads(caller) || answers(caller),
}
