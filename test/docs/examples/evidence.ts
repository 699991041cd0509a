/** Access by whom a caller acts for. Anybody's server can say for whom it acts, so an address stands beside it. */
import { createRuntime } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

const runtime = createRuntime({ models: { 'demo/docs': scriptedModel(() => 'It is blue.') } })
const docs = { id: 'docs', instructions: 'Answer from the manual.', model: 'demo/docs' }
const forAnna = 'for:mailto:anna@example.com'

for (const call of [[[forAnna]], [['@*@b.example', forAnna]]]) {
  const saving = runtime.agents.save({ ...docs, access: { call } })
  console.log(
    ...(await saving.then(
      () => ['saved'],
      ({ code, path }) => [code, path],
    )),
  )
}
await runtime.close()
