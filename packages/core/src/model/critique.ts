/** The form of a critique, as a model is asked for it. */

/** The JSON Schema of a critique. */
export const critiqueSchema = Object.freeze({
  type: 'object',
  properties: {
    verdict: { type: 'string', enum: ['pass', 'revise'], description: 'revise: the answer must be given again.' },
    problems: {
      type: 'array',
      items: { type: 'string' },
      description: 'What is wrong with the answer; empty for pass.',
    },
  },
  required: ['verdict', 'problems'],
  additionalProperties: false,
})
