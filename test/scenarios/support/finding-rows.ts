/** For every code of a finding, agents that have it. Each set has one fault, besides warnings that go with it. */

type Json = Readonly<Record<string, unknown>>

export interface FindingRow {
  readonly severity: 'error' | 'warning'
  readonly code: string
  readonly title: string
  /** Saved before, without a fault. */
  readonly first?: readonly Json[]
  readonly agents: readonly Json[]
  readonly protocols?: readonly Json[]
  readonly knowledge?: readonly Json[]
  /** False for a warning that only a check reports. */
  readonly isStored?: false
}

function agent(id: string, more: Json = {}): Json {
  return { id, model: 'local/any', instructions: 'Work.', ...more }
}

const hidden = { sendToModel: false, policy: 'forbidModelGeneration' }

function query(text: string, more: Json = {}): Json {
  return { name: 'read', description: 'Reads.', source: 'shop', query: text, ...more }
}

function line(...agents: readonly Json[]): Json {
  return { id: 'line', workflow: { kind: 'sequence', agents } }
}

const step = agent('step', { parameters: [{ name: 'topic', ...hidden }] })
const files = { id: 'files', description: 'Files.', attributes: { topic: 'string' }, requiredFilters: ['topic'] }
function reading(filter: Json, more: Json = {}): Json {
  return agent('root', {
    parameters: [{ name: 'topic', ...hidden }],
    knowledgeBases: [{ id: 'files', filter }],
    ...more,
  })
}
const stock = { name: 'stock', messages: [{ name: 'ask', from: 'initiator' }] }

function row(
  severity: FindingRow['severity'],
  code: string,
): (more: Omit<FindingRow, 'severity' | 'code'>) => FindingRow {
  return (more) => ({ severity, code, ...more })
}
const error = (code: string, title: string, ...agents: readonly Json[]) => row('error', code)({ title, agents })
const warning = (code: string, title: string, ...agents: readonly Json[]) => row('warning', code)({ title, agents })

const pattern = (text: string) => ({ name: 'numbers', kind: 'pattern', pattern: text })
const judged = { guardrails: { input: [{ name: 'judge', kind: 'agent', agent: 'judge' }] } }

/** Of an agent that uses tools of MCP servers. */
const using = (server: string, more: Json = {}) => agent('root', { mcp: [{ server, ...more }] })

const errors: readonly FindingRow[] = [
  error('MCP_SERVER_UNKNOWN', 'an MCP server of no configuration', using('none')),
  error('MCP_PARAM_UNKNOWN', 'a binding to no parameter', using('open', { bind: { user_id: 'nobody' } })),
  error('MCP_TOOL_COLLISION', 'two pinned tools of one name', using('kept', { tools: ['same*'] })),
  error(
    'GUARDRAIL_INVALID',
    'a pattern that has no linear search',
    agent('root', { guardrails: { input: [pattern('(?=a)')] } }),
  ),
  error('GUARDRAIL_INVALID', 'a checking agent that does not exist', agent('root', judged)),
  error(
    'GUARDRAIL_INVALID',
    'a checking agent that may not be listed',
    agent('root', judged),
    agent('judge', { parents: [] }),
  ),
  error('KNOWLEDGE_UNKNOWN', 'a knowledge base that does not exist', agent('root', { knowledgeBases: [{ id: 'no' }] })),
  row(
    'error',
    'KNOWLEDGE_FILTER_MISSING',
  )({
    title: 'a base that demands a filter',
    agents: [agent('root', { knowledgeBases: [{ id: 'files' }] })],
    knowledge: [files],
  }),
  row(
    'error',
    'KNOWLEDGE_FILTER_UNBOUND',
  )({
    title: 'a filter by a parameter that is not declared',
    agents: [reading({ topic: 'topics' })],
    knowledge: [files],
  }),
  row(
    'error',
    'KNOWLEDGE_FILTER_UNBOUND',
  )({
    title: 'a filter by an attribute that the base has not',
    agents: [reading({ topic: 'topic', year: 'topic' })],
    knowledge: [files],
  }),
  row(
    'error',
    'KNOWLEDGE_INVALID',
  )({
    title: 'a filter that is demanded, of no attribute',
    agents: [],
    knowledge: [{ ...files, requiredFilters: ['year'] }],
  }),
  error('ADDRESS_INVALID', 'an address of another domain', agent('root', { address: '@root@elsewhere.example' })),
  row(
    'error',
    'WORKFLOW_PARAM_UNBOUND',
  )({
    title: 'a map keeps the value of the conversation from a step',
    first: [step],
    agents: [line({ agent: 'step', map: { topic: null } })],
  }),
  row(
    'error',
    'WORKFLOW_PARAM_UNBOUND',
  )({
    title: 'so does one of two steps, of a workflow saved with them',
    agents: [agent('other'), step, line({ agent: 'other' }, { agent: 'step', map: { topic: null } })],
  }),
  error('AGENT_REF_UNKNOWN', 'a sub-agent that does not exist', agent('root', { subAgents: [{ agent: 'no' }] })),
  error(
    'PARENT_NOT_ALLOWED',
    'a child that names other parents',
    agent('root', { subAgents: [{ agent: 'leaf' }] }),
    agent('leaf', { parents: [] }),
  ),
  error('AGENT_SELF_REFERENCE', 'an agent that lists itself', agent('root', { subAgents: [{ agent: 'root' }] })),
  error('NAME_TAKEN', 'two actions of one name', agent('root', { actions: [{ name: 'Do' }, { name: 'Do' }] })),
  error('TOOL_UNKNOWN', 'a tool that is not configured', agent('root', { tools: ['no'] })),
  error('TOOL_UNKNOWN', 'an approval of no tool', agent('root', { approvals: ['no'] })),
  error('TOOL_UNKNOWN', 'an access list of no tool', agent('root', { access: { tools: { no: [] } } })),
  error(
    'SOURCE_UNKNOWN',
    'a source that is not configured',
    agent('root', { queries: [query('select 1', { source: 'no' })] }),
  ),
  error('MODEL_UNKNOWN', 'a model without a connection', agent('root', { model: 'no/any' })),
  error(
    'PARAM_TYPE_CLASH',
    'one value of two types',
    agent('root', { parameters: [{ name: 'id', type: 'number' }], subAgents: [{ agent: 'leaf' }] }),
    agent('leaf', { parameters: [{ name: 'id', type: 'string' }] }),
  ),
  error('QUERY_NOT_READ_ONLY', 'a query that writes', agent('root', { queries: [query('delete from items')] })),
  error('QUERY_FAILED', 'a query of no table', agent('root', { queries: [query('select * from no')] })),
  error('QUERY_PARAM_UNCOVERED', 'a placeholder without a value', agent('root', { queries: [query('select $id')] })),
  error(
    'AGENT_INVALID',
    'a schema of no type',
    agent('root', { actions: [{ name: 'Do', parametersSchema: { type: 'no' } }] }),
  ),
  error(
    'AGENT_INVALID',
    'a list as the arguments',
    agent('root', { actions: [{ name: 'Do', parametersSchema: { type: 'array' } }] }),
  ),
  error('AGENT_INVALID', 'an agent without instructions', { id: 'root', model: 'local/any' }),
  error('UNKNOWN_KEY', 'a key that is not one', agent('root', { colour: 'red' })),
  error('ID_INVALID', 'an id that is reserved', agent('all')),
  error('LIMIT_INVALID', 'a limit below its bounds', agent('root', { limits: { maxDepth: -1 } })),
  error(
    'PARAM_NAME_RESERVED',
    'a parameter named as a word of calls',
    agent('root', { parameters: [{ name: 'message' }] }),
  ),
  error(
    'PROTOCOL_UNKNOWN',
    'a protocol that does not exist',
    agent('root', { speaks: [{ protocol: 'no', role: 'responder' }] }),
  ),
  row(
    'error',
    'PROTOCOL_ENDS_MISMATCH',
  )({
    title: 'a peer that does not speak the protocol',
    agents: [agent('root', { speaks: [{ protocol: 'stock', role: 'initiator', peers: ['leaf'] }] }), agent('leaf')],
    protocols: [stock],
  }),
  row(
    'error',
    'PROTOCOL_INVALID',
  )({ title: 'a protocol without messages', agents: [], protocols: [{ name: 'stock', messages: [] }] }),
  row(
    'error',
    'TOOL_NAME_TOO_LONG',
  )({
    title: 'a long id and a long message',
    agents: [
      agent('root', { speaks: [{ protocol: 'stock', role: 'initiator', peers: ['l'.repeat(60)] }] }),
      agent('l'.repeat(60), { speaks: [{ protocol: 'stock', role: 'responder' }] }),
    ],
    protocols: [{ name: 'stock', messages: [{ name: 'ask-for-all-of-it', from: 'initiator' }] }],
  }),
]

const warnings: readonly FindingRow[] = [
  warning('MCP_UNPINNED', 'tools that nobody has pinned', using('open')),
  warning('MCP_SECRET_INLINE', 'a secret in the configuration of a server', using('open')),
  warning('MCP_TOOL_UNKNOWN', 'a pattern that no pinned tool fits', using('kept', { tools: ['nothing'] })),
  warning('MCP_TOOLS_LARGE', 'more than 8,000 tokens of tools', using('kept', { tools: ['big*'] })),
  warning('ADDRESS_CLOSED', 'published for nobody', agent('root', { address: 'docs' })),
  warning(
    'ADDRESS_PARAM_UNBOUND',
    'published, with a value that callers elsewhere cannot give',
    agent('root', { address: 'docs', access: { call: ['@*'] }, parameters: [{ name: 'country' }] }),
  ),
  warning(
    'DEMAND_UNRESOLVABLE',
    'a demand of nobody elsewhere, who is let in',
    agent('root', {
      address: 'docs',
      access: { call: ['@*@b.test'] },
      demands: [{ kind: 'consent_required', message: 'May I?', of: ['role:staff'] }],
    }),
  ),
  warning(
    'AGENT_CYCLE',
    'two agents that call each other',
    agent('root', { subAgents: [{ agent: 'leaf' }] }),
    agent('leaf', { subAgents: [{ agent: 'root' }] }),
  ),
  row(
    'warning',
    'AGENT_REF_UNKNOWN',
  )({ title: 'a parent that does not exist', agents: [agent('root', { parents: ['no'] })], isStored: false }),
  warning(
    'ALIAS_SHARED',
    'one prefix for two lists of people',
    agent('root', { subAgents: [{ agent: 'leaf' }], users: [{ id: 'ada' }], anonymizeUsers: 'worker' }),
    agent('leaf', { users: [{ id: 'bob' }], anonymizeUsers: 'worker' }),
  ),
  warning(
    'DESCRIPTION_MISSING',
    'a delegate that nobody describes',
    agent('root', { subAgents: [{ agent: 'leaf' }] }),
    agent('leaf', { description: '' }),
  ),
  warning(
    'DESCRIPTIONS_ALIKE',
    'two delegates with the same words',
    agent('root', { subAgents: [{ agent: 'leaf' }, { agent: 'twig' }] }),
    agent('leaf', { description: 'Knows the stock.' }),
    agent('twig', { description: 'The stock knows!' }),
  ),
  warning(
    'APPROVAL_NAME_UNKNOWN',
    'a condition on no argument',
    agent('root', {
      actions: [
        { name: 'Do', parametersSchema: { type: 'object', properties: { a: {} }, additionalProperties: false } },
      ],
      approvals: [{ tool: 'Do', when: { properties: { b: { const: 1 } } } }],
    }),
  ),
  warning(
    'DELEGATE_UNAVAILABLE',
    'a sub-agent that is disabled',
    agent('root', { subAgents: [{ agent: 'leaf' }] }),
    agent('leaf', { disabled: true }),
  ),
  warning(
    'DEPTH_UNREACHABLE',
    'a path deeper than the limit',
    agent('root', { subAgents: [{ agent: 'mid' }], limits: { maxDepth: 1 } }),
    agent('mid', { subAgents: [{ agent: 'leaf' }] }),
    agent('leaf'),
  ),
  warning(
    'DESCRIPTION_LONG',
    'an action described at length',
    agent('root', { actions: [{ name: 'Do', description: 'x'.repeat(1_025) }] }),
  ),
  warning(
    'DESCRIPTION_LONG',
    'a delegate with more actions than its description can list',
    agent('root', { subAgents: [{ agent: 'leaf' }] }),
    agent('leaf', {
      actions: Array.from({ length: 117 }, (_, index) => ({ name: `Action${index}`, description: 'Acts.' })),
    }),
  ),
  warning(
    'DESCRIPTION_LONG',
    'a delegate whose description leaves no room for its display name',
    agent('root', { subAgents: [{ agent: 'leaf', style: 'agentTool' }] }),
    agent('leaf', { name: 'The Leaf', description: 'x'.repeat(1_020) }),
  ),
  warning(
    'DESCRIPTION_LONG',
    'a transfer target of more words than its line has',
    agent('root', { transfers: [{ agent: 'leaf' }] }),
    agent('leaf', { description: 'x'.repeat(1_020) }),
  ),
  warning(
    'DESCRIPTION_LONG',
    'more people than the description of a tool can list',
    agent('root', { users: Array.from({ length: 200 }, (_, index) => ({ id: `person-${index}` })) }),
  ),
  row(
    'warning',
    'KNOWLEDGE_FILTER_GENERATABLE',
  )({
    title: 'a filter that a model above may supply',
    agents: [reading({ topic: 'topic' }, { parameters: [{ name: 'topic' }] })],
    knowledge: [files],
  }),
  warning(
    'MAP_NAME_UNKNOWN',
    'a map of no parameter',
    agent('root', { subAgents: [{ agent: 'leaf', map: { no: null } }] }),
    agent('leaf'),
  ),
  warning('OUTPUT_MODE_WITHOUT_SCHEMA', 'an output mode alone', agent('root', { outputMode: 'tool' })),
  warning(
    'OUTPUT_SCHEMA_DIFFERS',
    'a hand-over to an agent that answers in another form',
    agent('root', { transfers: [{ agent: 'leaf' }], outputSchema: { type: 'object' } }),
    agent('leaf'),
  ),
  warning(
    'PARAM_EXPOSED_BY_TRANSFER',
    'a hand-over that brings what was shown',
    agent('root', { parameters: [{ name: 'id' }], transfers: [{ agent: 'leaf' }] }),
    agent('leaf', { parameters: [{ name: 'id', ...hidden }] }),
  ),
  warning(
    'PARAM_EXPOSED_UPSTREAM',
    'a value that an agent above is shown',
    agent('root', { parameters: [{ name: 'id' }], subAgents: [{ agent: 'leaf' }] }),
    agent('leaf', { parameters: [{ name: 'id', ...hidden }] }),
  ),
  warning(
    'PARAM_HIDDEN_GENERATABLE',
    'hidden and generated',
    agent('root', { parameters: [{ name: 'id', sendToModel: false }] }),
  ),
  warning('PARAM_SECRET_SHOWN', 'secret and shown', agent('root', { parameters: [{ name: 'id', secret: true }] })),
  warning(
    'PARAM_TYPE_CLASH',
    'a value of two types, in agents beside each other',
    agent('root', { subAgents: [{ agent: 'one' }, { agent: 'two' }] }),
    agent('one', { parameters: [{ name: 'id', type: 'string', ...hidden }] }),
    agent('two', { parameters: [{ name: 'id', type: 'number', ...hidden }] }),
  ),
  warning(
    'PARAM_UNTRUSTED_UPSTREAM',
    'trusted below a model that may generate it',
    agent('root', { subAgents: [{ agent: 'mid' }] }),
    agent('mid', { parameters: [{ name: 'id' }], subAgents: [{ agent: 'leaf' }] }),
    agent('leaf', { parameters: [{ name: 'id', policy: 'forbidModelGeneration' }] }),
  ),
  warning('PARAM_UNUSED', 'hidden and used by nothing', agent('root', { parameters: [{ name: 'id', ...hidden }] })),
  warning('PRICE_UNKNOWN', 'a cost limit without prices', agent('root', { limits: { maxCostUsd: 1 } })),
  row('warning', 'PROTOCOL_UNSPOKEN')({ title: 'a protocol that nobody speaks', agents: [], protocols: [stock] }),
  warning(
    'QUERY_FAILED',
    'a source that cannot be reached',
    agent('root', { queries: [query('select 1', { source: 'gone' })] }),
  ),
  warning(
    'QUERY_UNUSED',
    'a query that nothing runs',
    agent('root', { queries: [query('select 1', { allowModelQueries: false })] }),
  ),
  warning('TOOLS_OFF', 'tools and a mode without', agent('root', { toolMode: 'none', actions: [{ name: 'Do' }] })),
  warning('TOOL_MODE_WITHOUT_TOOLS', 'a mode without tools', agent('root', { toolMode: 'force' })),
]

export const findingRows: readonly FindingRow[] = [...errors, ...warnings]
