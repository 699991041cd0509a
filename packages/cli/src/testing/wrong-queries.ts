/** Sets of agents whose queries are wrong, and exactly what the check says of them. */
import { agent, hidden, type WrongSet } from './wrong-agents.ts'

const readItems = (query: string) => [{ name: 'read', source: 'shop', query }]

export const wrongQueries: readonly WrongSet[] = [
  {
    title: 'a query that nobody runs, and one whose source is not there',
    agents: [
      agent('root', {
        parameters: [{ name: 'userId', ...hidden }],
        queries: [
          { name: 'never', source: 'shop', query: 'select 1 as one', allowModelQueries: false },
          {
            name: 'read',
            source: 'shup',
            query: "select '$quoted' from items where owner = $owner and user = $userId",
          },
        ],
      }),
    ],
    errors: [
      'root queries.1.source  SOURCE_UNKNOWN  Agent `root` names source `shup`, which does not exist here. → Did you mean `shop`?',
      'root queries.1.query  QUERY_PARAM_UNCOVERED  `$owner` is neither an agent parameter nor a required tool argument. → Declare the parameter, or list the name in `parametersSchema.required`.',
    ],
    warnings: [
      'root queries.0  QUERY_UNUSED  `never` never runs: no model may call it, and it is not part of the initial context. → Set `allowModelQueries` or `addToInitialContext`, or take it out.',
    ],
  },
  {
    title: 'a query of two statements',
    agents: [agent('root', { queries: readItems('select 1; select 2') })],
    errors: [
      'root queries.0.query  QUERY_NOT_READ_ONLY  `read`: Only one SELECT is allowed; found `;` at 1:9. → A query is a single statement that only reads.',
    ],
    warnings: [],
  },
  {
    title: 'a query that writes',
    agents: [agent('root', { queries: readItems('delete from items') })],
    errors: [
      'root queries.0.query  QUERY_NOT_READ_ONLY  `read`: Only SELECT, VALUES and WITH … SELECT are allowed; found `delete` at 1:1. → A query is a single statement that only reads.',
    ],
    warnings: [],
  },
  {
    title: 'a query that the database does not understand',
    agents: [agent('root', { queries: readItems('select * from nowhere') })],
    errors: [
      'root queries.0.query  QUERY_FAILED  `read`: no such table: nowhere → Correct the text: `shop` must understand it, with placeholders written `$name`.',
    ],
    warnings: [],
  },
  {
    title: 'a placeholder of another database [bad input 16]',
    agents: [agent('root', { parameters: [{ name: 'id' }], queries: readItems('select :id') })],
    errors: [
      'root queries.0.query  QUERY_FAILED  `read`: Placeholders are written `$name`; found `:id` at 1:8. → Correct the text: `shop` must understand it, with placeholders written `$name`.',
    ],
    warnings: [],
  },
  {
    title: 'placeholders covered by nothing, and twice',
    agents: [
      agent('root', {
        parameters: [{ name: 'id' }],
        queries: [
          {
            ...readItems('select * from items where id = $id and owner = $owner')[0],
            parametersSchema: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] },
          } as never,
        ],
      }),
    ],
    errors: [
      'root queries.0.query  QUERY_PARAM_UNCOVERED  `$owner` is neither an agent parameter nor a required tool argument. → Declare the parameter, or list the name in `parametersSchema.required`.',
      'root queries.0.parametersSchema  NAME_TAKEN  `id` is an agent parameter and a tool argument of `read`. → A value is either bound or written by the model: rename one of the two.',
    ],
    warnings: [],
  },
]
