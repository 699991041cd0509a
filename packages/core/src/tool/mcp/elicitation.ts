/** What an MCP server asks people for while a call of its tool waits, and the answers that go back with the call [F29]. */
import type { Interruption, Question } from '@witan/protocol'
import { jsonLength } from '../../identity/json-length.ts'
import { validatorOf } from '../../model/json-schema.ts'
import type { Scrubber } from '../../parameter/scrub.ts'
import { canonicalJson } from '../digest.ts'
import { type PendingOutcome, pendingOn } from '../outcome.ts'
import type { JsonSchema } from '../schema.ts'
import { type Answer, longestNote, type ToolContext } from '../tool.ts'
import type { InterruptionDraft } from '../waiting.ts'
import type { McpAnswer, McpCall, McpSettings } from './mcp.ts'

type Required = McpAnswer & { readonly kind: 'inputRequired' }

/** What a call keeps while it waits. `before`: how many answers it had by then. `isGiven`: its answers were sent. */
interface Kept {
  readonly state: string | null
  readonly ids: readonly string[]
  readonly drafts: readonly InterruptionDraft[]
  readonly before: number
  readonly isGiven: boolean
}

/** What a form asks: its questions, and what the answers together must fit. */
export interface FormTerms {
  readonly fields: readonly FormField[]
  readonly schema: JsonSchema
}

/** How a field of a form is answered: by words, or by choosing. */
export const formKinds = ['text', 'number', 'boolean', 'one', 'many'] as const

interface FormField {
  readonly name: string
  readonly form: (typeof formKinds)[number]
}

/** What a call asks people for; or why that is refused, in words without a full stop. */
export function askedInput(
  { requests, state }: Required,
  settings: Pick<McpSettings, 'name' | 'ask'>,
  { answers, scrub }: Pick<ToolContext, 'answers' | 'scrub'>,
): { readonly note: unknown; readonly outcome: PendingOutcome } | { readonly refused: string } {
  if (!settings.ask) return { refused: 'it may not ask people (`ask: false`)' }
  const asked = Object.entries(requests)
  if (asked.length === 0 || asked.length > 5) return { refused: 'between one and five questions at once' }
  const drafts: InterruptionDraft[] = []
  for (const [, request] of asked) {
    const draft = draftOf(request, settings.name, scrub)
    if (typeof draft === 'string') return { refused: draft }
    drafts.push(draft)
  }
  const kept: Kept = { state, ids: asked.map(([id]) => id), drafts, before: answers.length, isGiven: false }
  // JSON writes a control character in six.
  if (6 * jsonLength(kept) > longestNote && JSON.stringify({ mcp: kept }).length > longestNote)
    return { refused: `what it asks and keeps is longer than ${longestNote} characters` }
  return { note: { mcp: kept }, outcome: pendingOn(...drafts) }
}

/** What a call that has waited does now: it waits for more, or is made again with the answers; null for one that has not waited. */
export function answeredInput({
  note,
  answers,
}: Pick<ToolContext, 'note' | 'answers'>):
  | { readonly wait: PendingOutcome }
  | { readonly given: NonNullable<McpCall['given']>; readonly note: unknown; readonly wasGiven: boolean }
  | null {
  const kept = (note as { readonly mcp?: Kept } | undefined)?.mcp
  if (kept === undefined) return null
  const own = answers.slice(kept.before, kept.before + kept.ids.length)
  if (own.length < kept.ids.length) return { wait: pendingOn(...kept.drafts) }
  // They came in the order in which people answered.
  const left = own.flatMap((one) => (one.kind === 'interruption' ? [one] : []))
  const responses = kept.ids.map((id, index) => {
    const draft = kept.drafts[index] as InterruptionDraft
    const at = left.findIndex(({ asked }) => askedOf(asked) === askedOf(draft))
    const [answer] = at < 0 ? [] : left.splice(at, 1)
    return [id, answer === undefined ? cancelled : responseOf(draft, answer.answer)]
  })
  return {
    given: { responses: Object.fromEntries(responses), state: kept.state },
    note: { mcp: { ...kept, isGiven: true } },
    wasGiven: kept.isGiven,
  }
}

/** What people read of something that is asked. */
function askedOf(one: InterruptionDraft | Interruption): string {
  if (one.kind === 'question') return canonicalJson([one.message, one.questions])
  return one.kind === 'policy' ? canonicalJson(one.policy) : one.kind
}

const cancelled = { action: 'cancel' } as const

function responseOf(draft: InterruptionDraft, answer: Answer): Readonly<Record<string, unknown>> {
  if ('error' in answer) return cancelled
  const value = answer.value as Readonly<Record<string, unknown>>
  if (value['decision'] === 'declined') return { action: 'decline' }
  if (draft.kind !== 'question') return { action: 'accept' }
  return { action: 'accept', content: contentOf(draft.terms as FormTerms, value) }
}

/** The content of a form from the answers to its questions. */
function contentOf({ fields }: Pick<FormTerms, 'fields'>, answers: Readonly<Record<string, unknown>>): object {
  const content: [string, unknown][] = []
  for (const { name, form } of fields) {
    if (!Object.hasOwn(answers, name)) continue
    const { options = [], text = '' } = answers[name] as {
      readonly options?: readonly string[]
      readonly text?: string
    }
    if (form === 'many') content.push([name, options])
    else if (form === 'one') content.push([name, options[0]])
    else if (form === 'boolean') content.push([name, options[0] === 'true'])
    else content.push([name, form === 'number' && text.trim() !== '' ? Number(text) : text])
  }
  return Object.fromEntries(content)
}

/** What of the content of a form does not fit what its server asks for; empty if all does. */
export function contentIssues(terms: FormTerms, answers: Readonly<Record<string, unknown>>): readonly string[] {
  return validatorOf(terms.schema).issuesOf(contentOf(terms, answers))
}

/** The most questions of a form. */
const mostFields = 20
const longestText = 4_000
const fieldName = /^[A-Za-z0-9_.-]{1,64}$/

/** An interruption for what a server asks; or why not. */
function draftOf(
  { method, params }: Required['requests'][string],
  server: string,
  scrub: Scrubber,
): InterruptionDraft | string {
  if (method !== 'elicitation/create') return `\`${method.slice(0, 64)}\``
  const { mode = 'form', message, url, requestedSchema } = (params ?? {}) as Readonly<Record<string, unknown>>
  const clean = (text: unknown) => (scrub === null ? `${text}` : scrub(`${text}`)).slice(0, longestText)
  if (typeof message !== 'string') return 'a question without words'
  if (mode === 'url') {
    const at = typeof url === 'string' ? URL.parse(url) : null
    if (at?.protocol !== 'https:' || at.username !== '' || at.password !== '') return 'an address that is not HTTPS'
    if (scrub !== null && scrub(at.href) !== at.href) return 'an address with a value that nobody may read'
    const policy = { kind: 'unauthorized', message: clean(message), url: at.href }
    return { kind: 'policy', issuer: `mcp:${server}`, policy }
  }
  if (mode !== 'form') return `a question of the form \`${`${mode}`.slice(0, 64)}\``
  const form = formOf(requestedSchema, clean)
  if (typeof form !== 'string' && scrub !== null && hides(form, scrub))
    return 'a form with a value that nobody may read'
  if (typeof form === 'string') return form
  return { kind: 'question', server, message: clean(message), ...form }
}

/** Whether a name or an option of a form, which goes back as it is, holds a hidden value. */
function hides({ questions }: { readonly questions: readonly Question[] }, scrub: (text: string) => string): boolean {
  return questions.some(({ id, options }) => [id, ...options.map((one) => one.id)].some((text) => scrub(text) !== text))
}

function formOf(
  schema: unknown,
  clean: (text: unknown) => string,
): { readonly questions: Question[]; readonly terms: FormTerms } | string {
  const { properties, required = [] } = (schema ?? {}) as Readonly<Record<string, unknown>>
  if (typeof properties !== 'object' || properties === null || !Array.isArray(required)) return 'a form without fields'
  const all = Object.entries(properties as Readonly<Record<string, unknown>>)
  if (all.length === 0 || all.length > mostFields)
    return `a form of ${all.length} fields; at most ${mostFields} are taken`
  const fields: FormField[] = []
  const questions: Question[] = []
  for (const [name, property] of all) {
    const field = fieldName.test(name) ? fieldOf(property) : null
    if (field === null) return 'a form with a field that is nested, or of no known kind'
    const { form, options } = field
    const { title, description } = property as Readonly<Record<string, unknown>>
    fields.push({ name, form })
    questions.push({
      id: name,
      text: clean([title, description].filter((one) => typeof one === 'string' && one !== '').join(': ') || name),
      options: options.map(([id, label]) => ({ id, label: clean(label) })),
      multiple: form === 'many',
      freeText: options.length === 0,
      required: required.includes(name),
    })
  }
  return { questions, terms: { fields, schema: schema as JsonSchema } }
}

type Options = readonly (readonly [id: string, label: string])[]

function fieldOf(property: unknown): { readonly form: FormField['form']; readonly options: Options } | null {
  const { type, items } = (property ?? {}) as Readonly<Record<string, unknown>>
  if (type === 'boolean') {
    const options: Options = [
      ['true', 'Yes'],
      ['false', 'No'],
    ]
    return { form: 'boolean', options }
  }
  if (type === 'number' || type === 'integer') return { form: 'number', options: [] }
  if (type === 'array') {
    const options = optionsOf(items)
    return options === null || options.length === 0 ? null : { form: 'many', options }
  }
  if (type !== 'string') return null
  const options = optionsOf(property)
  if (options === null) return null
  return { form: options.length === 0 ? 'text' : 'one', options }
}

const mostOptions = 100

/** The values that a field may have, with what people read of each; null if they are none that can be chosen. */
function optionsOf(field: unknown): Options | null {
  const { enum: values, enumNames, oneOf, anyOf } = (field ?? {}) as Readonly<Record<string, unknown>>
  const titled = oneOf ?? anyOf
  if (values === undefined && titled === undefined) return []
  const named = Array.isArray(titled)
    ? titled.map((one) => [(one as { const?: unknown })?.const, (one as { title?: unknown })?.title])
    : Array.isArray(values)
      ? values.map((one, index) => [one, Array.isArray(enumNames) ? enumNames[index] : one])
      : []
  if (named.length === 0 || named.length > mostOptions) return null
  const options: [string, string][] = []
  for (const [id, label] of named) {
    if (typeof id !== 'string' || id.length > 200) return null
    options.push([id, typeof label === 'string' && label !== '' ? label : id])
  }
  return options
}
