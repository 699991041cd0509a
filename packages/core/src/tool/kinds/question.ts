/** Questions: an agent asks whoever may answer to choose, or to write, and waits [F29]. */
import type { Question } from '@witan/protocol'
import { z } from 'zod'
import { issueWords } from '../../model/json-schema.ts'
import { pending, result, unanswered } from '../outcome.ts'
import type { JsonSchema } from '../schema.ts'
import type { ArgumentCheck, ImmediateTool, ToolSource } from '../tool.ts'

const id = z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/)
const optionSchema = z.strictObject({ id, label: z.string().min(1).max(500) })
const questionSchema = z.strictObject({
  id,
  text: z.string().min(1).max(4000),
  options: z.array(optionSchema).max(100).default([]),
  multiple: z.boolean().default(false),
  freeText: z.boolean().optional(),
  required: z.boolean().default(true),
})
const argumentsSchema = z.strictObject({ questions: z.array(questionSchema).min(1).max(20) })

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
  offer: { name, description, parameters: offered },
  notice: null,
  effect: 'once',
  bound: [],
  immediate: true,
  check: checkQuestions,
  invoke(request, _caller, verbs) {
    verbs.interrupt({ kind: 'question', questions: request.arguments['questions'] as Question[] })
    return pending
  },
  resume: (answer) => ('error' in answer ? unanswered(answer) : result(answer.value)),
} satisfies ImmediateTool)

/** `ask_question` for the agents that may ask. */
export const questionTools: ToolSource = ({ agent }) => (agent.questions ? [tool] : [])

/** Every default is filled in: what is asked is stored whole, and its answer is checked against it [F30]. */
function checkQuestions(args: Readonly<Record<string, unknown>>): ArgumentCheck {
  const parsed = argumentsSchema.safeParse(args)
  if (!parsed.success) return { ok: false, issues: issueWords(parsed.error) }
  const questions = parsed.data.questions.map(
    (one): Question => ({ ...one, freeText: one.freeText ?? one.options.length === 0 }),
  )
  const issues = [
    ...repeated(questions).map((twice) => `two questions have the id \`${twice}\``),
    ...questions.flatMap((one) =>
      repeated(one.options).map((twice) => `\`${one.id}\`: two options have the id \`${twice}\``),
    ),
    ...questions
      .filter(({ options, freeText }) => options.length === 0 && !freeText)
      .map((one) => `\`${one.id}\`: expected options, or freeText: true`),
  ]
  return issues.length === 0 ? { ok: true, arguments: { questions } } : { ok: false, issues }
}

function repeated(items: readonly { readonly id: string }[]): string[] {
  const ids = items.map((item) => item.id)
  return [...new Set(ids.filter((one, index) => ids.indexOf(one) !== index))]
}
