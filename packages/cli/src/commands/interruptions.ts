/** `witan interruptions …`: open interruptions, and answers to them. */
import type { InterruptionAnswer, Client } from '@witan/client'
import { interruptionStates } from '@witan/protocol/schemas'
import type { Interruption, InterruptionState, Question } from '@witan/protocol'
import { verdictOf } from '@witan/protocol/condition'
import { type Choice, questionChoice, textOrJson } from '../answer-words.ts'
import { askFor } from '../answering.ts'
import { conditionOf } from '../approval-condition.ts'
import { readCount } from '../arguments.ts'
import type { Command, Given } from '../command.ts'
import { connectionOptions, jsonOption } from '../command.ts'
import { canAsk } from '../confirming.ts'
import { type Connection, looking, sayWhere } from '../connect.ts'
import type { ExitCode } from '../exit.ts'
import { exitCodes, UsageError } from '../exit.ts'
import { answerCommand, askedPhrase, askedPlace } from '../interruption-lines.ts'
import { printList } from '../listing.ts'
import type { Terminal } from '../terminal.ts'
import { print, printJson } from '../terminal.ts'

/** The commands about what waits. */
export const interruptionCommands: readonly Command[] = [
  {
    name: 'interruptions list',
    summary: 'List the open interruptions, oldest first.',
    options: {
      state: { value: 'STATE', help: `One of ${interruptionStates.join(', ')}; open unless given.` },
      addressee: {
        value: 'WHO',
        help: 'Only those for this person, role:NAME, me, or none (for nobody in particular).',
      },
      mine: { help: 'Only those addressed to you, as --addressee me.' },
      limit: { value: 'N', help: 'At most N; default 50.' },
      ...jsonOption,
      ...connectionOptions,
    },
    run: (given, terminal) => looking(given, terminal, (connection) => list(connection, given, terminal)),
  },
  {
    name: 'interruptions answer',
    summary: 'Answer an interruption; its run goes on. Without an answer the terminal asks for it.',
    operands: [{ name: 'ID' }, { name: 'TEXT', optional: true }],
    options: {
      approve: { help: 'Approve the call, or accept the condition.' },
      deny: { help: 'Deny the call, or decline the condition.' },
      arguments: { value: 'JSON', help: 'Approve with these arguments instead.' },
      reason: { value: 'TEXT', help: 'The reason; if a call is denied, the model reads it.' },
      choose: {
        value: 'QUESTION=OPTION',
        multiple: true,
        help: 'Choose an option by its id; with one question the option alone.',
      },
      text: {
        value: 'QUESTION=TEXT',
        multiple: true,
        help: 'Answer in words; with one question, or a message, the words alone.',
      },
      value: { value: 'JSON', help: 'The complete answer as JSON.' },
      error: { value: 'TEXT', help: 'Say that the action failed, and why.' },
      ...jsonOption,
      ...connectionOptions,
    },
    examples: [
      'witan interruptions answer i_1 --approve',
      'witan interruptions answer i_1 --deny --reason "not this month"',
      'witan interruptions answer i_2 --choose colour=red --text why="it is warm"',
      'witan interruptions answer i_3 "Yes, 40 of them."',
    ],
    run: (given, terminal) => looking(given, terminal, (connection) => answer(connection, given, terminal)),
  },
]

async function list({ client }: Connection, given: Given, terminal: Terminal): Promise<ExitCode> {
  const limit = readCount(given, 'limit', 200) ?? 50
  const named = given.text('addressee')
  if (named !== undefined && given.has('mine'))
    throw new UsageError('--mine is --addressee me.', 'Write one of the two.')
  const addressee = given.has('mine') ? 'me' : named
  const state = stateOf(given)
  const page = await client.interruptions.list({ limit, state, ...(addressee === undefined ? {} : { addressee }) })
  printList(terminal, given, {
    items: page.items,
    columns: [
      { title: 'INTERRUPTION', tone: 'strong' },
      { title: 'KIND' },
      { title: 'FOR' },
      { title: 'PATH' },
      { title: 'WHAT' },
    ],
    cells: (one) => [one.id, one.kind, one.addressee ?? 'anybody', askedPlace(one), askedPhrase(one)],
    none:
      state === 'open' ? `Nothing waits for ${addressee === 'me' ? 'you' : 'anybody'}.` : `There is nothing ${state}.`,
  })
  return exitCodes.done
}

function stateOf(given: Given): InterruptionState {
  const text = given.text('state') ?? 'open'
  const state = interruptionStates.find((one) => one === text)
  if (state !== undefined) return state
  throw new UsageError(`--state "${text}" is not a state.`, `One of: ${interruptionStates.join(', ')}.`)
}

async function answer(connection: Connection, given: Given, terminal: Terminal): Promise<ExitCode> {
  const { client } = connection
  const [id = ''] = given.operands
  const found = await find(client, id)
  const body = await bodyOf(given, terminal, { id, found, client })
  if (body === null) {
    print(terminal, 'Left open.', terminal.errors)
    return exitCodes.waits
  }
  const told = await client.interruptions.answer(id, body)
  if (given.has('json')) printJson(terminal, told)
  else print(terminal, `${wordOf(told, body)}  ${told.kind} ${told.path}`)
  sayWhere(connection, 'Its run goes on', terminal)
  return exitCodes.done
}

/** How it was answered: the same answer may be given again, so the body is what was taken. */
function wordOf({ state, kind }: Interruption, body: InterruptionAnswer): string {
  return state === 'answered' && 'answer' in body ? verdictOf(kind, body.answer) : state
}

/** Looks among the open ones, then among the answered ones: the same answer may be given again. If it is in neither list, the server says why. */
async function find(client: Client, id: string): Promise<Interruption | null> {
  for (const state of ['open', 'answered'] as const)
    for await (const one of client.interruptions.all({ limit: 200, state })) if (one.id === id) return one
  return null
}

interface About {
  readonly client: Client
  readonly id: string
  readonly found: Interruption | null
}

const formNames = ['approve', 'deny', 'arguments', 'choose', 'text', 'value', 'error'] as const

async function bodyOf(
  given: Given,
  terminal: Terminal,
  { client, id, found }: About,
): Promise<InterruptionAnswer | null> {
  const words = given.operands[1]
  const forms = formNames.filter((name) => given.has(name))
  const whole = given.text('value')
  if (whole !== undefined) return { answer: textOrJson(whole) }
  const error = given.text('error')
  if (error !== undefined) return { error }
  if (found === null) return { answer: words === undefined ? {} : textOrJson(words) }
  if (words === undefined && forms.length === 0) {
    if (found.state !== 'open') return { answer: {} }
    if (canAsk(terminal)) return (await askFor(terminal, found, { condition: await conditionOf(client, found) })).answer
    throw new UsageError(`witan interruptions answer ${id} needs an answer.`, `Such as: ${answerCommand(found)}`)
  }
  return formed(given, found, words)
}

function formed(given: Given, open: Interruption, words: string | undefined): InterruptionAnswer {
  if (open.kind === 'approval') return decided(given)
  if (open.kind === 'question') return { answer: choices(given, open.questions, words) }
  if (open.kind === 'policy') return { answer: conditionAnswer(given, open, words) }
  const text = words ?? given.text('text')
  if (text === undefined) throw new UsageError(`That does not answer a ${open.kind}.`, `Write: ${answerCommand(open)}`)
  return { answer: open.kind === 'message' ? text : textOrJson(text) }
}

/** A condition is accepted as it is, resolved with data, or declined. */
function conditionAnswer(given: Given, open: Interruption, words: string | undefined): unknown {
  const said = words ?? given.text('text')
  const accepts = given.has('approve') || said !== undefined
  if (accepts === given.has('deny'))
    throw new UsageError('A condition is either accepted or declined.', `Write: ${answerCommand(open)}`)
  if (!accepts) return { decision: 'declined' }
  return { resolution: said === undefined ? {} : textOrJson(said) }
}

function decided(given: Given): InterruptionAnswer {
  const reason = given.text('reason')
  const why = reason === undefined ? {} : { reason }
  const changed = given.text('arguments')
  const approves = given.has('approve') || changed !== undefined
  if (approves === given.has('deny'))
    throw new UsageError('A call is either approved or denied.', 'Write --approve, --arguments JSON, or --deny.')
  if (!approves) return { answer: { decision: 'denied', ...why } }
  return {
    answer: { decision: 'approved', ...(changed === undefined ? {} : { arguments: textOrJson(changed) }), ...why },
  }
}

function choices(given: Given, questions: readonly Question[], words: string | undefined): Record<string, Choice> {
  const only = questions.length === 1 ? questions[0] : undefined
  const made = new Map<string, { options?: string[]; text?: string }>()
  const at = (id: string) => made.get(id) ?? made.set(id, {}).get(id) ?? {}
  for (const pair of given.texts('choose')) {
    const { id, value } = split(pair, only)
    const one = at(id)
    one.options = [...(one.options ?? []), value]
  }
  for (const pair of given.texts('text')) {
    const { id, value } = split(pair, only)
    at(id).text = value
  }
  if (words === undefined) return Object.fromEntries(made)
  if (only === undefined)
    throw new UsageError(
      'There are several questions.',
      `Name them: ${questions.map(({ id }) => `--text ${id}="…"`).join(' ')}`,
    )
  return { [only.id]: questionChoice(only, words) ?? { options: [words] } }
}

/** `question=value`; with one question just the value. */
function split(pair: string, only: Question | undefined): { readonly id: string; readonly value: string } {
  const at = pair.indexOf('=')
  const named = at > 0 && (only === undefined || pair.slice(0, at) === only.id)
  if (named) return { id: pair.slice(0, at), value: pair.slice(at + 1) }
  if (only !== undefined) return { id: only.id, value: pair }
  throw new UsageError(`"${pair}" names no question.`, 'There are several: write QUESTION=VALUE.')
}
