/** The two ways in which something goes wrong: refused input is thrown, trouble within a run is in its result. */
import { createRuntime, defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { errorTable, isWitanError } from '@witan/protocol'

const broken = defineAgent({
  id: 'broken',
  instructions: 'Try.',
  model: scriptedModel(() => new Error('the provider says no'), { id: 'demo/broken' }),
})
const runtime = createRuntime({ agents: [broken] })

try {
  await runtime.conversation('brokn').run('Hello')
} catch (error) {
  if (!isWitanError(error)) throw error
  console.log(error.code, errorTable[error.code].status, error.retryable)
  console.log(error.message, error.hint)
}

const result = await runtime.conversation('broken').run('Hello')
console.log(result.status, result.error?.code)
console.log(result.error?.detail)
await runtime.close()
