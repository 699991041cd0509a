/** Three readers at once; one of them fails, and the others answer. */
import { createRuntime, defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

const reader = (id: string, words: string | Error) =>
  defineAgent({
    id,
    instructions: `You read for ${id}.`,
    model: scriptedModel(
      () => {
        if (words instanceof Error) throw words
        return words
      },
      { id: `demo/${id}` },
    ),
  })
const panel = defineAgent({ id: 'panel', workflow: { kind: 'parallel', agents: ['style', 'facts', 'law'] } })

const readers = [reader('style', 'Too long.'), reader('facts', new Error('no connection')), reader('law', 'Fine.')]
const runtime = createRuntime({ agents: [...readers, panel] })
const { id, run } = await runtime.start({ agent: 'panel', prompt: 'Read this letter.' })
console.log((await run?.result)?.text)
for (const { branch, author, type, kind } of (await runtime.readEvents(id, { verbose: true, branch: 'panel.0' }))
  .events)
  console.log(branch, author, type, kind)
await runtime.close()
