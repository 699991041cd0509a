/** What the call of an agent on another server must know when it runs again: it is stored with the call, and with nothing else. */
import type { UsageCounters } from '@witan/protocol'
import { fieldOf, isRecord, type JsonRecord, recordsIn, textIn } from './record.ts'
import { readUsage } from './remote-usage.ts'

/** What a message was. With the note and the answers of the call the same message can be made again. */
export type Sent =
  | { readonly what: 'task' }
  /** The task's message once more, with the resolution of this one among `asked`: the task that asked had ended. */
  | { readonly what: 'anew'; readonly of: number }
  /** The answers to these among `asked`. */
  | { readonly what: 'answers'; readonly of: readonly number[] }
  /** These of the messages that came for the call. */
  | { readonly what: 'words'; readonly from: number; readonly upTo: number }

/** One thing that the other server has asked, and how it knows the answer. */
export interface AskedThere {
  readonly kind: 'question' | 'action' | 'policy'
  /** Its id there; null for words without one. Of a condition its sealed state. */
  readonly id: string | null
  /** What was asked here, as a digest. */
  readonly form: string
  /** Which of the call's answers is the one to it; null while there is none. */
  readonly answer: number | null
  readonly isSent: boolean
}

/** The state of a remote call. */
export interface RemoteNote {
  /** How many messages were sent, or were about to be. */
  readonly n: number
  readonly sent: Sent
  readonly task: string | null
  readonly context: string | null
  /** How many of the call's answers belong to `asked` and to what was asked before. */
  readonly answers: number
  /** How many of the messages that wait for the call were sent, and how often it had answered before them. */
  readonly words: number
  readonly answered: number
  /** How often it has asked. */
  readonly rounds: number
  /** What is asked now, and the name of the status that asks it. */
  readonly asked: readonly AskedThere[]
  readonly askedAs: string | null
  /** Whether the task that asks it has ended: what is not sent yet then waits until a new task asks for it. */
  readonly isOver: boolean
  /** The name of the last status that was answered: it may be seen once more before the answer is taken. */
  readonly answeredAs: string | null
  /** What earlier tasks of the call have cost, and what of the cost of all stands in the log; null for nothing. */
  readonly ended: UsageCounters | null
  readonly counted: UsageCounters | null
  /** The names of fields that are left out. */
  readonly dropped: readonly string[]
}

/** A call of which nothing was sent. */
export const freshNote: RemoteNote = {
  ...{ n: 0, sent: { what: 'task' }, task: null, context: null, answers: 0, words: 0, answered: 0, rounds: 0 },
  ...{ asked: [], askedAs: null, isOver: false, answeredAs: null, ended: null, counted: null, dropped: [] },
}

/** The note that a call has saved; null for none. */
export function readNote(note: unknown): RemoteNote | null {
  if (!isRecord(note)) return null
  const sent = fieldOf(note, 'sent')
  const dropped = fieldOf(note, 'dropped')
  return {
    n: countIn(note, 'n'),
    sent: sentOf(isRecord(sent) ? sent : {}),
    task: textIn(note, 'task') ?? null,
    context: textIn(note, 'context') ?? null,
    answers: countIn(note, 'answers'),
    words: countIn(note, 'words'),
    answered: countIn(note, 'answered'),
    rounds: countIn(note, 'rounds'),
    asked: recordsIn(note, 'asked').map(askedOf),
    askedAs: textIn(note, 'askedAs') ?? null,
    isOver: fieldOf(note, 'isOver') === true,
    answeredAs: textIn(note, 'answeredAs') ?? null,
    ended: readUsage(fieldOf(note, 'ended')),
    counted: readUsage(fieldOf(note, 'counted')),
    dropped: Array.isArray(dropped) ? dropped.filter((one): one is string => typeof one === 'string') : [],
  }
}

/** A note as it was saved, without the states of conditions. */
export function withoutStates(note: unknown): unknown {
  if (!isRecord(note) || !Array.isArray(note['asked'])) return note
  const asked = note['asked'].map((one: unknown) =>
    textIn(one, 'kind') === 'policy' ? { ...(one as object), id: null } : one,
  )
  return { ...note, asked }
}

function sentOf(sent: JsonRecord): Sent {
  const what = textIn(sent, 'what')
  const of = fieldOf(sent, 'of')
  if (what === 'anew') return { what, of: countIn(sent, 'of') }
  if (what === 'answers') return { what, of: Array.isArray(of) ? of.filter(isCount) : [] }
  if (what === 'words') return { what, from: countIn(sent, 'from'), upTo: countIn(sent, 'upTo') }
  return { what: 'task' }
}

function askedOf(asked: JsonRecord): AskedThere {
  const kind = textIn(asked, 'kind')
  const answer = fieldOf(asked, 'answer')
  return {
    kind: kind === 'action' || kind === 'policy' ? kind : 'question',
    id: textIn(asked, 'id') ?? null,
    form: textIn(asked, 'form') ?? '',
    answer: isCount(answer) ? answer : null,
    isSent: fieldOf(asked, 'isSent') === true,
  }
}

function countIn(of: JsonRecord, name: string): number {
  const value = fieldOf(of, name)
  return isCount(value) ? value : 0
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
