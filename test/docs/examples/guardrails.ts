/** Guardrails: card numbers are taken out before they are stored, and no answer leaves that promises a refund. */
import { createRuntime, defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

const desk = defineAgent({
  id: 'desk',
  instructions: 'Help customers.',
  guardrails: {
    input: [{ name: 'cards', kind: 'pattern', pattern: '\\d(?:[ -]?\\d){12,15}', action: 'redact' }],
    output: [
      {
        name: 'promises',
        kind: 'pattern',
        pattern: '(?i)refund',
        message: 'Promise no refund: offer to look into it.',
      },
      { name: 'tone', kind: 'agent', agent: 'judge' },
    ],
  },
  model: scriptedModel(
    ({ messages }) => {
      const last = messages.at(-1)?.content ?? ''
      return last.includes('Promise no refund') ? 'I will look into it.' : 'You get a refund!'
    },
    { id: 'demo/desk' },
  ),
})

const judge = defineAgent({
  id: 'judge',
  instructions: 'Is the text polite? Answer {"allow": boolean, "reason": string}.',
  model: scriptedModel(() => '{"allow":true,"reason":"It is polite."}', { id: 'demo/judge' }),
})

const runtime = createRuntime({ agents: [desk, judge] })
const chat = runtime.conversation('desk')
const { text } = await chat.run('My card 4111 1111 1111 1111 was charged twice.')
console.log(text)
const { messages } = await runtime.getDocument(chat.id)
for (const { role, text: said } of messages) console.log(`${role}:`, said)
const { events } = await runtime.readEvents(chat.id)
for (const { type, content } of events) if (type === 'notice') console.log(JSON.stringify(content))
await runtime.close()
