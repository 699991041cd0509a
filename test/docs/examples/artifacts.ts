/** Two agents share a file by its id: one saves it, the other makes a second file of it. */
import { createRuntime, defineAgent, defineTool } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import { z } from 'zod'

const draw = defineTool({
  name: 'draw',
  description: 'Draws a log as a picture.',
  parameters: z.object({ artifact_id: z.string() }),
  async execute({ artifact_id }, { artifacts }) {
    const { text } = await artifacts.read(artifact_id)
    const svg = `<svg><!-- ${text?.length} --></svg>`
    return (await artifacts.save({ name: 'model.svg', mediaType: 'image/svg+xml', text: svg })).id
  },
})
const idIn = (text = '') => /art_\w+/.exec(text)?.[0] ?? ''
const log = { name: 'log.csv', media_type: 'text/csv', text: 'a\nb\nc' }

const miner = defineAgent({
  id: 'miner',
  instructions: 'Save the log.',
  artifacts: true,
  model: scriptedModel(
    (request, turn) => (turn === 0 ? call('save_artifact', log) : `Saved ${idIn(toolResults(request)[0])}.`),
    { id: 'demo/miner' },
  ),
})
const drawer = defineAgent({
  id: 'drawer',
  instructions: 'Let the log be mined, and draw it.',
  subAgents: [{ agent: 'miner' }],
  tools: [draw],
  model: scriptedModel(
    (request, turn) => {
      if (turn === 0) return call('miner', { message: 'Mine.' })
      return turn === 1 ? call('draw', { artifact_id: idIn(toolResults(request)[0]) }) : 'It is drawn.'
    },
    { id: 'demo/drawer' },
  ),
})

const runtime = createRuntime({ agents: [drawer, miner] })
await runtime.conversation('drawer', { id: 'chats/1' }).run('Show me the process.')
const { items } = await runtime.artifacts.list('chats/1')
const nameOf = new Map(items.map(({ id, name }) => [id, name]))
for (const { name, bytes, agentPath, inputs } of items) {
  const from = inputs.map((id) => nameOf.get(id))
  console.log(name, `${bytes} bytes by`, agentPath, 'from', from)
}
await runtime.close()
