/** The tools of a modeler: they read a process model that is an artifact, and find what is wrong with it or draw it. */
import { defineTool } from '@witan/core'
import { z } from 'zod'
import { check } from './check.ts'
import { mermaidOf } from './mermaid.ts'
import { parseProcessModel } from './process-model.ts'

/** The names of the artifacts. */
export const modelName = 'process-model.json'
export const drawingName = 'process-model.mmd'

const parameters = z.object({
  artifact_id: z.string().describe('The id of the artifact that holds the process model.'),
})

/** `{ findings: [{ code, where, detail }] }`; no findings for a sound model. */
export const checkProcessModel = defineTool({
  name: 'check_process_model',
  description:
    'Checks the form of a process model: one start, ways to an end, gateways, conditions, lanes. Returns findings.',
  parameters,
  effect: 'none',
  async execute({ artifact_id }, { artifacts }) {
    const { text } = await artifacts.read(artifact_id)
    const model = parseProcessModel(text ?? '')
    if ('problems' in model)
      return { findings: model.problems.map((detail) => ({ code: 'FORM', where: 'the file', detail })) }
    return { findings: check(model) }
  },
})

/** Saves a second artifact, which names the model as its input. */
export const drawProcessModel = defineTool({
  name: 'draw_process_model',
  description: 'Draws a process model as a Mermaid flowchart, and saves it as another artifact.',
  parameters,
  effect: 'keyed',
  async execute({ artifact_id }, { artifacts }) {
    const { text } = await artifacts.read(artifact_id)
    const model = parseProcessModel(text ?? '')
    if ('problems' in model) return { error: `not a process model: ${model.problems.join('; ')}` }
    const { id } = await artifacts.save({
      name: drawingName,
      mediaType: 'text/vnd.mermaid',
      text: mermaidOf(model),
    })
    return { artifact_id: id }
  },
})
