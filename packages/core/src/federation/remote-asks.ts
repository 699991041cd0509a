/** What an agent on another server asks, as interruptions here, and the answers as it takes them. Its words are shown to people, and to no model. */
import { createHash } from 'node:crypto'
import type { Interruption, Question } from '@witan/protocol'
import { questionSchema } from '@witan/protocol/schemas'
import { jsonLength } from '../identity/json-length.ts'
import { cutTo } from '../parameter/scrub.ts'
import { policyAnswer } from '../tool/policy.ts'
import { checkQuestions } from '../tool/questions.ts'
import type { ResultOutcome } from '../tool/outcome.ts'
import type { CallAnswer } from '../tool/tool.ts'
import type { InterruptionDraft } from '../tool/waiting.ts'
import { canonicalJson } from './canonical.ts'
import { fieldOf, isRecord, type JsonRecord, textIn } from './record.ts'
import type { AskedThere } from './remote-note.ts'
import { type RemotePart, textOf } from './remote-task.ts'
import { TooMuchError } from './too-much.ts'

/** What is asked, here and there. */
export interface Asks {
  readonly drafts: readonly InterruptionDraft[]
  readonly asked: readonly AskedThere[]
}

/** At most so much is asked at once. */
export const mostAsked = 50
/** The most characters of a text that is shown alone; the rest is cut. */
export const longestText = 10_000

/** The most characters of JSON that all that is asked at once may have: people must read it, and it stands in the log. */
const mostShown = 100_000

/** The questions and actions among the parts of a status message; a text alone is one question. */
export function questionsIn(parts: readonly RemotePart[]): Asks {
  const found = parts.flatMap((part): Pair[] => {
    if (part.kind !== 'data' || !isRecord(part.data)) return []
    const { data } = part
    const type = textIn(data, 'type')
    if (type === 'question') return questionOf(data)
    return type === 'action' ? actionOf(data) : []
  })
  if (found.length > 0) return asksOf(found.slice(0, mostAsked))
  const text = cutTo(textOf(parts), longestText) || 'What else is needed?'
  return asksOf([[{ kind: 'question', questions: [{ ...freeQuestion, text }] }, null]])
}

type Pair = readonly [InterruptionDraft, string | null]

const freeQuestion: Question = { id: 'input', text: '', options: [], multiple: false, freeText: true, required: true }

/** Questions that nobody here could answer, such as one without a way to, are left out with their part: its text is then asked. */
function questionOf(data: JsonRecord): Pair[] {
  const read = questionSchema.array().safeParse(fieldOf(data, 'questions'))
  const checked = checkQuestions({ questions: read.data })
  if (!checked.ok) return []
  const questions = checked.arguments['questions'] as Question[]
  return [[{ kind: 'question', questions }, textIn(data, 'id') ?? null]]
}

function actionOf(data: JsonRecord): Pair[] {
  const [name, args, path] = [textIn(data, 'name'), fieldOf(data, 'arguments'), textIn(data, 'path')]
  if (name === undefined || !isRecord(args)) return []
  return [
    [
      { kind: 'action', name: cutTo(name, 200), arguments: args, below: cutTo(path ?? name, 1000) },
      textIn(data, 'id') ?? null,
    ],
  ]
}

/** The characters of JSON of what is asked; of more than people are shown, about as many. */
function shownLength(draft: InterruptionDraft): number {
  const length = jsonLength(draft, mostShown)
  return length > mostShown ? length : JSON.stringify(draft).length
}

/** Throws a `TooMuchError` if it is too long for people to read. */
export function asksOf(pairs: readonly Pair[]): Asks {
  const shown = pairs.reduce((sum, [draft]) => sum + shownLength(draft), 0)
  if (shown > mostShown) throw new TooMuchError(`it asks for more than ${mostShown} characters can say`)
  return {
    drafts: pairs.map(([draft]) => draft),
    asked: pairs.map(([draft, id]) => {
      const kind = draft.kind as AskedThere['kind']
      return { kind, id, form: formOf(draft), answer: null, isSent: false }
    }),
  }
}

/** A digest of what is asked: it is stored with the call, and shows which answer belongs to it. */
function formOf(of: InterruptionDraft | Interruption): string {
  return createHash('sha256')
    .update(canonicalJson(askedIn(of)))
    .digest('base64url')
}

function askedIn(of: InterruptionDraft | Interruption): unknown {
  if (of.kind === 'question') return of.questions
  if (of.kind === 'action') return [of.name, of.arguments]
  return of.kind === 'policy' ? of.policy : null
}

/** What is asked there, with the answers of the call from this one on. An answer to what is not known here belongs to what is left. */
export function withAnswers(
  asked: readonly AskedThere[],
  answers: readonly CallAnswer[],
  from: number,
): readonly AskedThere[] {
  const all = [...asked]
  for (const [index, one] of answers.entries()) {
    if (index < from || one.kind !== 'interruption') continue
    const form = formOf(one.asked)
    const known = all.findIndex((each) => each.answer === null && each.form === form)
    const at = known < 0 ? all.findIndex((each) => each.answer === null) : known
    const there = all[at]
    if (there !== undefined) all[at] = { ...there, answer: index }
  }
  return all
}

/** What is asked anew, with the answers that were given to the same conditions before, and sent to nobody. */
export function withKept(asked: readonly AskedThere[], before: readonly AskedThere[]): readonly AskedThere[] {
  const kept = before.filter(({ kind, answer, isSent }) => kind === 'policy' && answer !== null && !isSent)
  return asked.map((one) => {
    const at = kept.findIndex(({ form }) => form === one.form)
    const [same] = at < 0 ? [] : kept.splice(at, 1)
    return same === undefined ? one : { ...one, answer: same.answer }
  })
}

/** What is asked, with the states that its conditions have now: one that was sent may not count any more. */
export function withStates(asked: readonly AskedThere[], now: readonly AskedThere[]): readonly AskedThere[] {
  const left = [...now]
  return asked.map((one) => {
    const at = left.findIndex(({ kind, form }) => kind === 'policy' && form === one.form)
    const [same] = at < 0 ? [] : left.splice(at, 1)
    return same === undefined ? one : { ...one, id: same.id }
  })
}

/** The outcome of the call, where one of its conditions was declined or not met in time; else null. */
export function refusalIn(asked: readonly AskedThere[], answers: readonly CallAnswer[]): ResultOutcome | null {
  for (const { kind, answer } of asked) {
    const given = kind === 'policy' && answer !== null ? answers[answer] : undefined
    const met = given?.kind === 'interruption' ? policyAnswer(given.answer) : null
    if (met !== null && !('resolution' in met)) return met
  }
  return null
}

/** An answer as the other server takes it: a part, and what the metadata of its message says. */
interface AnswerThere {
  readonly part: JsonRecord
  readonly metadata: JsonRecord
}

/** The answer to one thing that is asked there; null while there is none. */
export function answerTo({ kind, id, answer: at }: AskedThere, answers: readonly CallAnswer[]): AnswerThere | null {
  const one = at === null ? undefined : answers[at]
  if (one?.kind !== 'interruption') return null
  const { answer } = one
  if (kind === 'policy') {
    const met = policyAnswer(answer)
    const resolution = { ...('resolution' in met ? met.resolution : {}), in_reply_to_state: id }
    return {
      part: { data: { type: 'policy_resolution' } },
      metadata: { mentionable: { policy_resolution: resolution } },
    }
  }
  const why = 'error' in answer ? answer.error : null
  if (id === null) return { part: { text: why ?? freeText(answer) }, metadata: {} }
  const data = { type: 'answer', id, ...(why === null ? { answer: fieldOf(answer, 'value') ?? null } : { error: why }) }
  return { part: { data }, metadata: {} }
}

function freeText(answer: CallAnswer['answer']): string {
  return textIn(fieldOf(fieldOf(answer, 'value'), freeQuestion.id), 'text') ?? ''
}
