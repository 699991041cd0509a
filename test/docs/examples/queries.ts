/** A query bound to who asks: the model may not choose whose rows it reads. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createRuntime, defineAgent } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'

const folder = mkdtempSync(join(tmpdir(), 'witan-docs-'))
const database = new DatabaseSync(join(folder, 'shop.db'))
database.exec(`create table orders (id text, employee text, total real);
  insert into orders values ('1', 'employees/3', 12.5), ('2', 'employees/3', 40), ('3', 'employees/9', 99)`)
database.close()

const orders = defineAgent({
  id: 'orders',
  instructions: 'Look up orders.',
  model: scriptedModel((request) => toolResults(request)[0] ?? call('my-orders', { least: 20, userId: 'employees/9' })),
  parameters: [{ name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' }],
  queries: [
    {
      name: 'my-orders',
      description: 'The orders of the employee from a total on.',
      source: 'shop',
      query: 'select id, total from orders where employee = $userId and total >= $least',
      parametersSchema: { type: 'object', properties: { least: { type: 'number' } }, required: ['least'] },
    },
  ],
})

const runtime = createRuntime({
  sources: { shop: { kind: 'sqlite', file: join(folder, 'shop.db') } },
  agents: [orders],
})
const chat = runtime.conversation('orders', { parameters: { userId: 'employees/3' } })
console.log((await chat.run('Which of my orders are above 20?')).text)

const [query] = orders.data.queries
const { errors } = await runtime.agents.check([
  { ...orders.data, id: 'bad', queries: [{ ...query, query: 'delete from orders where employee = $userId' }] },
])
for (const { code, path } of errors) console.log(code, path)
await runtime.close()
rmSync(folder, { recursive: true })
