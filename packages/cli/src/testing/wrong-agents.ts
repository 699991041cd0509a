/** Sets of agents that are wired wrongly, each in one way, and exactly what the check says of them. */
import type { AgentInput } from '@witan/protocol'

/** One set. `errors` and `warnings` are `agent path  CODE  detail → what to do`, in the order of the report. */
export interface WrongSet {
  readonly title: string
  readonly agents: readonly unknown[]
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
}

type Draft = Omit<AgentInput, 'model' | 'instructions' | 'id'> & { readonly model?: string }

/** An agent with as little as it needs. */
export function agent(id: string, more: Draft = {}): AgentInput {
  return { id, model: 'local/any', instructions: 'Work.', description: `Does ${id}.`, ...more }
}

/** A parameter that no model sees or makes up. */
export const hidden = { sendToModel: false, policy: 'forbidModelGeneration' } as const

/** Sets without queries; those with queries are beside this file. */
export const wrongSets: readonly WrongSet[] = [
  {
    title: 'a sub-agent that is not there',
    agents: [agent('root', { subAgents: [{ agent: 'reader' }, { agent: 'reeder' }] }), agent('reader')],
    errors: [
      'root subAgents.1.agent  AGENT_REF_UNKNOWN  Agent `root` lists sub-agent `reeder`, which does not exist. Did you mean `reader`? → Create it first, or send both in one batch.',
    ],
    warnings: [],
  },
  {
    title: 'a sub-agent whose name is near to nothing but its own parent',
    agents: [agent('root', { subAgents: [{ agent: 'rout' }, { agent: 'xy' }] }), agent('b')],
    errors: [
      'root subAgents.0.agent  AGENT_REF_UNKNOWN  Agent `root` lists sub-agent `rout`, which does not exist. → Create it first, or send both in one batch.',
      'root subAgents.1.agent  AGENT_REF_UNKNOWN  Agent `root` lists sub-agent `xy`, which does not exist. → Create it first, or send both in one batch.',
    ],
    warnings: [],
  },
  {
    title: 'an agent that lists itself',
    agents: [agent('root', { subAgents: [{ agent: 'root' }] })],
    errors: [
      'root subAgents.0.agent  AGENT_SELF_REFERENCE  Agent `root` lists itself as a sub-agent. → Remove the edge; a specialist of the same kind needs an id of its own.',
    ],
    warnings: [],
  },
  {
    title: 'one name for several tools, and a built-in name',
    agents: [
      agent('root', {
        subAgents: [{ agent: 'leaf' }, { agent: 'leaf' }],
        actions: [{ name: 'leaf' }, { name: 'exit_loop' }],
      }),
      agent('leaf'),
    ],
    errors: [
      'root subAgents.1  NAME_TAKEN  `leaf` is also `subAgents.0`; rename `subAgents.1` of agent `root`. → Queries, actions, sub-agents and tools of one agent share one name space.',
      'root actions.0  NAME_TAKEN  `leaf` is also `subAgents.0`; rename `actions.0` of agent `root`. → Queries, actions, sub-agents and tools of one agent share one name space.',
      'root actions.1  NAME_TAKEN  `exit_loop` is a built-in tool; rename `actions.1` of agent `root`. → Queries, actions, sub-agents and tools of one agent share one name space.',
    ],
    warnings: [],
  },
  {
    title: 'a display name that two agents share',
    agents: [agent('one', { name: 'Desk' }), agent('two', { name: 'desk' })],
    errors: [
      'one name  NAME_TAKEN  Agent `one` named `Desk` could be taken for `two` named `desk`. → An id or a display name must identify one agent; case and spaces do not matter. Choose another name.',
      'two name  NAME_TAKEN  Agent `two` named `desk` could be taken for `one` named `Desk`. → An id or a display name must identify one agent; case and spaces do not matter. Choose another name.',
    ],
    warnings: [],
  },
  {
    title: 'words that name no agent and no parameter',
    agents: [agent('all'), agent('root', { name: 'User', parameters: [{ name: 'message' }] })],
    errors: [
      'all id  ID_INVALID  No agent can be called `all`: the word is reserved. → `user`, `all` and the names of built-in tools mean something else; choose another.',
      'root name  ID_INVALID  No agent can be called `User`: the word is reserved. → `user`, `all` and the names of built-in tools mean something else; choose another.',
      'root parameters.0.name  PARAM_NAME_RESERVED  Parameter name `message` is reserved. → Names that mean something in a tool call or to JavaScript cannot be parameters; choose another.',
    ],
    warnings: [],
  },
  {
    title: 'agents in a circle',
    agents: [
      agent('a', { subAgents: [{ agent: 'b' }] }),
      agent('b', { subAgents: [{ agent: 'c' }] }),
      agent('c', { subAgents: [{ agent: 'a' }] }),
    ],
    errors: [],
    warnings: [
      'a subAgents  AGENT_CYCLE  Cycle: a –subAgents→ b –subAgents→ c –subAgents→ a. Runs are bounded by maxDepth 8, maxTransfers 8 and maxModelCalls 500. → A cycle is allowed; every re-entry is a fresh call.',
      'b subAgents  AGENT_CYCLE  Cycle: b –subAgents→ c –subAgents→ a –subAgents→ b. Runs are bounded by maxDepth 8, maxTransfers 8 and maxModelCalls 500. → A cycle is allowed; every re-entry is a fresh call.',
      'c subAgents  AGENT_CYCLE  Cycle: c –subAgents→ a –subAgents→ b –subAgents→ c. Runs are bounded by maxDepth 8, maxTransfers 8 and maxModelCalls 500. → A cycle is allowed; every re-entry is a fresh call.',
    ],
  },
  {
    title: 'a parent that the child leaves out',
    agents: [agent('root', { subAgents: [{ agent: 'leaf' }] }), agent('leaf', { parents: ['other'] })],
    errors: [
      'root subAgents.0.agent  PARENT_NOT_ALLOWED  Agent `leaf` does not allow `root` as a parent. → Add `root` to `parents` of `leaf`, or remove the edge.',
    ],
    warnings: [
      'leaf parents.0  AGENT_REF_UNKNOWN  `leaf` lets `other` list it, which does not exist. → Create `other`, or take it out.',
    ],
  },
  {
    title: 'a parent that is spelt wrongly',
    agents: [agent('front-desk'), agent('leaf', { parents: ['frontdesk'] })],
    errors: [],
    warnings: [
      'leaf parents.0  AGENT_REF_UNKNOWN  `leaf` lets `frontdesk` list it, which does not exist. → Did you mean `front-desk`?',
    ],
  },
  {
    title: 'a delegate whose trusted value nobody can give',
    agents: [
      agent('root', { subAgents: [{ agent: 'leaf', map: { userId: null } }] }),
      agent('leaf', { parameters: [{ name: 'userId', ...hidden }], actions: [{ name: 'Do' }] }),
    ],
    errors: [],
    warnings: [
      'leaf parameters.0  DELEGATE_UNAVAILABLE  `root/leaf` can never be called: nobody can give `userId`, and no model may. → Map the name on the edge, or declare it on the parent.',
    ],
  },
  {
    title: 'a delegate that is disabled, and a model that may call nothing',
    agents: [agent('root', { subAgents: [{ agent: 'leaf' }], toolMode: 'none' }), agent('leaf', { disabled: true })],
    errors: [],
    warnings: [
      'root subAgents.0.agent  DELEGATE_UNAVAILABLE  `root/leaf` can never be called: `leaf` is disabled. → Enable `leaf`, or take it out of `root`.',
      'root toolMode  TOOLS_OFF  `root` has `toolMode: "none"`, so its model can never call `leaf`. → Set `toolMode: "auto"`, or take them out.',
    ],
  },
  {
    title: 'a parameter that nothing takes',
    agents: [
      agent('root', { parameters: [{ name: 'userId', ...hidden }], subAgents: [{ agent: 'leaf' }] }),
      agent('leaf'),
    ],
    errors: [],
    warnings: [
      'root parameters.0  PARAM_UNUSED  `userId` is hidden from the model of `root`, and no query, action, tool, filter or sub-agent takes it. → Take it out, or use it, such as `$userId` in a query.',
    ],
  },
  {
    title: 'hidden below, shown above',
    agents: [
      agent('root', { parameters: [{ name: 'userId' }], subAgents: [{ agent: 'leaf' }] }),
      agent('leaf', { parameters: [{ name: 'userId', ...hidden }], actions: [{ name: 'Do' }] }),
    ],
    errors: [],
    warnings: [
      'leaf parameters.0  PARAM_EXPOSED_UPSTREAM  `userId` is hidden in `leaf` but shown to `root`, which can repeat it in text. → Set `sendToModel: false` in `root` too.',
    ],
  },
  {
    title: 'hidden below, shown above one that does not declare it [C17]',
    agents: [
      agent('root', { parameters: [{ name: 'userId' }], subAgents: [{ agent: 'mid' }] }),
      agent('mid', { subAgents: [{ agent: 'leaf' }, { agent: 'other', map: { userId: null } }] }),
      agent('leaf', { parameters: [{ name: 'userId', ...hidden }], actions: [{ name: 'Do' }] }),
      agent('other', { parameters: [{ name: 'userId', sendToModel: false }], actions: [{ name: 'Do' }] }),
    ],
    errors: [],
    warnings: [
      'leaf parameters.0  PARAM_EXPOSED_UPSTREAM  `userId` is hidden in `leaf` but shown to `root`, which can repeat it in text. → Set `sendToModel: false` in `root` too.',
      'other parameters.0  PARAM_HIDDEN_GENERATABLE  `userId` is hidden from the model but a parent\'s model may generate it. → Set `policy: "forbidModelGeneration"` or `sendToModel: true`.',
    ],
  },
  {
    title: 'a trusted value that an agent in between may take from a model [E15]',
    agents: [
      agent('root', { subAgents: [{ agent: 'mid' }, { agent: 'strict' }] }),
      agent('mid', { parameters: [{ name: 'id' }], subAgents: [{ agent: 'low' }] }),
      agent('low', { parameters: [{ name: 'id' }], subAgents: [{ agent: 'leaf', map: { userId: 'id' } }] }),
      agent('leaf', { parameters: [{ name: 'userId', policy: 'forbidModelGeneration' }] }),
      agent('strict', {
        parameters: [{ name: 'userId', policy: 'forbidModelGeneration' }],
        subAgents: [{ agent: 'leaf' }],
      }),
    ],
    errors: [],
    warnings: [
      'leaf parameters.0  PARAM_UNTRUSTED_UPSTREAM  `userId` of `leaf` refuses values from a model, but the model of `root` may generate the one that `mid` passes down: a run that calls `leaf` then fails. → Set `policy: "forbidModelGeneration"` in `mid` too.',
    ],
  },
  {
    title: 'hidden, and yet a model may make it up',
    agents: [
      agent('root', { subAgents: [{ agent: 'leaf' }] }),
      agent('leaf', { parameters: [{ name: 'userId', sendToModel: false }], actions: [{ name: 'Do' }] }),
    ],
    errors: [],
    warnings: [
      'leaf parameters.0  PARAM_HIDDEN_GENERATABLE  `userId` is hidden from the model but a parent\'s model may generate it. → Set `policy: "forbidModelGeneration"` or `sendToModel: true`.',
    ],
  },
  {
    title: 'a secret that a model is shown',
    agents: [agent('root', { parameters: [{ name: 'token', secret: true }] })],
    errors: [],
    warnings: [
      'root parameters.0  PARAM_SECRET_SHOWN  `token` is secret, but its value is shown to the model of `root`. → Set `sendToModel: false`, or leave out `secret`.',
    ],
  },
  {
    title: 'one value with two types',
    agents: [
      agent('root', { parameters: [{ name: 'n', type: 'string' }], subAgents: [{ agent: 'leaf' }] }),
      agent('leaf', { parameters: [{ name: 'n', type: 'number' }] }),
    ],
    errors: [
      'leaf parameters.0  PARAM_TYPE_CLASH  `n` is `number` in `leaf` but `string` in `root`, which passes it down. → Give both the same type, or map another name on the edge.',
    ],
    warnings: [],
  },
  {
    title: 'one value with two types under two names',
    agents: [
      agent('root', { parameters: [{ name: 'id', type: 'string' }], subAgents: [{ agent: 'leaf', map: { n: 'id' } }] }),
      agent('leaf', { parameters: [{ name: 'n', type: 'number' }] }),
    ],
    errors: [
      'leaf parameters.0  PARAM_TYPE_CLASH  `n` is `number` in `leaf` but `string` in `root`, which passes it down as `id`. → Give both the same type, or map another name on the edge.',
    ],
    warnings: [],
  },
  {
    title: 'one value with two types, past an agent that does not declare it: the root can never be started',
    agents: [
      agent('root', { parameters: [{ name: 'n', type: 'string' }], subAgents: [{ agent: 'mid' }] }),
      agent('mid', { subAgents: [{ agent: 'leaf', map: { m: 'n' } }] }),
      agent('leaf', { parameters: [{ name: 'm', type: 'number' }] }),
    ],
    errors: [
      'leaf parameters.0  PARAM_TYPE_CLASH  `n` is one value in a conversation, but `string` in `root` and `number` in `leaf` as `m`. → Give both the same type, or map another name on an edge.',
    ],
    warnings: [
      'mid subAgents.0.map.m  MAP_NAME_UNKNOWN  `mid` maps `m` of `leaf` to `n`, which it does not declare: only a conversation can supply it. → Declare `n` on `mid`, or pass it at the start of conversations.',
    ],
  },
  {
    title: 'one trusted value with two types in two specialists; what models make may differ',
    agents: [
      agent('root', { subAgents: [{ agent: 'a' }, { agent: 'b' }] }),
      agent('a', { parameters: [{ name: 'n', policy: 'forbidModelGeneration' }, { name: 'free' }] }),
      agent('b', {
        parameters: [
          { name: 'n', type: 'number', policy: 'forbidModelGeneration' },
          { name: 'free', type: 'number' },
        ],
      }),
    ],
    errors: [],
    warnings: [
      'b parameters.0  PARAM_TYPE_CLASH  `n` is one value in a conversation, but `string` in `a` and `number` in `b`. → Give both the same type, or map another name on an edge.',
    ],
  },
  {
    title: 'a word that no parameter can have, in an agent that is listed all the same',
    agents: [
      agent('root', { subAgents: [{ agent: 'leaf' }] }),
      agent('leaf', { parameters: [{ name: 'topic' }, { name: 'temperature' }] }),
    ],
    errors: [
      'leaf parameters.1.name  PARAM_NAME_RESERVED  Parameter name `temperature` is reserved. → Names that mean something in a tool call or to JavaScript cannot be parameters; choose another.',
    ],
    warnings: [],
  },
  {
    title: 'mapped names that are not declared',
    agents: [
      agent('root', {
        parameters: [{ name: 'customerId' }],
        subAgents: [{ agent: 'leaf', map: { ids: 'customerId', id: 'custmerId', note: 'remark' } }],
      }),
      agent('leaf', { parameters: [{ name: 'id' }, { name: 'note' }] }),
    ],
    errors: [],
    warnings: [
      'root subAgents.0.map.ids  MAP_NAME_UNKNOWN  `root` maps `ids` for `leaf`, which declares no such parameter. → Did you mean `id`?',
      'root subAgents.0.map.id  MAP_NAME_UNKNOWN  `root` maps `id` of `leaf` to `custmerId`, which it does not declare: only a conversation can supply it. → Did you mean `customerId`?',
      'root subAgents.0.map.note  MAP_NAME_UNKNOWN  `root` maps `note` of `leaf` to `remark`, which it does not declare: only a conversation can supply it. → Declare `remark` on `root`, or pass it at the start of conversations.',
    ],
  },
  {
    title: 'a way that is longer than runs go',
    agents: [
      agent('root', { limits: { maxDepth: 1 }, subAgents: [{ agent: 'mid' }] }),
      agent('mid', { subAgents: [{ agent: 'leaf' }] }),
      agent('leaf'),
    ],
    errors: [],
    warnings: [
      'root limits.maxDepth  DEPTH_UNREACHABLE  `root/mid/leaf` is 2 levels deep, but runs of `root` go 1 deep: `leaf` is not offered there. → Raise `limits.maxDepth`, or shorten the path.',
    ],
  },
  {
    title: 'a tool, a source and a model that are not there',
    agents: [
      agent('root', {
        model: 'lokal/any',
        tools: ['lookup'],
        queries: [{ name: 'q', source: 'shp', query: 'select 1' }],
      }),
    ],
    errors: [
      'root tools.0  TOOL_UNKNOWN  Agent `root` names tool `lookup`, which does not exist here. → No tool is configured: give it under `tools`, made with `defineTool`.',
      'root queries.0.source  SOURCE_UNKNOWN  Agent `root` names source `shp`, which does not exist here. → Did you mean `shop`?',
      'root model  MODEL_UNKNOWN  Agent `root` names model `lokal/any`, which does not exist here. → Known: local/….',
    ],
    warnings: [],
  },
  {
    title: 'a schema that is none',
    agents: [agent('root', { actions: [{ name: 'Do', parametersSchema: { type: 'objekt' } }] })],
    errors: [
      'root actions.0.parametersSchema  AGENT_INVALID  The JSON Schema at `actions.0.parametersSchema` cannot be read: Unsupported type: objekt → Draft 2020-12 and draft 7 are understood.',
    ],
    warnings: [],
  },
  {
    title: 'arguments that are no object [Rb41]',
    agents: [
      agent('root', {
        actions: [
          { name: 'Say', parametersSchema: { type: 'string' } },
          { name: 'List', parametersSchema: { type: 'object', properties: [] } },
          { name: 'Show', parametersSample: 'hello' },
          { name: 'Plain', parametersSample: null },
          { name: 'Open', parametersSchema: {} },
        ],
      }),
    ],
    errors: [
      'root actions.0  AGENT_INVALID  The arguments of `Say` are always an object, but its schema or sample is not. → Write `{ "type": "object", "properties": { … } }`, or an object as the sample.',
      'root actions.1  AGENT_INVALID  The arguments of `List` are always an object, but its schema or sample is not. → Write `{ "type": "object", "properties": { … } }`, or an object as the sample.',
      'root actions.2  AGENT_INVALID  The arguments of `Show` are always an object, but its schema or sample is not. → Write `{ "type": "object", "properties": { … } }`, or an object as the sample.',
    ],
    warnings: [],
  },
  {
    title: 'several mistakes in the form of one, and one in the wiring of each',
    agents: [
      {
        ...agent('root', { subAgents: [{ agent: 'lief' }, { agent: 'leaf' }] }),
        ...{ instruction: 'x', mcp: [{ name: 'files' }] },
        limits: { maxDepth: 0, maxIterations: 1.5 },
      },
      { ...agent('leaf', { subAgents: [{ agent: 'rot' }] }), temperature: 9 },
    ],
    errors: [
      'root mcp.0.server  AGENT_INVALID  Agent `root`: `mcp.0.server` is missing: string expected. → Add it.',
      'root mcp.0.name  UNKNOWN_KEY  Agent `root`: unknown key `mcp.0.name`. → Known keys: server, tools, approval, bind, bindHeaders, descriptions. A key of a feature that this version does not have is refused too.',
      'root limits.maxIterations  LIMIT_INVALID  limits.maxIterations must be an integer 1–1000. → Leave a limit out to take its default.',
      'root limits.maxDepth  LIMIT_INVALID  limits.maxDepth must be an integer 1–1000. → Leave a limit out to take its default.',
      'root instruction  UNKNOWN_KEY  Agent `root`: unknown key `instruction`, nearest is `instructions`. → Did you mean `instructions`?',
      'leaf temperature  AGENT_INVALID  Agent `leaf`: `temperature` is not valid: Too big: expected number to be <=2. → The OpenAPI document at /api/v1/openapi.json has the schema.',
      'root subAgents.0.agent  AGENT_REF_UNKNOWN  Agent `root` lists sub-agent `lief`, which does not exist. Did you mean `leaf`? → Create it first, or send both in one batch.',
      'leaf subAgents.0.agent  AGENT_REF_UNKNOWN  Agent `leaf` lists sub-agent `rot`, which does not exist. Did you mean `root`? → Create it first, or send both in one batch.',
    ],
    warnings: [],
  },
  {
    title: 'what is left out, and keys of a trim',
    agents: [
      { id: 'root' },
      { ...agent('one'), history: { trim: { kind: 'truncate', tokens: 9 } } },
      { ...agent('two'), history: { trim: { kind: 'summarize', maxTokensBefore: 'x', endPrompt: 5 } } },
    ],
    errors: [
      'root model  AGENT_INVALID  Agent `root`: `model` is missing: string expected. → Add it: an agent needs `id`, and either `model` and `instructions` or `workflow`.',
      'root instructions  AGENT_INVALID  Agent `root`: `instructions` is missing: string expected. → Add it: an agent needs `id`, and either `model` and `instructions` or `workflow`.',
      'one history.trim.tokens  UNKNOWN_KEY  Agent `one`: unknown key `history.trim.tokens`. → Known keys: kind, maxTokensBefore, maxTokensAfter, beginningPrompt, endPrompt, resultPrefix, messagesBefore, messagesAfter. A key of a feature that this version does not have is refused too.',
      'two history.trim.maxTokensBefore  LIMIT_INVALID  history.trim.maxTokensBefore must be a positive integer within its range. → Omit it for its default; the size after a trim cannot exceed the size that starts it.',
      'two history.trim.endPrompt  AGENT_INVALID  Agent `two`: `history.trim.endPrompt` is not valid: Invalid input: expected string, received number. → The OpenAPI document at /api/v1/openapi.json has the schema.',
    ],
    warnings: [],
  },
  {
    title: 'one agent twice',
    agents: [agent('root'), agent('root')],
    errors: ['root agents.1.id  NAME_TAKEN  Agent `root` is in the batch twice. → Send each agent once.'],
    warnings: [],
  },
  {
    title: 'what is no agent at all',
    agents: [
      { id: 'A B', model: 'local/any', instructions: 'x' },
      { model: 'local/any', instructions: 'x' },
    ],
    errors: [
      'A B id  ID_INVALID  Agent id `A B`: use a-z, 0-9 and `-`, at most 64. → Ids appear in paths and as tool names.',
      'agents.1 id  ID_INVALID  The agent id: use a-z, 0-9 and `-`, at most 64. → Ids appear in paths and as tool names.',
    ],
    warnings: [],
  },
]
