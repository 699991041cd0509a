/** A writer and a reviewer, round by round, until the reviewer is content. */
import { createRuntime, defineAgent } from '@witan/core'
import { call, lastUserMessage, scriptedModel } from '@witan/core/testing'

const drafts: string[] = []
const writer = defineAgent({
  id: 'writer',
  instructions: 'Write, and follow the review.',
  model: scriptedModel(() => `draft ${drafts.push('draft')}`, { id: 'demo/writer' }),
})
const review = defineAgent({
  id: 'review',
  instructions: 'Say what to change, or end the loop.',
  model: scriptedModel(
    (request) => (lastUserMessage(request).includes('draft 2') ? call('exit_loop', {}) : 'Be shorter.'),
    { id: 'demo/review' },
  ),
})
const refine = defineAgent({
  id: 'refine',
  workflow: { kind: 'loop', agents: ['writer', 'review'], maxIterations: 5, exitBy: ['review'] },
})

const runtime = createRuntime({ agents: [writer, review, refine] })
const { id, run } = await runtime.start({ agent: 'refine', prompt: 'A letter to Ada.' })
const { text, finishReason } = (await run?.result) ?? { text: '', finishReason: '' }
console.log(text, finishReason)
for (const { type, kind, author, content } of (await runtime.readEvents(id, { verbose: true })).events)
  if (type === 'start' && kind === 'agent' && content.step) console.log(`round ${content.step.round}: ${author}`)
await runtime.close()
