/** Parses input into a checked protocol, or into the first problem with it. */
import { isWitanError, WitanError } from '@witan/protocol'
import type { Protocol, ProtocolInput, ProtocolMessage } from '@witan/protocol/protocols'
import { nameProblem } from '@witan/protocol/names'
import { maxJsonDepth, protocolSchema } from '@witan/protocol/schemas'
import type { z } from 'zod'
import { freezing } from '../../identity/frozen.ts'
import { type Pausable, runWithoutPause } from '../../identity/pausable.ts'
import { readingOnce } from '../../identity/read-once.ts'
import { type PatternAllowance, patternAllowance } from '../../model/pattern.ts'
import { schemaProblem } from '../../model/json-schema-problem.ts'
import { definitionExcess, type FreeKeys, maxDefinitionValues } from '../definition-size.ts'
import { nearest } from '../../identity/nearest.ts'
import { plainDefinition } from '../plain-definition.ts'

/** A protocol, or the problems with its form: at most 20. */
export type ReadProtocol =
  | { readonly ok: true; readonly protocol: Protocol }
  | { readonly ok: false; readonly problems: readonly [WitanError, ...WitanError[]] }

/** Parses a protocol and fills in the defaults. Throws `JSON_TOO_DEEP`, `UNKNOWN_KEY` or `PROTOCOL_INVALID`. */
export function parseProtocol(input: unknown): Protocol {
  const read = readAtOnce(input)
  if (!read.ok) throw read.problems[0]
  return read.protocol
}

/** The problems with the form of a protocol, at most 20; empty if `parseProtocol` accepts it. */
export function protocolProblems(input: unknown): readonly WitanError[] {
  const read = readAtOnce(input)
  return read.ok ? [] : read.problems
}

function readAtOnce(input: unknown): ReadProtocol {
  return runWithoutPause(readingOf(runWithoutPause(readingOnce(input))))
}

/** Checks a protocol of the code, and freezes it. Throws the first problem found, with path and hint [T20]. */
export function defineProtocol(protocol: ProtocolInput): Protocol {
  return parseProtocol(protocol)
}

/** The most problems that are reported for one protocol. Each searches for the word that was meant. */
const mostProblems = 20

const freeKeys: FreeKeys = { messages: ['schema', 'reply'] }

/** Reads a protocol in pieces, so that a large one does not block the process. `patterns` is what is left for those of its request. */
export function* readingOf(input: unknown, patterns: PatternAllowance = patternAllowance()): Pausable<ReadProtocol> {
  const excess = yield* definitionExcess(input, freeKeys)
  if (excess === 'values') {
    const detail = `${whoIs(input)} has more than ${maxDefinitionValues} values beside the schemas of its messages.`
    return refused([wrong(detail, '', 'Shorten its order, or make several protocols of it.')])
  }
  if (excess === 'depth') {
    const detail = `${whoIs(input)} is nested deeper than ${maxJsonDepth}, or contains itself.`
    return { ok: false, problems: [new WitanError('JSON_TOO_DEEP', detail, { hint: 'Flatten the value.' })] }
  }
  yield
  const parsed = protocolSchema.safeParse(input)
  yield
  if (!parsed.success)
    return refused(parsed.error.issues.slice(0, mostProblems).flatMap((issue) => problemsOf(issue, input)))
  const problems: WitanError[] = []
  for (const index of parsed.data.messages.keys()) {
    yield
    problems.push(...(yield* messageProblems(parsed.data, index, patterns)))
  }
  problems.push(...orderProblems(parsed.data))
  if (problems.length > 0) return refused(problems)
  try {
    const data = yield* plainDefinition(parsed.data, whoIs(input), 'PROTOCOL_INVALID')
    return { ok: true, protocol: yield* freezing(data) }
  } catch (error) {
    if (isWitanError(error)) return refused([error])
    throw error
  }
}

function refused(problems: readonly WitanError[]): ReadProtocol & { readonly ok: false } {
  return { ok: false, problems: problems.slice(0, mostProblems) as [WitanError, ...WitanError[]] }
}

function whoIs(input: unknown): string {
  const name = (input as { name?: unknown } | null)?.name
  return typeof name === 'string' ? `Protocol \`${name.slice(0, 80)}\`` : 'The protocol'
}

const topKeys = ['name', 'purpose', 'processing', 'messages', 'order']
const messageKeys = ['name', 'from', 'schema', 'reply']
const orderKeys = ['start', 'final', 'states']

function problemsOf(issue: z.core.$ZodIssue, input: unknown): WitanError[] {
  const who = whoIs(input)
  const path = issue.path.join('.')
  if (issue.code === 'unrecognized_keys') {
    const keys = path === '' ? topKeys : path === 'order' ? orderKeys : messageKeys
    return issue.keys
      .slice(0, mostProblems)
      .map((key) => unknownKey(who, [...issue.path, key].join('.'), nearest(key, keys) ?? keys))
  }
  const isNaming = issue.code === 'invalid_format'
  const what =
    path === ''
      ? `${who} must be an object.`
      : isNaming
        ? `${who}: \`${path}\` is not a valid name there.`
        : `${who}: \`${path}\` is not valid: ${issue.message}.`
  const hint = isNaming
    ? 'Use a-z, 0-9 and `-`: at most 64 characters for a protocol, 40 for a message.'
    : 'A message has `name`, `from`, `schema` and `reply`; `order` has `start`, `final` and `states`.'
  return [wrong(what, path, hint)]
}

function unknownKey(who: string, path: string, near: string | readonly string[]): WitanError {
  const hint = typeof near === 'string' ? `Did you mean \`${near}\`?` : `Known keys: ${near.join(', ')}.`
  const nearby = typeof near === 'string' ? `, nearest is \`${near}\`` : ''
  return new WitanError('UNKNOWN_KEY', `${who}: unknown key \`${path.slice(0, 200)}\`${nearby}.`, { path, hint })
}

function wrong(detail: string, path: string, hint: string): WitanError {
  return new WitanError('PROTOCOL_INVALID', detail, { path, hint })
}

function* messageProblems(protocol: Protocol, index: number, patterns: PatternAllowance): Pausable<WitanError[]> {
  const who = whoIs(protocol)
  const { name, schema, reply } = protocol.messages[index] as ProtocolMessage
  const found: WitanError[] = []
  const at = `messages.${index}`
  if (protocol.messages.findIndex((one) => one.name === name) < index)
    found.push(wrong(`${who}: message \`${name}\` is there twice.`, `${at}.name`, 'Keep one of the two.'))
  if (schema['type'] !== 'object')
    found.push(
      wrong(
        `${who}: the schema of \`${name}\` is not of type object.`,
        `${at}.schema.type`,
        'The content of a message becomes the arguments of a tool: write `{ "type": "object", "properties": … }`.',
      ),
    )
  for (const [key, one] of Object.entries({ schema, reply })) {
    const trouble = one === null ? null : yield* schemaProblem(one, patterns)
    if (trouble === null) continue
    const path = [at, key, trouble.path].filter((part) => part !== '').join('.')
    const hint = 'Draft 2020-12 and draft 7 are understood; patterns are those of RE2.'
    found.push(wrong(`${who}: the JSON Schema at \`${path}\` cannot be read: ${trouble.reason}`, path, hint))
  }
  return found
}

function orderProblems(protocol: Protocol): WitanError[] {
  const { order, messages } = protocol
  if (order === null) return []
  const who = whoIs(protocol)
  const { start, final, states } = order
  const found: WitanError[] = []
  const known = Object.keys(states)
  for (const state of known) {
    const problem = nameProblem(state, 'name')
    if (problem !== null)
      found.push(
        wrong(`${who}: the name of a state ${problem}.`, 'order.states', 'Models read it: choose a plain name.'),
      )
  }
  const unknownState = (state: string, path: string) => {
    if (Object.hasOwn(states, state) || found.length >= mostProblems) return
    const near = nearest(state, known)
    const hint = near === null ? `States: ${known.join(', ')}.` : `Did you mean \`${near}\`?`
    found.push(wrong(`${who}: the state \`${state}\` is not in \`order.states\`.`, path, hint))
  }
  unknownState(start, 'order.start')
  for (const [index, state] of final.entries()) unknownState(state, `order.final.${index}`)
  const used = new Set<string>()
  const names = messages.map(({ name }) => name)
  for (const [state, moves] of Object.entries(states)) {
    for (const [name, next] of Object.entries(moves)) {
      used.add(name)
      unknownState(next, `order.states.${state}.${name}`)
      if (names.includes(name) || found.length >= mostProblems) continue
      const hint = `Messages: ${names.join(', ')}.`
      found.push(
        wrong(
          `${who}: \`order\` names the message \`${name}\`, which it does not have.`,
          `order.states.${state}.${name}`,
          hint,
        ),
      )
    }
  }
  for (const [index, name] of names.entries()) {
    if (used.has(name)) continue
    const hint = 'Allow it in a state, or take it out.'
    found.push(wrong(`${who}: message \`${name}\` occurs in no state of \`order\`.`, `messages.${index}.name`, hint))
  }
  return found
}
