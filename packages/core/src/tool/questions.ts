/** The form of questions: options, free text, or both. */
import type { Question } from '@witan/protocol'
import { z } from 'zod'
import { refused } from './schema.ts'
import type { ArgumentCheck } from './tool.ts'

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

/** A question as written: `freeText` is true unless there are options, `multiple` false, `required` true. */
export type QuestionInput = z.input<typeof questionSchema>

/**
 * Checks `{ questions }` and fills in every default. The complete questions are stored, and the answer is checked against
 * them [F30].
 */
export function checkQuestions(args: Readonly<Record<string, unknown>>): ArgumentCheck {
  const parsed = argumentsSchema.safeParse(args)
  if (!parsed.success) return refused(issueWords(parsed.error))
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
  return issues.length === 0 ? { ok: true, arguments: { questions } } : refused(issues)
}

/** Issues as text: the path, and what was expected. Values are not repeated. */
export function issueWords(error: z.ZodError): string[] {
  return error.issues.map(({ path, message }) => {
    const where = path.length === 0 ? 'the value' : `\`${path.join('.')}\``
    return `${where}: ${message.replace(/^[A-Z][a-z ]+: (?=expected )/, '').replace(/, received (?=\S+$)/, ', got ')}`
  })
}

function repeated(items: readonly { readonly id: string }[]): string[] {
  const ids = items.map((item) => item.id)
  return [...new Set(ids.filter((one, index) => ids.indexOf(one) !== index))]
}
