/** The user tool of an agent: it writes to a person by name and waits for the reply [T22, T25]. */
import type { AgentData } from '@witan/protocol'
import { isRole, type KnownPerson, knownPeople } from '../../parameter/people.ts'
import { isThere } from '../../parameter/participants.ts'
import { asking, failed, type ResultOutcome, result } from '../outcome.ts'
import { type JsonSchema, perBinding } from '../schema.ts'
import type { ArgumentCheck, Caller, ImmediateTool, ToolSource } from '../tool.ts'

const name = 'ask_user'
const longest = 100_000

/** `ask_user`, for agents that name people. The caller says who takes part in the conversation. */
export const userTools: ToolSource = (caller: Caller) => {
  if (caller.agent.users.length === 0) return []
  const here = knownPeople(caller.agent).filter((one) => isRole(one) || isThere(caller.people, one.id))
  return [
    toolOf(
      caller.agent,
      here.map(({ id }) => id),
    ),
  ]
}

const toolOf = perBinding((agent: AgentData, there): ImmediateTool => {
  const all = knownPeople(agent)
  const people = all.filter(({ id }) => there.has(id))
  return {
    name,
    offer: people.length === 0 ? null : { name, description: describe(people), parameters: schemaOf(people) },
    notice:
      people.length === 0 ? 'Not offered: none of the people whom it may ask takes part in the conversation.' : null,
    effect: 'once',
    bound: [],
    unlisted: ['user', 'message'],
    immediate: true,
    check: checkWords,
    invoke(request) {
      const found = find(request.arguments['user'], { people, all, isOpen: agent.anonymizeUsers === null })
      if ('kind' in found) return found
      return asking({ kind: 'message', prompt: String(request.arguments['message']), addressee: found.id })
    },
    resume(answer, { addressee }) {
      const asked = all.find(({ id }) => id === addressee)
      const who = asked?.called ?? 'somebody'
      if (!('error' in answer)) return result(`${writerOf(answer.by, { asked, all }) ?? who}: ${String(answer.value)}`)
      if (answer.lapsed !== 'expired') return failed('TOOL_FAILED', answer.error)
      return failed(
        'USER_UNAVAILABLE',
        `${who} did not answer in time. Try again later, ask somebody else, or go on without.`,
      )
    },
  }
})

/** Who of a role has answered, as far as the model may know; null for a person who was asked by name. */
function writerOf(
  by: string | undefined,
  { asked, all }: { readonly asked: KnownPerson | undefined; readonly all: readonly KnownPerson[] },
): string | null {
  if (asked === undefined || !isRole(asked) || by?.startsWith('user:') !== true) return null
  const id = by.slice('user:'.length)
  return all.find((one) => one.id === id)?.called ?? (asked.handle === asked.id ? id : null)
}

/** With one person there is no choice, so the schema has no name to choose [T24]. */
function schemaOf(people: readonly KnownPerson[]): JsonSchema {
  const message = { type: 'string', description: 'The question or message, complete in itself.' }
  const user = { type: 'string', enum: people.map(({ handle }) => handle), description: 'The id of the person.' }
  const several = people.length > 1
  return Object.freeze({
    type: 'object',
    properties: several ? { user, message } : { message },
    required: several ? ['user', 'message'] : ['message'],
    additionalProperties: false,
  })
}

function describe(people: readonly KnownPerson[]): string {
  const list = people.map(({ handle, called, roles }) => {
    const more = [...(called === handle ? [] : [called]), ...roles]
    return more.length === 0 ? handle : `${handle} (${more.join(', ')})`
  })
  return `Writes to a person and waits for the reply. ${people.length === 1 ? 'The person is' : 'The people are'} ${list.join('; ')}.`
}

function checkWords(args: Readonly<Record<string, unknown>>): ArgumentCheck {
  const { user, message } = args
  const issues: string[] = []
  if (typeof message !== 'string' || message.trim() === '') issues.push('`message`: expected text')
  else if (message.length > longest) issues.push(`\`message\`: at most ${longest} characters`)
  if (user !== undefined && typeof user !== 'string') issues.push('`user`: expected the id of a person')
  return issues.length === 0 ? { ok: true, arguments: args } : { ok: false, issues }
}

interface People {
  readonly people: readonly KnownPerson[]
  readonly all: readonly KnownPerson[]
  /** False if they have aliases: then a name that a model wrote may be a real one, and is not repeated. */
  readonly isOpen: boolean
}

/**
 * The person that a name refers to. Unknown and unavailable people get different errors; both list the people who can be
 * asked [T23, Tb05, E59].
 */
function find(wanted: unknown, { people, all, isOpen }: People): KnownPerson | ResultOutcome {
  const [only, second] = people
  const handles = people.map(({ handle }) => handle).join(', ')
  const list = people.length === 0 ? 'Nobody can be asked.' : `You can ask: ${handles}.`
  if (wanted === undefined) {
    if (only !== undefined && second === undefined) return only
    return failed('USER_UNKNOWN', `\`user\` is missing. ${list}`)
  }
  const known = people.find(({ handle }) => handle === wanted)
  if (known !== undefined) return known
  const called = String(wanted).slice(0, 100)
  if (all.some(({ handle }) => handle === wanted))
    return failed('USER_UNAVAILABLE', `\`${called}\` does not take part in this conversation. ${list}`)
  return failed(
    'USER_UNKNOWN',
    `There is no person ${isOpen ? `\`${called}\`` : 'of that name'}; nobody was asked. ${list}`,
  )
}
