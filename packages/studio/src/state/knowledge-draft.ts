/** The form of a knowledge base: what is typed, the base that it makes, and at which field a finding stands. */
import type { Finding } from '@witan/protocol'
import type { AttributeType, KnowledgeBaseInput, StoredKnowledgeBase } from '@witan/protocol/knowledge'

/** One attribute as it is typed. `key` tells the lines of the form apart. */
export interface AttributeDraft {
  readonly key: number
  readonly name: string
  readonly type: AttributeType
  readonly required: boolean
}

/** What the form holds. */
export interface BaseDraft {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly language: string
  readonly attributes: readonly AttributeDraft[]
  readonly passageCharacters: string
  readonly embedding: string
  readonly source: string
  readonly query: string
}

/** A form that nothing was typed into. */
export const emptyBase: BaseDraft = {
  id: '',
  name: '',
  description: '',
  language: 'en',
  attributes: [],
  passageCharacters: '1200',
  embedding: '',
  source: '',
  query: '',
}

/** The form of a base that there is. */
export function draftOf(base: StoredKnowledgeBase): BaseDraft {
  const {
    id,
    name = '',
    description,
    language,
    attributes,
    requiredFilters,
    passageCharacters,
    embedding,
    query,
  } = base
  return {
    ...{ id, name, description, language, passageCharacters: String(passageCharacters), embedding: embedding ?? '' },
    attributes: Object.entries(attributes).map(([attribute, type], key) => ({
      key,
      name: attribute,
      type,
      required: requiredFilters.includes(attribute),
    })),
    source: query?.source ?? '',
    query: query?.query ?? '',
  }
}

/** The base that a form makes. What is wrong with it the server says. */
export function baseOf(draft: BaseDraft): KnowledgeBaseInput {
  const { id, name, description, language, passageCharacters, embedding, source, query } = draft
  const named = draft.attributes.filter((one) => one.name !== '')
  const characters = Number(passageCharacters)
  return {
    id,
    ...(name === '' ? {} : { name }),
    description,
    language: language as 'en',
    attributes: Object.fromEntries(named.map((one) => [one.name, one.type])),
    requiredFilters: named.filter(({ required }) => required).map((one) => one.name),
    passageCharacters:
      passageCharacters.trim() === '' || Number.isNaN(characters) ? (passageCharacters as never) : characters,
    embedding: embedding === '' ? null : embedding,
    query: source === '' && query === '' ? null : { source, query },
  }
}

/** Two attributes of one name would be one. */
export function doubledAttribute({ attributes }: BaseDraft): string | null {
  const names = attributes.map(({ name }) => name).filter((name) => name !== '')
  return names.find((name, index) => names.indexOf(name) !== index) ?? null
}

/** The fields of the form that findings are about. */
export type BaseField =
  | 'id'
  | 'name'
  | 'description'
  | 'language'
  | 'attributes'
  | 'passageCharacters'
  | 'embedding'
  | 'source'
  | 'query'

/** The findings of a check of one base, by its fields; those of agents that search it, and those without a field, under null. */
export function findingsByField(findings: readonly Finding[]): ReadonlyMap<BaseField | null, readonly Finding[]> {
  const found = new Map<BaseField | null, Finding[]>()
  for (const finding of findings) {
    const field = finding.agent === '' ? fieldOf(finding.path.replace(/^knowledge\.0\.?/, '')) : null
    found.set(field, [...(found.get(field) ?? []), finding])
  }
  return found
}

/** The field that a path within a base is about. */
export function fieldOf(path: string): BaseField | null {
  const [first = '', second] = path.split('.')
  if (first === 'query') return second === 'source' ? 'source' : 'query'
  if (first === 'requiredFilters') return 'attributes'
  return fields.find((one) => one === first) ?? null
}

const fields: readonly BaseField[] = [
  'id',
  'name',
  'description',
  'language',
  'attributes',
  'passageCharacters',
  'embedding',
]
