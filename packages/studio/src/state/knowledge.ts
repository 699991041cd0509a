/** What a search of a knowledge base would see: which agents list the base, and what their filter makes of given values. */
import type { Parameter, StoredAgent } from '@witan/protocol'
import type {
  AttributeType,
  AttributeValue,
  KnowledgeUse,
  Passage,
  StoredKnowledgeBase,
} from '@witan/protocol/knowledge'
import { knowledgeUses } from '@witan/protocol/knowledge-uses'
import type { CallView } from '@witan/client'
import { count } from './format.ts'
import { readTextOrJson } from './typed.ts'

/** An agent that lists a base, and how it searches it. */
export interface Searcher {
  readonly agent: StoredAgent
  readonly use: KnowledgeUse
}

/** The agents that list a base. */
export function searchersOf(agents: readonly StoredAgent[], base: string): readonly Searcher[] {
  return agents.flatMap((agent) => {
    const use = knowledgeUses(agent).find(({ id }) => id === base)
    return use === undefined ? [] : [{ agent, use }]
  })
}

/** One value that a search is asked for: an attribute of the base, and by what name it is given. */
export interface FilterField {
  readonly attribute: string
  /** The agent's parameter; null where the filter is written by hand. */
  readonly parameter: string | null
  readonly type: AttributeType | 'any'
  readonly secret: boolean
  /** Without a value the base is closed. */
  readonly required: boolean
}

/** The values that a search by this agent needs; by hand without one. */
export function filterFields(base: StoredKnowledgeBase, searcher: Searcher | null): readonly FilterField[] {
  if (searcher === null)
    return Object.entries(base.attributes).map(([attribute, type]) => ({
      attribute,
      parameter: null,
      type,
      secret: false,
      required: base.requiredFilters.includes(attribute),
    }))
  return Object.entries(searcher.use.filter).map(([attribute, name]) => {
    const parameter: Parameter | undefined = searcher.agent.parameters.find((one) => one.name === name)
    return {
      attribute,
      parameter: name,
      type: base.attributes[attribute] ?? 'any',
      secret: parameter?.secret ?? false,
      required: true,
    }
  })
}

/** What typed texts make of a filter: its values, what is missing, and what cannot be read, each by its attribute. */
interface ReadFilter {
  readonly filter: Readonly<Record<string, AttributeValue>>
  readonly missing: readonly FilterField[]
  readonly problems: Readonly<Record<string, string>>
}

/** Reads the texts, by attribute. */
export function readFilter(
  fields: readonly FilterField[],
  base: StoredKnowledgeBase,
  texts: Readonly<Record<string, string>>,
): ReadFilter {
  const filter: Record<string, AttributeValue> = {}
  const problems: Record<string, string> = {}
  const missing: FilterField[] = []
  for (const field of fields) {
    const text = texts[field.attribute] ?? ''
    if (text === '') {
      if (field.required) missing.push(field)
      continue
    }
    const read = readAttribute(field.type === 'string[]' ? 'string' : field.type, text)
    if (read.problem === null) filter[field.attribute] = read.value
    else problems[field.attribute] = read.problem
  }
  const bound = new Set(fields.map(({ attribute }) => attribute))
  // What the base demands and the agent does not bind closes it too.
  for (const attribute of base.requiredFilters)
    if (!bound.has(attribute)) missing.push({ attribute, parameter: null, type: 'any', secret: false, required: true })
  return { filter, missing, problems }
}

type Read =
  | { readonly value: AttributeValue; readonly problem: null }
  | { readonly value: null; readonly problem: string }

/** Reads the value of an attribute as a person types it; a list as JSON, or as texts with commas between them. */
export function readAttribute(type: AttributeType | 'any', text: string): Read {
  if (type === 'string') return { value: text, problem: null }
  if (type === 'number') {
    const value = Number(text)
    const isNumber = text.trim() !== '' && Number.isFinite(value)
    return isNumber ? { value, problem: null } : { value: null, problem: 'This is not a number.' }
  }
  if (type === 'boolean') {
    const isBoolean = text === 'true' || text === 'false'
    return isBoolean
      ? { value: text === 'true', problem: null }
      : { value: null, problem: 'This must be true or false.' }
  }
  if (type === 'string[]' && !text.trim().startsWith('[')) {
    const parts = text.split(',').map((one) => one.trim())
    return { value: parts.filter((one) => one !== ''), problem: null }
  }
  const read = readTextOrJson(text)
  if (read.problem !== null) return read
  if (isAttributeValue(read.value)) return { value: read.value, problem: null }
  return { value: null, problem: 'This must be a text, a number, true or false, or a list of texts.' }
}

function isAttributeValue(value: unknown): value is AttributeValue {
  if (Array.isArray(value)) return value.every((one) => typeof one === 'string')
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

/** The value of an attribute as it is shown. */
export function attributeText(value: AttributeValue): string {
  return Array.isArray(value) ? value.join(', ') : String(value)
}

const exampleValues = { string: 'acme', number: '1', boolean: 'true', 'string[]': 'acme' } as const

/** The options of a command that adds documents, with a value for each attribute that the base demands: empty, or with a space before. */
export function demandedAttributes({ attributes, requiredFilters }: StoredKnowledgeBase): string {
  return requiredFilters.map((name) => ` --attribute ${name}=${exampleValues[attributes[name] ?? 'string']}`).join('')
}

/** A heading, how deep it is, and the passage that stands first under it. */
interface OutlineLine {
  readonly path: string
  readonly words: string
  readonly depth: number
  readonly passage: string
}

/** The headings of passages, each once and with those that it stands under. */
export function outlineOf(passages: readonly Passage[]): readonly OutlineLine[] {
  const lines = new Map<string, OutlineLine>()
  for (const { id, heading } of passages) {
    const parts = heading === '' ? [] : heading.split(' › ')
    for (const [depth, words] of parts.entries()) {
      const path = parts.slice(0, depth + 1).join(' › ')
      if (!lines.has(path)) lines.set(path, { path, words, depth, passage: id })
    }
  }
  return [...lines.values()]
}

/** What the messages of a call found by themselves, in words: `found 3 passages`. */
export function retrievalWords(retrievals: CallView['retrievals']): string {
  const passages = retrievals.reduce((sum, one) => sum + one.passages.length, 0)
  return passages === 0 ? 'found no passage' : `found ${count(passages, 'passage')}`
}
