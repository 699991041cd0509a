/** Questions: an agent asks anybody who may answer to choose or to write, and waits [F29]. */
import type { Question } from '@witan/protocol'
import { checkQuestions } from '../questions.ts'
import { result, unanswered, pendingOn } from '../outcome.ts'
import type { JsonSchema } from '../schema.ts'
import type { ImmediateTool, ToolSource } from '../tool.ts'

const offered: JsonSchema = Object.freeze({
  type: 'object',
  properties: {
    questions: {
      type: 'array',
      description: '1 to 20 questions, which are answered together.',
      items: {
        type: 'object',
        properties: {
          id: {
            type: 'string',
            description: 'Its answer comes back under this id: letters, digits, `_`, `-` and `.`.',
          },
          text: { type: 'string' },
          options: {
            type: 'array',
            items: {
              type: 'object',
              properties: { id: { type: 'string' }, label: { type: 'string' } },
              required: ['id', 'label'],
              additionalProperties: false,
            },
          },
          multiple: { type: 'boolean', description: 'Whether several options may be chosen; false unless said.' },
          freeText: { type: 'boolean', description: 'Whether text may be written; true unless there are options.' },
          required: { type: 'boolean', description: 'Whether it must be answered; true unless said.' },
        },
        required: ['id', 'text'],
        additionalProperties: false,
      },
    },
  },
  required: ['questions'],
  additionalProperties: false,
})

const name = 'ask_question'
const description =
  'Asks a person questions with options or free text, and waits for the answers: {"<question id>": {"options": ["<option id>"], "text": "…"}}.'

const tool: ImmediateTool = Object.freeze({
  name,
  kind: 'question',
  offer: { name, description, parameters: offered },
  notice: null,
  effect: 'once',
  bound: [],
  immediate: true,
  check: checkQuestions,
  invoke: (request) => pendingOn({ kind: 'question', questions: request.arguments['questions'] as Question[] }),
  resume: (answer) => ('error' in answer ? unanswered(answer) : result(answer.value)),
} satisfies ImmediateTool)

/** `ask_question`, for agents that may ask questions. */
export const questionTools: ToolSource = ({ agent }) => (agent.questions ? [tool] : [])
