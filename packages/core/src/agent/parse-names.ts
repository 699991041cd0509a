/** The names in an agent that models, terminals and logs show. Only what is saved is checked: an agent that is stored stays readable. */
import { WitanError } from '@witan/protocol'
import { nameProblem, type NameKind, shownName } from '@witan/protocol/names'

type Named = readonly [path: string, name: unknown, kind: NameKind]

/** Each name of an agent that breaks the rule for names. The input may be malformed. */
export function* nameProblems(input: unknown, who: string): Generator<WitanError> {
  for (const [path, name, kind] of namesIn(fieldsOf(input))) {
    if (typeof name !== 'string' || name === '' || name.length > longest) continue // the schema refuses these
    const problem = nameProblem(name, kind)
    if (problem === null) continue
    const detail = `${who}: \`${path}\` is \`${shownName(name.slice(0, 80))}\`, which ${problem}.`
    yield new WitanError('AGENT_INVALID', detail, { path, hint: 'Models and people read it: choose a plain name.' })
  }
}

const longest = 400
/** More than the schema allows in any of these lists. */
const mostListed = 1000

function* namesIn({ name, users, anonymizeUsers, access }: Fields): Generator<Named> {
  yield ['name', name, 'name']
  yield [
    'anonymizeUsers',
    typeof anonymizeUsers === 'string' ? anonymizeUsers.trim().replace(/ +/g, ' ') : null,
    'name',
  ]
  for (const [index, user] of listOf(users)) {
    const { id, name: called, role, roles } = fieldsOf(user)
    yield [`users.${index}.id`, id, 'id']
    yield [`users.${index}.name`, called, 'name']
    yield [`users.${index}.role`, role, 'name']
    for (const [at, one] of listOf(roles)) yield [`users.${index}.roles.${at}`, one, 'name']
  }
  const { call, tools } = fieldsOf(access)
  for (const [path, entries] of accessLists(call, fieldsOf(tools))) {
    for (const [index, entry] of listOf(entries)) {
      // An address is read as one, which is stricter.
      if (isAddress(entry)) continue
      if (typeof entry === 'string') yield [`access.${path}.${index}`, entry, 'word']
      else
        for (const [at, one] of listOf(entry)) if (!isAddress(one)) yield [`access.${path}.${index}.${at}`, one, 'word']
    }
  }
}

function isAddress(entry: unknown): boolean {
  return typeof entry === 'string' && entry.startsWith('@')
}

function* accessLists(call: unknown, tools: Fields): Generator<readonly [path: string, entries: unknown]> {
  yield ['call', call]
  for (const [tool, entries] of Object.entries(tools)) yield [`tools.${tool}`, entries]
}

type Fields = Readonly<Record<string, unknown>>

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function listOf(value: unknown): Iterable<readonly [number, unknown]> {
  return Array.isArray(value) ? (value as readonly unknown[]).slice(0, mostListed).entries() : []
}
