/**
 * What an answer must look like, by kind. It is checked before it is stored, so that a wrong answer can be corrected and
 * sent again.
 */
import { contentIssues, type FormTerms } from '../tool/mcp/elicitation.ts'
import { type Interruption, type Question, WitanError } from '@witan/protocol'
import type { ApprovalTerms } from '../tool/approval.ts'
import { boundSpelling, checkSchema, propertyNames, takesName } from '../tool/schema.ts'
import type { Answer } from '../tool/tool.ts'

/** The answer to one of several questions, by question id. */
interface QuestionAnswer {
  readonly options?: readonly string[]
  readonly text?: string
}

const longestText = 100_000

/** The answer in its stored form. Throws `ANSWER_INVALID` with the allowed values [F30, E58]. */
export function checkAnswer(interruption: Interruption, terms: unknown, answer: Answer): Answer {
  if (interruption.kind === 'action') return answer
  if ('error' in answer)
    throw invalid('error', `Only an action can fail; this is a \`${interruption.kind}\`.`, 'Send `{ "answer": … }`.')
  const { value } = answer
  if (interruption.kind === 'question') return { value: checkForm(interruption, terms, value) }
  if (interruption.kind === 'approval')
    return { value: checkApproval(interruption, terms as ApprovalTerms | null, value) }
  if (interruption.kind === 'message') return { value: checkMessage(value) }
  return { value: checkPolicy(value) }
}

/** Questions of an MCP server may be declined, and the answers together must fit what it asks for. */
function checkForm({ questions, server }: Interruption & { kind: 'question' }, terms: unknown, value: unknown): object {
  if (server === undefined) return checkQuestions(questions, value)
  const record = recordAt(
    'answer',
    value,
    'an object with an answer for each question id, or `{ "decision": "declined" }`',
  )
  if (record['decision'] === 'declined' && Object.keys(record).length === 1) return { decision: 'declined' }
  const checked = checkQuestions(questions, value)
  const [issue] = terms == null ? [] : contentIssues(terms as FormTerms, checked)
  if (issue === undefined) return checked
  throw invalid(
    'answer',
    `The answers do not fit what \`${server}\` asks for: ${issue}.`,
    'Send others, or `{ "decision": "declined" }`.',
  )
}

function checkQuestions(questions: readonly Question[], value: unknown): Record<string, QuestionAnswer> {
  const record = recordAt('answer', value, 'an object with an answer for each question id')
  const ids = questions.map(({ id }) => id)
  for (const id of Object.keys(record))
    if (!ids.includes(id)) throw invalid(`answer.${clip(id)}`, `There is no question \`${clip(id)}\`.`, oneOf(ids))
  const checked: [string, QuestionAnswer][] = []
  for (const question of questions) {
    const one = Object.hasOwn(record, question.id) ? checkQuestion(question, record[question.id]) : {}
    if (one.options !== undefined || one.text !== undefined) checked.push([question.id, one])
    else if (question.required)
      throw invalid(`answer.${question.id}`, `\`${question.id}\` must be answered.`, howTo(question))
  }
  return Object.fromEntries(checked)
}

function checkQuestion(question: Question, value: unknown): QuestionAnswer {
  const at = `answer.${question.id}`
  const record = recordAt(at, value, '`{ "options": ["…"], "text": "…" }`')
  refuseOthers(at, record, ['options', 'text'])
  const options = checkOptions(question, record['options'])
  const text = checkText(question, record['text'])
  return { ...(options.length === 0 ? {} : { options }), ...(text === '' ? {} : { text }) }
}

function checkOptions(question: Question, value: unknown = []): readonly string[] {
  const { id, multiple } = question
  const at = `answer.${id}.options`
  const allowed = question.options.map((option) => option.id)
  if (!Array.isArray(value)) throw invalid(at, `\`${id}\`: \`options\` must be a list of ids.`, howTo(question))
  for (const option of value)
    if (!allowed.includes(option as string))
      throw invalid(
        at,
        allowed.length === 0
          ? `\`${id}\` has no options.`
          : `\`${id}\`: option \`${clip(String(option))}\` is not one of ${allowed.join(', ')}.`,
        howTo(question),
      )
  const chosen = [...new Set(value as string[])]
  if (chosen.length > 1 && !multiple) throw invalid(at, `\`${id}\` takes one option only.`, howTo(question))
  return allowed.filter((option) => chosen.includes(option))
}

function checkText(question: Question, value: unknown = ''): string {
  const at = `answer.${question.id}.text`
  if (typeof value !== 'string') throw invalid(at, `\`${question.id}\`: \`text\` must be text.`, howTo(question))
  const text = value.trim()
  if (text !== '' && !question.freeText) throw invalid(at, `\`${question.id}\` takes no free text.`, howTo(question))
  return short(at, text)
}

function howTo({ options, freeText }: Question): string {
  const ids = options.map(({ id }) => id)
  if (ids.length === 0) return 'Send `text`.'
  return freeText ? `${oneOf(ids)} Or send \`text\`.` : oneOf(ids)
}

type ApprovalAnswer =
  | { readonly decision: 'approved'; readonly arguments?: Readonly<Record<string, unknown>>; readonly reason?: string }
  | { readonly decision: 'denied'; readonly reason?: string }

function checkApproval(
  interruption: Interruption & { kind: 'approval' },
  terms: ApprovalTerms | null,
  value: unknown,
): ApprovalAnswer {
  const record = recordAt('answer', value, '`{ "decision": "approved" }` or `{ "decision": "denied", "reason": "…" }`')
  refuseOthers('answer', record, ['decision', 'arguments', 'reason'])
  const { decision, arguments: changed, reason } = record
  if (decision !== 'approved' && decision !== 'denied')
    throw invalid('answer.decision', '`decision` must be `approved` or `denied`.', 'Send one of the two.')
  if (reason !== undefined && typeof reason !== 'string')
    throw invalid('answer.reason', '`reason` must be text.', 'The model reads it if the call is denied.')
  const why = reason === undefined ? {} : { reason: short('answer.reason', reason) }
  if (changed === undefined) return { decision, ...why }
  if (decision === 'denied')
    throw invalid('answer.arguments', 'A denied call has no arguments.', 'Leave `arguments` out, or approve the call.')
  return { decision, arguments: checkArguments(interruption, terms, changed), ...why }
}

/**
 * Arguments that a person changes must fit the schema that the model was offered. Nobody may write the tool's bound values
 * [C19].
 */
function checkArguments(
  { tool }: Interruption & { kind: 'approval' },
  terms: ApprovalTerms | null,
  value: unknown,
): Readonly<Record<string, unknown>> {
  const at = 'answer.arguments'
  const record = recordAt(at, value, 'all arguments of the call as one object')
  if (terms === null) throw invalid(at, `The arguments of \`${tool}\` cannot be changed.`, 'Approve or deny the call.')
  const names = propertyNames(terms.schema)
  for (const name of Object.keys(record)) {
    const bound = boundSpelling(terms.bound, name)
    if (bound !== undefined)
      throw invalid(`${at}.${clip(name)}`, `\`${bound}\` is bound for \`${tool}\`.`, 'Leave it out.')
    if (terms.takesAnyName !== true && !takesName(terms.schema, name))
      throw invalid(`${at}.${clip(name)}`, `\`${tool}\` has no argument \`${clip(name)}\`.`, oneOf(names))
  }
  const checked = checkSchema(terms.schema, record)
  if (checked.ok) return record
  throw invalid(at, `The arguments do not fit \`${tool}\`: ${checked.issues.slice(0, 5).join('; ')}.`, oneOf(names))
}

function checkMessage(value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '') return short('answer', value)
  throw invalid('answer', 'The answer to a message is text.', 'Send `{ "answer": "…" }`.')
}

type PolicyAnswer = { readonly resolution: Readonly<Record<string, unknown>> } | { readonly decision: 'declined' }

function checkPolicy(value: unknown): PolicyAnswer {
  const shape = '`{ "resolution": {…} }` or `{ "decision": "declined" }`'
  const record = recordAt('answer', value, shape)
  refuseOthers('answer', record, ['resolution', 'decision'])
  const { resolution, decision } = record
  if (decision === 'declined' && resolution === undefined) return { decision }
  if (decision === undefined && resolution !== undefined)
    return { resolution: recordAt('answer.resolution', resolution, 'an object') }
  throw invalid('answer', `The answer to a policy is ${shape}.`, 'Send exactly one of the two.')
}

function recordAt(path: string, value: unknown, shape: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw invalid(path, `\`${path}\` must be ${shape}.`, 'GET the interruption’s conversation for the question.')
}

function refuseOthers(path: string, record: Readonly<Record<string, unknown>>, known: readonly string[]): void {
  const other = Object.keys(record).find((key) => !known.includes(key))
  if (other !== undefined)
    throw invalid(`${path}.${clip(other)}`, `\`${path}\` has no \`${clip(other)}\`.`, oneOf(known))
}

function short(path: string, text: string): string {
  if (text.length <= longestText) return text
  throw invalid(path, `The text has ${text.length} characters; ${longestText} are allowed.`, 'Send less.')
}

function oneOf(allowed: readonly string[]): string {
  return allowed.length === 0 ? 'There is nothing to choose from.' : `Allowed: ${allowed.join(', ')}.`
}

function clip(text: string): string {
  return text.length > 64 ? `${text.slice(0, 64)}…` : text
}

function invalid(path: string, detail: string, hint: string): WitanError {
  return new WitanError('ANSWER_INVALID', detail, { path, hint })
}
