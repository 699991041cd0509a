/** An agent that criticises its answer before anybody reads it, and answers again. */
import { createRuntime, defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

const travel = defineAgent({
  id: 'travel',
  instructions: 'Find a train.',
  enableReflection: true,
  reflection: { criteria: 'It names the price.' },
  model: scriptedModel(
    ({ messages }) => {
      const asked = messages.at(-1)?.content ?? ''
      if (asked.includes('"task":"check"')) return '{"verdict":"revise","problems":["It names no price."]}'
      return asked.includes('"task":"revise"') ? 'The train costs 30 euros.' : 'The train is cheap.'
    },
    { id: 'demo/travel' },
  ),
})

const runtime = createRuntime({ agents: [travel] })
const chat = runtime.conversation('travel')
const { text, usage } = await chat.run('What does the train cost?')
console.log(text, usage.modelCalls, 'model calls')
const { messages } = await runtime.getDocument(chat.id)
for (const { role, text: said, draft } of messages) console.log(`${draft === true ? 'draft' : role}:`, said)
await runtime.close()
