/** What the agents of a team write to each other: typed, so that nobody can leave out who said what. */
import { defineProtocol } from '@witan/core'

const statements = {
  type: 'array',
  description: 'Who said what: one sentence each, in their own words.',
  items: {
    type: 'object',
    properties: { by: { type: 'string', description: 'The person, as you know them.' }, says: { type: 'string' } },
    required: ['by', 'says'],
    additionalProperties: false,
  },
}
const object = (properties: Readonly<Record<string, unknown>>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})
const text = { type: 'string' }

const interview = defineProtocol({
  name: 'interview',
  purpose: 'What people say about a process.',
  processing:
    'Interview your people about the process, and reply with who said what. Leave nothing out and merge nothing.',
  messages: [{ name: 'ask', from: 'initiator', schema: object({ process: text }), reply: object({ statements }) }],
  order: { start: 'open', final: ['asked'], states: { open: { ask: 'asked' }, asked: {} } },
})

const clarify = defineProtocol({
  name: 'clarify',
  purpose: 'Sentences of which not all can be true.',
  processing:
    'Put the sentences to those of your people who said them; if you get the same again, to the others. Reply with what they say now.',
  messages: [
    {
      name: 'settle',
      from: 'initiator',
      schema: object({ sentences: { type: 'array', items: text, minItems: 1 } }),
      reply: object({ statements }),
    },
  ],
})

const review = defineProtocol({
  name: 'review',
  purpose: 'Whether a process model is sound, and true to what people say.',
  processing:
    'Check the model, compare the statements with each other and with the model, and have the interviewers clear up what is in doubt. Reply with your findings and with what people have said meanwhile.',
  messages: [
    {
      name: 'submit',
      from: 'initiator',
      schema: object({ artifact_id: { type: 'string', description: 'The id of the process model.' }, statements }),
      reply: object({ accepted: { type: 'boolean' }, findings: { type: 'array', items: text }, statements }),
    },
  ],
  order: {
    start: 'idle',
    final: ['idle', 'reviewed'],
    states: { idle: { submit: 'reviewed' }, reviewed: { submit: 'reviewed' } },
  },
})

export const protocols = [interview, clarify, review]
