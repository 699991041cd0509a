/** What a runtime tells its program: runs that it takes and leaves, as a server's log has them. */
import { createRuntime, defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

const clerk = defineAgent({ id: 'clerk', instructions: 'Help.', model: scriptedModel(() => 'Monday.') })
const runtime = createRuntime({
  agents: [clerk],
  working: ({ state, agent, kind }) => console.log(`${kind} of ${agent}: ${state}`),
  report: (error, place) => console.error(error, place?.run),
})
await runtime.conversation('clerk', { id: 'chats/1' }).run('When?')
await runtime.close()
