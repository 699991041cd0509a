/** Two runtimes on one store, as in two processes: what one of them stores, the other reads; both say that they are well. */
import { createRuntime, defineAgent, postgresStore } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

const url = process.env.DATABASE_URL ?? 'postgres://localhost/app'
const guide = defineAgent({ id: 'guide', instructions: 'Be short.', model: scriptedModel(() => 'Turn left.') })
const open = () => createRuntime({ store: postgresStore({ url, schema: 'witan_example' }), agents: [guide] })
const [working, reading] = [open(), open()]
await Promise.all([working.ready, reading.ready])

const { id, run } = await working.start({ agent: 'guide', prompt: 'Where to?' })
await run?.result
for (const { seq, type, content } of (await reading.readEvents(id)).events) {
  console.log(seq, type, 'text' in content ? content.text : '')
}
await Promise.all([working.health(), reading.health()])
console.log('both can take work')
await Promise.all([working.close(), reading.close()])
