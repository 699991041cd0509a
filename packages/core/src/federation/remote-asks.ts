/** What an agent on another server asks, as interruptions here, and the answers as it takes them. Its words are shown to people, and to no model. */
import { createHash } from 'node:crypto'
import type { Interruption, Question } from '@witan/protocol'
import { questionSchema } from '@witan/protocol/schemas'
import { jsonLength } from '../identity/json-length.ts'
import { cutTo } from '../parameter/scrub.ts'
import { policyAnswer } from '../interruption/policy.ts'
import type { ResultOutcome } from '../tool/outcome.ts'
import type { CallAnswer } from '../tool/tool.ts'
import type { InterruptionDraft } from '../tool/waiting.ts'
import { canonicalJson } from './canonical.ts'
import { fieldOf, isRecord, type JsonRecord, recordsIn, textIn } from './record.ts'
import type { AskedThere } from './remote-note.ts'
import { type RemotePart, textOf } from './remote-task.ts'
import { TooMuchError } from './too-much.ts'

/** What is asked, here and there. */
export interface Asks {
  readonly drafts: readonly InterruptionDraft[]
  readonly asked: readonly AskedThere[]
}

/** At most so much is asked at once. */
const mostAsked = 50
const longestText = 10_000

/** The most characters of JSON that all that is asked at once may have: people must read it, and it stands in the log. */
const mostShown = 100_000

/** The conditions among the parts of a status message: any kind, known here or not. `issuer` is who demands if a part does not say more. */
export function conditionsIn(parts: readonly RemotePart[], state: string | null, issuer: string): Asks {
  const found = parts.flatMap((part) => {
    const policy = part.kind === 'data' && textIn(part.data, 'type') === 'policy' ? fieldOf(part.data, 'policy') : null
    return isRecord(policy) ? [{ policy, id: textIn(part.kind === 'data' ? part.data : null, 'state') ?? null }] : []
  })
  const unsaid = { policy: { kind: 'unauthorized', message: cutTo(textOf(parts), longestText) }, id: null }
  const all = found.length === 0 && state === 'TASK_STATE_AUTH_REQUIRED' ? [unsaid] : found
  return asksOf(
    all
      .slice(0, mostAsked)
      .map(({ policy, id }) => [{ kind: 'policy', issuer, policy: shownPolicy(policy, issuer) }, id]),
  )
}

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

function questionOf(data: JsonRecord): Pair[] {
  const questions = recordsIn(data, 'questions')
    .slice(0, mostAsked)
    .flatMap((one) => {
      const read = questionSchema.safeParse(one)
      return read.success ? [read.data] : []
    })
  return questions.length === 0 ? [] : [[{ kind: 'question', questions }, textIn(data, 'id') ?? null]]
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

/** A condition as it is shown: a link that does not lead to its issuer is left out. */
function shownPolicy(policy: JsonRecord, issuer: string): JsonRecord {
  const { state: _, url, ...rest } = policy
  return typeof url === 'string' && leadsTo(url, domainOf(issuer)) ? { ...rest, url } : rest
}

function domainOf(issuer: string): string {
  if (issuer.includes('://')) return URL.canParse(issuer) ? new URL(issuer).hostname : ''
  return issuer.slice(issuer.lastIndexOf('@') + 1)
}

function leadsTo(url: string, domain: string): boolean {
  if (domain === '' || !URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' && (hostname === domain || hostname.endsWith(`.${domain}`))
}

/** The characters of JSON of what is asked; of more than people are shown, about as many. */
function shownLength(draft: InterruptionDraft): number {
  const length = jsonLength(draft, mostShown)
  return length > mostShown ? length : JSON.stringify(draft).length
}

/** Throws a `TooMuchError` if it is too long for people to read. */
function asksOf(pairs: readonly Pair[]): Asks {
  const shown = pairs.reduce((sum, [draft]) => sum + shownLength(draft), 0)
  if (shown > mostShown) throw new TooMuchError(`it asks for more than ${mostShown} characters can say`)
  return {
    drafts: pairs.map(([draft]) => draft),
    asked: pairs.map(([draft, id]) => ({ kind: draft.kind as AskedThere['kind'], id, form: formOf(draft) })),
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

/** An answer as the other server takes it: a part, and what the metadata of its message says. */
interface AnswerThere {
  readonly part: JsonRecord
  readonly metadata: JsonRecord
}

/** The answers to what was asked there; or the outcome of the call, where a condition was declined. */
export function answersFor(
  asked: readonly AskedThere[],
  answers: readonly CallAnswer[],
): readonly AnswerThere[] | ResultOutcome {
  const open = [...asked]
  const given: AnswerThere[] = []
  for (const one of answers) {
    if (one.kind !== 'interruption') continue
    const form = formOf(one.asked)
    const at = open.findIndex((each) => each.form === form)
    const [there] = open.splice(Math.max(at, 0), 1)
    if (there === undefined) continue
    const answer = answerTo(there, one)
    if ('kind' in answer) return answer
    given.push(answer)
  }
  return given
}

function answerTo(
  { kind, id }: AskedThere,
  { answer }: CallAnswer & { readonly kind: 'interruption' },
): AnswerThere | ResultOutcome {
  if (kind === 'policy') {
    const met = policyAnswer(answer)
    if (!('resolution' in met)) return met
    const resolution = { in_reply_to_state: id, ...met.resolution }
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
