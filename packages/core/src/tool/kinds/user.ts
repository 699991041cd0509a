/** The user tools of an agent: it writes to a person by name, or to all at once, and waits for the replies [T22, T25, Tb08]. */
import type { AgentData } from '@witan/protocol'
import { meantBy } from '../../identity/display-name.ts'
import type { People } from '../../parameter/person.ts'
import { asksPeople, aliasOrId, isRole, type KnownPerson, knownPeople, roleIn } from '../../parameter/known-people.ts'
import { cutTogether } from '../../parameter/scrub.ts'
import { failed, type Outcome, type ResultOutcome, result, pendingOn } from '../outcome.ts'
import { describeAsking, describeAskingAll } from '../people-list.ts'
import type { JsonSchema } from '../schema.ts'
import type { Answer, ArgumentCheck, CallAnswer, Caller, ImmediateTool, Tool, ToolSource } from '../tool.ts'

const longest = 100_000

/** `ask_user`, for agents that ask people; with several of them also `ask_all_users`. The caller says who takes part. */
export const userTools: ToolSource = (caller: Caller) => {
  const { agent, people } = caller
  if (!asksPeople(agent)) return []
  const known = made.get(agent) ?? new WeakMap<People, readonly Tool[]>()
  made.set(agent, known)
  const tools = known.get(people) ?? toolsOf(agent, people)
  known.set(people, tools)
  return tools
}

const made = new WeakMap<AgentData, WeakMap<People, readonly Tool[]>>()

/** The people of a tool. */
interface Company {
  readonly agent: AgentData
  readonly people: People
  /** Everybody whom the agent knows, and those of them who can be asked. */
  readonly all: readonly KnownPerson[]
  readonly there: readonly KnownPerson[]
}

function toolsOf(agent: AgentData, people: People): readonly Tool[] {
  const all = knownPeople(agent, people)
  const company = { agent, people, all, there: all.filter(({ isThere }) => isThere) }
  return [oneTool(company), allTool(company)]
}

const absent = 'Not offered: none of the people whom it may ask takes part in the conversation.'
const common = { kind: 'message', effect: 'once', bound: [], immediate: true } as const

function oneTool(company: Company): ImmediateTool {
  const { there, all } = company
  const name = 'ask_user'
  const description = describeAsking(there).text
  return {
    ...common,
    name,
    offer: there.length === 0 ? null : { name, description, parameters: schemaOf(there) },
    notice: there.length === 0 ? absent : null,
    unlisted: ['user', 'message'],
    check: checkWords,
    invoke(request, caller) {
      const found = find(request.arguments['user'], company)
      if ('kind' in found) return found
      if (caller.hasLeft(found.id)) return hasLeft(found.called, company, caller)
      return pendingOn({ kind: 'message', prompt: String(request.arguments['message']), addressee: found.id })
    },
    resume(answer, { addressee }) {
      const asked = all.find(({ id }) => id === addressee)
      const who = asked?.called ?? 'somebody'
      if (!('error' in answer)) return result(`${writerOf(answer.by, asked, company) ?? who}: ${String(answer.value)}`)
      if (answer.lapsed === 'left') return hasLeft(who, company)
      if (answer.lapsed !== 'expired') return failed('TOOL_FAILED', answer.error)
      return failed(
        'USER_UNAVAILABLE',
        `${who} did not answer in time. Try again later, ask somebody else, or go on without.`,
      )
    },
  }
}

/** Asks everybody at once. A person who does not answer is one error among the replies. */
function allTool(company: Company): ImmediateTool {
  const { there } = company
  const name = 'ask_all_users'
  const description = describeAskingAll(there).text
  const parameters = objectOf({ message: messageSchema })
  return {
    ...common,
    name,
    offer: there.length < 2 ? null : { name, description, parameters },
    notice: null,
    unlisted: ['message'],
    check: checkWords,
    invoke(request, caller): Outcome {
      if (there.length === 0) return failed('USER_UNKNOWN', 'Nobody can be asked.')
      const prompt = String(request.arguments['message'])
      const asked = there.filter(({ id }) => !caller.hasLeft(id))
      if (asked.length === 0) return result(repliesOf(company, []))
      return pendingOn(...asked.map(({ id }) => ({ kind: 'message', prompt, addressee: id }) as const))
    },
    resume: (_answer, _asked, all) => result(repliesOf(company, all)),
  }
}

interface Reply {
  readonly user: string
  readonly reply?: string
  readonly error?: string
}

/** The replies in the order of the list, the longest cut if they are too long in all. Who was not asked has left since the run began. */
function repliesOf({ there }: Company, all: readonly CallAnswer[]): readonly Reply[] {
  const answers = new Map<string | null, Answer>()
  for (const one of all) if (one.kind === 'interruption') answers.set(one.asked.addressee, one.answer)
  const texts = cutTogether(
    there.map(({ id }) => {
      const answer = answers.get(id)
      return answer === undefined || 'error' in answer ? '' : String(answer.value)
    }),
  )
  return there.map(({ id, handle: user }, at) => {
    const answer = answers.get(id)
    if (answer !== undefined && !('error' in answer)) return { user, reply: texts[at] ?? '' }
    return { user, error: lapses[answer?.lapsed ?? (answer === undefined ? 'left' : 'cancelled')] ?? 'did not answer' }
  })
}

const lapses: Readonly<Record<string, string>> = {
  expired: 'did not answer in time',
  left: 'has left the conversation',
  cancelled: 'the question was cancelled',
}

/** Who of a role has answered, as far as the model may know; null for a person who was asked by name. */
function writerOf(by: string | undefined, asked: KnownPerson | undefined, company: Company): string | null {
  if (asked === undefined || !isRole(asked) || by?.startsWith('user:') !== true) return null
  const id = by.slice('user:'.length)
  const { agent, people, all } = company
  return all.find((one) => one.id === id)?.called ?? aliasOrId(agent, people, id)
}

const messageSchema = { type: 'string', description: 'The question or message, complete in itself.' }

function objectOf(properties: Readonly<Record<string, unknown>>): JsonSchema {
  return Object.freeze({ type: 'object', properties, required: Object.keys(properties), additionalProperties: false })
}

/** With one person there is no choice, so the schema has no name to choose [T24]. */
function schemaOf(people: readonly KnownPerson[]): JsonSchema {
  const user = { type: 'string', enum: people.map(({ handle }) => handle), description: 'The id of the person.' }
  return objectOf(people.length > 1 ? { user, message: messageSchema } : { message: messageSchema })
}

function checkWords(args: Readonly<Record<string, unknown>>): ArgumentCheck {
  const { user, message } = args
  const issues: string[] = []
  if (typeof message !== 'string' || message.trim() === '') issues.push('`message`: expected text')
  else if (message.length > longest) issues.push(`\`message\`: at most ${longest} characters`)
  if (user !== undefined && typeof user !== 'string') issues.push('`user`: expected the id of a person')
  return issues.length === 0 ? { ok: true, arguments: args } : { ok: false, issues }
}

/** Who can be asked, in words; without those who have left since the run began. */
function optionsOf({ there }: Company, caller?: Pick<Caller, 'hasLeft'>): string {
  const left = there.filter(({ id }) => caller?.hasLeft(id) !== true)
  return left.length === 0 ? 'Nobody can be asked.' : `You can ask: ${left.map(({ handle }) => handle).join(', ')}.`
}

/** The names by which a model knows a person: where people have aliases, no name of theirs is among them [C36]. */
function namesOf(one: KnownPerson): readonly string[] {
  const { handle, called, id } = one
  if (isRole(one) && handle === id) return [handle, roleIn(handle)]
  return called === handle ? [handle, handle.replaceAll('-', ' ')] : [handle, called]
}

function hasLeft(who: string, company: Company, caller?: Pick<Caller, 'hasLeft'>): ResultOutcome {
  const more = caller === undefined ? 'Ask somebody else, or go on without.' : optionsOf(company, caller)
  return failed('USER_LEFT', `${who} has left the conversation. ${more}`)
}

/**
 * The person that a name refers to. Unknown people and people who do not take part get different errors; both list the people who
 * can be asked [T23, Tb05, E59].
 */
function find(wanted: unknown, company: Company): KnownPerson | ResultOutcome {
  const { there, all, agent } = company
  const [only, second] = there
  const list = optionsOf(company)
  if (wanted === undefined) {
    if (only !== undefined && second === undefined) return only
    return failed('USER_UNKNOWN', `\`user\` is missing. ${list}`)
  }
  const called = String(wanted).slice(0, 100)
  const meant = meantBy(String(wanted), all, namesOf)
  const [known, other] = meant
  if (other !== undefined) {
    const ids = meant.filter((one) => there.includes(one)).map(({ handle }) => handle)
    const may = ids.length === 0 ? list : `It may be ${ids.join(' or ')}: write one of these ids.`
    return failed('USER_UNKNOWN', `\`${called}\` is the name of several people; nobody was asked. ${may}`)
  }
  if (known !== undefined && there.includes(known)) return known
  if (known !== undefined)
    return failed('USER_UNAVAILABLE', `\`${called}\` does not take part in this conversation. ${list}`)
  // With aliases a name that a model wrote may be a real one, and is not repeated.
  const who = agent.anonymizeUsers === null ? `\`${called}\`` : 'of that name'
  return failed('USER_UNKNOWN', `There is no person ${who}; nobody was asked. ${list}`)
}
