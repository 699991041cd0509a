/** Parses input into a checked knowledge base, or into the first problem with it. */
import { isWitanError, WitanError } from '@witan/protocol'
import { type KnowledgeBase, type KnowledgeBaseInput, knowledgeBaseSchema } from '@witan/protocol/knowledge'
import { nameProblem, shownName } from '@witan/protocol/names'
import { maxJsonDepth, reservedParameterNames } from '@witan/protocol/schemas'
import type { z } from 'zod'
import { freezing } from '../../identity/frozen.ts'
import { type Pausable, runWithoutPause } from '../../identity/pausable.ts'
import { readingOnce } from '../../identity/read-once.ts'
import { definitionExcess, maxDefinitionValues } from '../definition-size.ts'
import { nearest } from '../../identity/nearest.ts'
import { plainDefinition } from '../plain-definition.ts'

/** A base, or the problems with its form: at most 20. */
export type ReadBase =
  | { readonly ok: true; readonly base: KnowledgeBase }
  | { readonly ok: false; readonly problems: readonly [WitanError, ...WitanError[]] }

/** Checks a base of the code, and freezes it. Throws the first problem found, with path and hint. */
export function defineKnowledge(base: KnowledgeBaseInput): KnowledgeBase {
  const read = runWithoutPause(readingBase(runWithoutPause(readingOnce(base))))
  if (!read.ok) throw read.problems[0]
  return read.base
}

/** The problems with the form of a base, at most 20; empty if `defineKnowledge` accepts it. */
export function baseProblems(input: unknown): readonly WitanError[] {
  const read = runWithoutPause(readingBase(runWithoutPause(readingOnce(input))))
  return read.ok ? [] : read.problems
}

const mostProblems = 20

/** Reads a base in pieces, so that a large one does not hold the process. */
export function* readingBase(input: unknown): Pausable<ReadBase> {
  const excess = yield* definitionExcess(input, {})
  if (excess === 'values')
    return refused([
      wrong(input, `has more than ${maxDefinitionValues} values`, { path: '', hint: 'Shorten its lists.' }),
    ])
  if (excess === 'depth') {
    const detail = `${whoIs(input)} is nested deeper than ${maxJsonDepth}, or contains itself.`
    return { ok: false, problems: [new WitanError('JSON_TOO_DEEP', detail, { hint: 'Flatten the value.' })] }
  }
  yield
  const parsed = knowledgeBaseSchema.safeParse(input)
  yield
  if (!parsed.success)
    return refused(parsed.error.issues.slice(0, mostProblems).flatMap((issue) => problemsOf(issue, input)))
  const problems = meaningProblems(parsed.data)
  if (problems.length > 0) return refused(problems)
  try {
    const data = yield* plainDefinition(parsed.data, whoIs(input), 'KNOWLEDGE_INVALID')
    return { ok: true, base: yield* freezing(data) }
  } catch (error) {
    if (isWitanError(error)) return refused([error])
    throw error
  }
}

function refused(problems: readonly WitanError[]): ReadBase & { readonly ok: false } {
  return { ok: false, problems: problems.slice(0, mostProblems) as [WitanError, ...WitanError[]] }
}

function whoIs(input: unknown): string {
  const id = (input as { id?: unknown } | null)?.id
  return typeof id === 'string' ? `Knowledge base \`${shownName(id.slice(0, 80))}\`` : 'The knowledge base'
}

function wrong(input: unknown, what: string, at: { readonly path: string; readonly hint: string }): WitanError {
  return new WitanError('KNOWLEDGE_INVALID', `${whoIs(input)} ${what}.`, at)
}

const keys = Object.keys(knowledgeBaseSchema.shape)

function problemsOf(issue: z.core.$ZodIssue, input: unknown): WitanError[] {
  const path = issue.path.join('.')
  if (issue.code === 'unrecognized_keys')
    return issue.keys.slice(0, mostProblems).map((key) => unknownKey(input, [...issue.path, key].join('.'), key))
  if (path === 'id') {
    const detail = `${whoIs(input)}: use a-z, 0-9 and \`-\`, at most 64.`
    return [new WitanError('ID_INVALID', detail, { path, hint: 'Agents name the base by its id.' })]
  }
  const hint =
    path === 'language'
      ? '`en` compares words by their stem; `none` compares them as written, for every other language.'
      : 'A base has `id`, `name`, `description`, `language`, `attributes`, `requiredFilters` and more.'
  return [wrong(input, `is not valid at \`${path.slice(0, 200)}\`: ${issue.message}`, { path, hint })]
}

function unknownKey(input: unknown, path: string, key: string): WitanError {
  const near = nearest(key, keys)
  const hint = near === null ? `Known keys: ${keys.join(', ')}.` : `Did you mean \`${near}\`?`
  return new WitanError('UNKNOWN_KEY', `${whoIs(input)}: unknown key \`${path.slice(0, 200)}\`.`, { path, hint })
}

/** What a base over a query binds itself: as a filter of that name a model would choose it. */
const boundByQuery: ReadonlySet<string> = new Set(['query', 'limit', 'embedding'])

/** What the schema cannot say: names that models and logs show, and filters of attributes that are there. */
function meaningProblems(base: KnowledgeBase): WitanError[] {
  const found: WitanError[] = []
  const problem = base.name === undefined ? null : nameProblem(base.name, 'name')
  if (problem !== null)
    found.push(wrong(base, `has a name that ${problem}`, { path: 'name', hint: 'Choose a plain name.' }))
  const names = Object.keys(base.attributes)
  for (const name of names) {
    const isBound = base.query !== null && boundByQuery.has(name)
    if (!reservedParameterNames.has(name) && !isBound) continue
    found.push(
      wrong(base, `has an attribute \`${name}\`, which is reserved`, {
        path: `attributes.${name}`,
        hint: 'Rename it.',
      }),
    )
  }
  for (const [index, name] of base.requiredFilters.entries()) {
    if (names.includes(name)) continue
    const hint = names.length === 0 ? `Add \`${name}\` to \`attributes\`.` : `Attributes: ${names.join(', ')}.`
    found.push(
      wrong(base, `requires a filter by \`${name}\`, which it lacks`, { path: `requiredFilters.${index}`, hint }),
    )
  }
  return found
}
