/** The form for the parameters that agents declare, and the values of a conversation from the form. */
import type { GivenParameter, Parameter, ParameterType, ParameterValue } from '@witan/protocol'
import { isNumberAsText, numberAsText, parseExact } from '@witan/protocol/digits'
import { mappedName } from '@witan/protocol/edges'
import { edgesFrom } from './agents.ts'
import type { ReachAgent } from './unreachable.ts'

/** One line of the form. `required` where the root agent declares it shown; the others may stay empty. */
export interface ParameterField {
  readonly name: string
  readonly type: ParameterType
  readonly description: string
  readonly required: boolean
  readonly trusted: boolean
  readonly secret: boolean
  /** No model sees it, whatever the toggle says. */
  readonly alwaysHidden: boolean
  readonly usedBy: readonly string[]
}

/** The content of one line of the form. */
export interface ParameterDraft {
  readonly text: string
  readonly hide: boolean
}

/** What a form reads of an agent. */
type Declaring = Omit<ReachAgent, 'disabled'>

/** The lines for a conversation with the first agent: what it declares, and what the agents below it look for, under the names that their edges give it. */
export function parameterFields(agents: readonly Declaring[]): ParameterField[] {
  const fields = new Map<string, ParameterField>()
  const [root] = agents
  for (const parameter of root?.parameters ?? [])
    add(fields, { name: parameter.name, parameter, agent: root?.id ?? '', isRoot: true })
  for (const edge of agents.flatMap(edgesFrom)) {
    for (const parameter of agents.find(({ id }) => id === edge.agent)?.parameters ?? []) {
      const name = mappedName(edge, parameter.name)
      if (name !== null) add(fields, { name, parameter, agent: edge.agent, isRoot: false })
    }
  }
  return [...fields.values()]
}

interface Taker {
  readonly name: string
  readonly parameter: Parameter
  readonly agent: string
  readonly isRoot: boolean
}

function add(fields: Map<string, ParameterField>, { name, parameter, agent, isRoot }: Taker): void {
  const known = fields.get(name)
  fields.set(name, {
    name,
    type: known?.type ?? parameter.type,
    description: known?.description || parameter.description,
    required: known?.required ?? (isRoot && parameter.sendToModel),
    trusted: (known?.trusted ?? false) || parameter.policy === 'forbidModelGeneration',
    secret: (known?.secret ?? false) || parameter.secret,
    alwaysHidden: (known?.alwaysHidden ?? true) && !parameter.sendToModel,
    usedBy: [...new Set([...(known?.usedBy ?? []), agent])],
  })
}

/** What the drafts say, or which lines cannot be read. Empty lines are left out. */
export function givenParameters(
  fields: readonly ParameterField[],
  drafts: Readonly<Record<string, ParameterDraft>>,
): { given: Record<string, GivenParameter>; problems: Record<string, string> } {
  const given: Record<string, GivenParameter> = {}
  const problems: Record<string, string> = {}
  for (const field of fields) {
    const draft = drafts[field.name]
    if (draft === undefined || (draft.text === '' && field.type !== 'null')) {
      if (field.required) problems[field.name] = `"${field.name}" needs a value: the agent declares it.`
      continue
    }
    const read = readValue(field.type, draft.text)
    if (read.ok) given[field.name] = draft.hide ? { value: read.value, sendToModel: false } : read.value
    else problems[field.name] = read.problem
  }
  return { given, problems }
}

type Read = { readonly ok: true; readonly value: ParameterValue } | { readonly ok: false; readonly problem: string }

function readValue(type: ParameterType, text: string): Read {
  if (type === 'string') return { ok: true, value: text }
  if (type === 'null') return { ok: true, value: null }
  if (type === 'number') return readNumber(text)
  if (type === 'boolean') return readBoolean(text)
  if (type === 'any') return readAny(text)
  return readList(type, text)
}

function readNumber(text: string): Read {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) return { ok: false, problem: `"${text}" is not a number.` }
  if (isNumberAsText(text.trim())) return { ok: false, problem: `"${text}" is ${numberAsText}.` }
  return { ok: true, value }
}

function readBoolean(text: string): Read {
  if (text === 'true' || text === 'false') return { ok: true, value: text === 'true' }
  return { ok: false, problem: `Write true or false, not "${text}".` }
}

/** JSON where it is JSON of a fitting kind, the text itself otherwise. */
function readAny(text: string): Read {
  const parsed = parse(text)
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
    return { ok: false, problem: 'A parameter is never an object: give text, a number, true, false, null or a list.' }
  }
  return { ok: true, value: parsed === undefined ? text : (parsed as ParameterValue) }
}

function readList(type: ParameterType, text: string): Read {
  const parsed = parse(text)
  const item = type.slice(0, -2)
  if (Array.isArray(parsed) && parsed.every((one) => typeof one === item)) return { ok: true, value: parsed }
  const example = { string: '["a", "b"]', number: '[1, 2]', boolean: '[true, false]' }[item] ?? '[]'
  return { ok: false, problem: `Write a JSON list such as ${example}.` }
}

function parse(text: string): unknown {
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}
