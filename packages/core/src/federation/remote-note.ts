/** What the call of an agent on another server must know when it runs again: it is stored with the call, and with nothing else. */
import { fieldOf, isRecord, type JsonRecord, recordsIn, textIn } from './record.ts'

/** What a message was: it says what may be sent again. */
export type Sent =
  | { readonly what: 'task' }
  /** The answers from this one on. */
  | { readonly what: 'answers'; readonly from: number }
  | { readonly what: 'words' }

/** One thing that the other server has asked, and how it knows the answer. */
export interface AskedThere {
  readonly kind: 'question' | 'action' | 'policy'
  /** Its id there; null for words without one. Of a condition its sealed state. */
  readonly id: string | null
  /** What was asked here, as a digest. */
  readonly form: string
}

/** The state of a remote call. */
export interface RemoteNote {
  /** How many messages were sent, or were about to be. */
  readonly n: number
  readonly sent: Sent
  readonly task: string | null
  readonly context: string | null
  /** How many of the call's answers, and of the messages that came for it, were sent. */
  readonly answers: number
  readonly words: number
  /** How often it has asked. */
  readonly rounds: number
  /** What is asked now, and the name of the status that asks it. */
  readonly asked: readonly AskedThere[]
  readonly askedAs: string | null
  /** The name of the last status that was answered: it may be seen once more before the answer is taken. */
  readonly answeredAs: string | null
}

/** A call of which nothing was sent. */
export const freshNote: RemoteNote = {
  n: 0,
  sent: { what: 'task' },
  task: null,
  context: null,
  answers: 0,
  words: 0,
  rounds: 0,
  asked: [],
  askedAs: null,
  answeredAs: null,
}

/** The note that a call has saved; null for none. */
export function readNote(note: unknown): RemoteNote | null {
  if (!isRecord(note)) return null
  const sent = fieldOf(note, 'sent')
  return {
    n: countIn(note, 'n'),
    sent: sentOf(isRecord(sent) ? sent : {}),
    task: textIn(note, 'task') ?? null,
    context: textIn(note, 'context') ?? null,
    answers: countIn(note, 'answers'),
    words: countIn(note, 'words'),
    rounds: countIn(note, 'rounds'),
    asked: recordsIn(note, 'asked').map(askedOf),
    askedAs: textIn(note, 'askedAs') ?? null,
    answeredAs: textIn(note, 'answeredAs') ?? null,
  }
}

function sentOf(sent: JsonRecord): Sent {
  const what = textIn(sent, 'what')
  if (what === 'answers') return { what, from: countIn(sent, 'from') }
  return what === 'words' ? { what } : { what: 'task' }
}

function askedOf(asked: JsonRecord): AskedThere {
  const kind = textIn(asked, 'kind')
  return {
    kind: kind === 'action' || kind === 'policy' ? kind : 'question',
    id: textIn(asked, 'id') ?? null,
    form: textIn(asked, 'form') ?? '',
  }
}

function countIn(of: JsonRecord, name: string): number {
  const value = fieldOf(of, name)
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0
}
