/** Agents that must be refused, row by row: the status, the code, the word that is wrong, and what to do about it. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { assertProblem, type ExpectedProblem } from './support/claims.ts'
import { agent, type AgentJson, createStage, type Stage, sub } from './support/stage.ts'

let stage: Stage
before(async () => {
  stage = await createStage({ prepare: (folder) => ({ sources: { shop: source(folder) } }) })
  await stage.save(agent('profile'))
})
after(() => stage?.close())

function source(folder: string): Record<string, string> {
  const file = join(folder, 'shop.db')
  const database = new DatabaseSync(file)
  database.exec('create table orders (id integer primary key, owner text)')
  database.close()
  return { kind: 'sqlite', file }
}

interface Row {
  title: string
  agent: AgentJson
  expected: ExpectedProblem
}

const row = (
  title: string,
  bad: AgentJson,
  expected: Omit<ExpectedProblem, 'status'> & { status?: number | number[] },
): Row => ({
  title,
  agent: bad,
  expected: { status: 422, ...expected },
})
const parameter = (name: string, more: Record<string, unknown> = {}) => ({ name, type: 'string', ...more })
const query = (text: string, more: Record<string, unknown> = {}) =>
  agent('bad', {
    parameters: [parameter('userId', { sendToModel: false, policy: 'forbidModelGeneration' })],
    queries: [{ name: 'get', description: 'Gets.', source: 'shop', query: text, parametersSchema: {}, ...more }],
  })

const references: Row[] = [
  row('an unknown sub-agent, with the nearest known one [R04] [E01]', agent('bad', { subAgents: [sub('profil')] }), {
    code: 'AGENT_REF_UNKNOWN',
    names: ['bad', 'profil', '`profile`'],
  }),
  row('itself as sub-agent [E03]', agent('bad', { subAgents: [sub('bad')] }), {
    code: 'AGENT_SELF_REFERENCE',
    names: ['bad'],
  }),
  row(
    'an action named as its sub-agent [E04]',
    agent('bad', { subAgents: [sub('profile')], actions: [{ name: 'profile', description: 'x' }] }),
    { code: 'NAME_TAKEN', names: ['profile'] },
  ),
  row(
    'two actions of one name',
    agent('bad', {
      actions: [
        { name: 'same', description: 'x' },
        { name: 'same', description: 'y' },
      ],
    }),
    { code: 'NAME_TAKEN', names: ['same'] },
  ),
  row(
    'one sub-agent twice [E11]',
    agent('bad', { subAgents: [sub('profile'), sub('profile', { description: 'Other.' })] }),
    { names: ['profile'] },
  ),
  ...['transfer_to_agent', 'set_output', 'exit_loop', 'message_sub_agent'].map((name) =>
    row(`an action named as the built-in ${name} [E04]`, agent('bad', { actions: [{ name, description: 'x' }] }), {
      code: 'NAME_TAKEN',
      names: [name],
    }),
  ),
]

const ids: Row[] = ['a/b', 'a..b', 'a$b', 'Upper', 'under_score', 'spa ce', 'x'.repeat(65), ''].map((id) =>
  row(`the id ${JSON.stringify(id.slice(0, 12))} [C28]`, agent(id, { model: 'play/x' }), {
    code: 'ID_INVALID',
    names: id.length > 20 ? [] : [id],
  }),
)

const parameters: Row[] = [
  ...['__proto__', 'constructor', 'message', 'blocking', 'model', 'temperature', 'request', 'task_id'].map((name) =>
    row(`the parameter ${name}`, agent('bad', { parameters: [parameter(name)] }), {
      code: 'PARAM_NAME_RESERVED',
      names: [name],
    }),
  ),
  row('two parameters of one name [Rb43]', agent('bad', { parameters: [parameter('city'), parameter('city')] }), {
    names: ['city'],
  }),
]

const caps: Row[] = ['maxIterations', 'maxDepth', 'maxModelCalls', 'maxParallel', 'maxModelIterationsPerCall'].flatMap(
  (name) =>
    [0, -1, 1.5, 1e9].map((value) =>
      row(`limits.${name} of ${value} [E33]`, agent('bad', { limits: { [name]: value } }), {
        code: 'LIMIT_INVALID',
        names: [name],
      }),
    ),
)

const queries: Row[] = [
  row('a query with an uncovered placeholder [Rb42]', query('select * from orders where owner = $owner'), {
    code: 'QUERY_PARAM_UNCOVERED',
    names: ['$owner'],
  }),
  ...[
    'select 1; select 2',
    'delete from orders',
    "update orders set owner = 'x'",
    'insert into orders (owner) values ($userId)',
    'drop table orders',
    'pragma journal_mode',
    "attach database 'x.db' as x",
    "select * from orders where owner = '$userId'",
  ].map((text) => row(`the query ${text} [Rb42] [D16]`, query(text), { code: 'QUERY_NOT_READ_ONLY' })),
]

const keys: Row[] = [
  row('an unknown key, with the nearest known one', agent('bad', { instruction: 'x' }), {
    code: 'UNKNOWN_KEY',
    names: ['instruction', 'instructions'],
  }),
  row('an unknown key of a parameter', agent('bad', { parameters: [parameter('city', { sendToModell: true })] }), {
    code: 'UNKNOWN_KEY',
    names: ['sendToModell'],
  }),
  row('an unknown key of an edge', agent('bad', { subAgents: [sub('profile', { descripton: 'x' })] }), {
    code: 'UNKNOWN_KEY',
    names: ['descripton'],
  }),
  row('an unknown key of the limits', agent('bad', { limits: { maxIteration: 2 } }), {
    code: 'UNKNOWN_KEY',
    names: ['maxIteration'],
  }),
  row('an unknown key of a query', query('select 1 as one', { sql: 'x' }), { code: 'UNKNOWN_KEY', names: ['sql'] }),
]

const shapes: Row[] = [
  row('no model', { id: 'bad', instructions: 'x' }, { status: [400, 422], names: ['model'] }),
  row('no instructions', { id: 'bad', model: 'play/bad' }, { status: [400, 422], names: ['instructions'] }),
  row('a parameter of no known type', agent('bad', { parameters: [parameter('city', { type: 'object' })] }), {
    status: [400, 422],
  }),
  row('an action with a slash in its name [E08]', agent('bad', { actions: [{ name: 'a/b', description: 'x' }] }), {
    status: [400, 422],
    names: ['a/b'],
  }),
  row('an action with a dollar in its name [E08]', agent('bad', { actions: [{ name: 'a$b', description: 'x' }] }), {
    status: [400, 422],
    names: ['a$b'],
  }),
]

for (const { title, agent: bad, expected } of [references, ids, parameters, caps, queries, keys, shapes].flat()) {
  test(`an agent is refused: ${title}`, async () => {
    assertProblem(await stage.witan.call('POST', '/api/v1/agents', { body: bad }), expected)
    const batch = await stage.witan.call('POST', '/api/v1/agents/batch', { body: { agents: [bad] } })
    assertProblem(batch, expected)
    if (/^[a-z0-9-]{1,64}$/.test(bad.id))
      assert.equal((await stage.witan.call('GET', `/api/v1/agents/${bad.id}`)).status, 404)
  })
}
