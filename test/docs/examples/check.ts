/** What can be known before anything runs: findings, who sees which parameter, and which actions need a handler. */
import { createRuntime } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

const runtime = createRuntime({ models: { 'demo/any': scriptedModel(() => 'ok') } })
const base = { model: 'demo/any', instructions: 'Work.' }
const report = await runtime.agents.check([
  {
    ...base,
    id: 'desk',
    parameters: [{ name: 'userId' }],
    subAgents: [{ agent: 'records' }, { agent: 'archiv' }],
  },
  {
    ...base,
    id: 'records',
    description: 'Knows the records.',
    parameters: [
      { name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' },
      { name: 'topic', description: 'What to read about.' },
    ],
    actions: [{ name: 'Correct' }],
  },
  { ...base, id: 'archive' },
])
for (const { severity, code, agent, detail, hint } of [...report.errors, ...report.warnings])
  console.log(`${severity} ${code} (${agent}) ${detail}\n  → ${hint}`)
for (const { path, parameter, boundFrom, shown, mayGenerate } of report.matrix)
  console.log(path, parameter, 'from', boundFrom, shown ? 'shown' : 'hidden', mayGenerate ? 'generatable' : 'bound')
console.log('handlers:', report.handlers)
await runtime.close()
