/**
 * What a long reply costs that is made to keep the scrubber busy: `npm run bench:scrub -- [--characters 900000] [--rounds 5] [--json FILE]`.
 * A model with a hidden value writes it beside a call of a tool, and reads it again in its next step. CPU of the run, most of it one pass of
 * the scrubber, in which nothing else of the process can run.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createRuntime, defineAgent, defineTool, memoryStore } from '@witan/core'
import { z } from 'zod'
import { aboutHere } from './about.ts'
import { figureOf } from './figure.ts'
import { gridOf, short } from './grid.ts'
import { instantModel } from './instant-model.ts'
import { cpuNow } from './measure.ts'

const { values: options } = parseArgs({
  options: {
    characters: { type: 'string', default: '900000' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'string' },
  },
})

const hidden = 'employees/3'

/** What a reply repeats, as often as it may. */
const pieces = {
  words: 'The quick brown fox says hello to employees. ',
  backslashes: '\\',
  'escapes of JSON': 'a\\nb\\t"\\u0041',
  ampersands: '&',
  'nearly the value, with an escape': 'employees\\/',
  'nearly the value, escaped for JSON': '\\u0065\\u006d\\u0070\\u006c',
  'nearly the value, escaped for a URL': '%65%6d%70',
  'nearly the value, escaped for HTML': '&#101;&#x6d;p',
  "the value's letters with unseen characters between": 'e\u200bm\u200bp\u200b',
}

/** CPU ms of runs whose first reply has this text. `value` is hidden; null for a run without a hidden value. */
async function costOf(text: string, value: string | null): Promise<number[]> {
  const note = defineTool({ name: 'note', description: 'Notes.', parameters: z.object({}), execute: () => 'ok' })
  const role = {
    tool: true,
    subAgents: [],
    reply: (step: number) => (step === 0 ? { text, calls: [{ name: 'note', arguments: {} }] } : { text: 'done' }),
  }
  const parameters = value === null ? [] : [{ name: 'key', secret: true, sendToModel: false }]
  const given = value === null ? {} : { parameters: { key: value } }
  const model = instantModel('root', role, { ms: 0 })
  const agent = defineAgent({ id: 'root', instructions: 'Note it.', model, tools: [note], parameters })
  const runtime = createRuntime({ agents: [agent], store: memoryStore() })
  await runtime.ready
  const costs: number[] = []
  for (let round = 0; round < Number(options.rounds); round += 1) {
    const from = cpuNow()
    const { run } = await runtime.start({ agent: 'root', prompt: 'Go.', ...given })
    const result = await run?.result
    if (result?.status !== 'completed') throw new Error(`the run ended as ${result?.status ?? 'nothing'}`)
    costs.push((cpuNow() - from) / 1_000)
  }
  await runtime.close()
  return costs
}

const about = aboutHere()
const costs = []
for (const [what, piece] of Object.entries(pieces)) {
  const count = Number(options.characters)
  const text = piece.repeat(Math.ceil(count / piece.length)).slice(0, count)
  const [without, hides] = [figureOf(await costOf(text, null)), figureOf(await costOf(text, hidden))]
  costs.push({ what, without, hides })
}
console.log(`${about.text}; CPU ms of a run whose reply has ${options.characters} characters\n`)
const rows = costs.map(({ what, without, hides }) => [what, short(without.min), short(hides.min), short(hides.median)])
console.log(gridOf(['', 'nothing hidden, lowest', 'a hidden value, lowest', 'median'], rows))
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify({ about, costs }, null, 2)}\n`)
