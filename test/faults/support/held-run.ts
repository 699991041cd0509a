/** A process that starts a run on a SQLite file and is held in the middle of it: once the delegate's start is stored it says so, and its model waits without end. */
import { createRuntime, sqliteStore } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import { agent, cast } from '../../support/stage.ts'

const file = process.argv[2]
if (file === undefined) throw new Error('held-run needs the file of the store')

const model = scriptedModel(
  cast({
    root: [call('leaf', { message: 'look' })],
    leaf: [{ text: 'half', hang: true }],
  }),
)
const runtime = createRuntime({
  store: sqliteStore({ file }),
  models: { 'play/model': model },
  agents: [agent('root', { subAgents: [{ agent: 'leaf' }] }), agent('leaf')],
})
const opened = await runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
for await (const event of runtime.followEvents('chats/1', { verbose: true, signal: new AbortController().signal })) {
  if (event.type === 'start' && event.author === 'leaf') break
}
console.log(`held ${opened.run?.runId}`)
// Held until it is killed.
setInterval(() => {}, 60_000)
