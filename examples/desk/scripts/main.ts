/** The script of the desk: it sends each part of a request to a specialist, and says so where none fits. */
import type { ModelRequest } from '@witan/core'
import type { Rule } from '@witan/core/testing'
import { isBriefing, type Part, partsOf, specialistsOf } from './parts.ts'
import { type Asked, askedIn, call, objectOf, one, played, type Result, resultsAfter, type Steps } from './play.ts'

const critique = /^\[from @witan to @[\w-]+\] critique: /m
const source = /\s?\[k[a-z2-7]{8}\]/g

/** Answers, judges an answer, or answers again. */
export const mainScript: Rule = (request) => {
  const { messages } = request
  const isQuestion = ({ role, content }: ModelRequest['messages'][number]) => role === 'user' && !critique.test(content)
  const from = messages.findLastIndex(isQuestion)
  const asked = askedIn(request, from + 1)
  const results = resultsAfter(request, from)
  const last = messages.findLast(({ role }) => role === 'user')?.content ?? ''
  if (last.includes('"task":"check"') && critique.test(last))
    return judged(messages.findLast(({ role }) => role === 'assistant')?.content ?? '', results)
  return played(stepsOf(asked, critique.test(last)), results)
}

/** A critique: what documents said is to keep its source. */
function judged(answer: string, results: readonly Result[]): string {
  const sources = results.flatMap(({ text }) => text.match(source) ?? []).map((id) => id.trim())
  const lost = [...new Set(sources)].filter((id) => !answer.includes(id))
  if (lost.length === 0) return '{"verdict":"pass","problems":[]}'
  return JSON.stringify({
    verdict: 'revise',
    problems: [`What stands in a document lacks its source: ${lost.join(' ')}`],
  })
}

function stepsOf(asked: Asked, isRevised: boolean): Steps | string {
  const { message } = asked
  if (/^\[from @[\w-]+ to @main\]/.test(message)) return reported(message)
  const aside = background(asked)
  if (aside !== null) return aside
  if (/\bcouncil\b|\bsecond opinion\b/i.test(message)) return council(message)
  if (/^(hello|hi|hey|help|good (morning|day|evening))\b|\bwhat can you do\b|\bwho are you\b/i.test(message))
    return `Good day. ${introduction(asked)}`
  if (/^(thanks|thank you|ok|okay|good|fine)\b[^?]*$/i.test(message)) return 'You are welcome.'
  return isBriefing(message) ? brief(asked, isRevised) : delegate(asked)
}

/** Asks all at once. */
function* delegate(asked: Asked): Steps {
  const parts = partsOf(asked)
  const fitting = parts.filter(({ agent }) => agent !== null)
  if (fitting.length === 0) return lacking(asked)
  const results = yield fitting.map(({ agent, text }) =>
    call(agent ?? '', { message: text, ...(isLong(agent, text) ? { blocking: false } : {}) }),
  )
  const answers = results.map((result, at) => answerOf(result, fitting[at]))
  const lost = parts.filter(({ agent }) => agent === null)
  return [...answers, ...lost.map(({ text }) => `I have no specialist for this: “${text}”.`)].join('\n\n')
}

/** Writes a plan, and asks one after the other. In a draft it forgets the sources; the critique finds that. */
function* brief(asked: Asked, isRevised: boolean): Steps {
  const found = partsOf(asked).filter(({ agent }) => agent !== null)
  const parts =
    asked.message.includes(':') && found.length > 0
      ? found
      : usual.filter(({ agent }) => specialistsOf(asked).some(({ name }) => name === agent))
  if (parts.length === 0) return lacking(asked)
  const plan = (current: number) =>
    call('update_plan', {
      steps: parts.map(({ text }, at) => ({
        ...{ id: `s${at + 1}`, title: text.replace(/\s+/g, ' ').slice(0, 200) },
        status: at < current ? 'completed' : at === current ? 'in_progress' : 'pending',
      })),
    })
  const answers: string[] = []
  for (const [at, part] of parts.entries()) {
    const [, result] = yield [plan(at), call(part.agent ?? '', { message: part.text })]
    if (result !== undefined) answers.push(`${part.text.replace(/[?.]$/, '')}:\n${answerOf(result, part)}`)
  }
  yield [plan(parts.length)]
  const whole = answers.join('\n\n')
  return isRevised ? whole : whole.replace(source, '')
}

/** What is looked at before a visit, where the person does not say. */
const usual: readonly Part[] = [
  { agent: 'meetings', text: 'Which meetings do I have this week?' },
  { agent: 'emails', text: 'Which mails are unread?' },
  { agent: 'tasks', text: 'Which tasks do I have?' },
  { agent: 'research', text: 'Until when does our contract run?' },
]

function isLong(agent: string | null, text: string): boolean {
  return agent === 'data' && /\breports?\b|\bbackground\b/i.test(text)
}

function answerOf({ text, value, error }: Result, part: Part | undefined): string {
  if (error !== null) return `${part?.agent} could not answer: ${error}`
  const { status } = Object(value) as { readonly status?: unknown }
  if (status === 'queued')
    return 'That is being worked on in the background. Go on meanwhile: ask how far it is, tell it something, or cancel it.'
  return text
}

/** Questions about what runs in the background, and messages to it; null if the message is none. */
function background({ message, past }: Asked): Steps | string | null {
  const [, words] = /^tell (?:it|data|the report)\b[:,]?\s*(?:to )?(.+)/i.exec(message) ?? []
  const asks = /\bhow far\b|\bprogress\b|\bready yet\b|\bstill (running|working)\b/i.test(message)
  const stops = /\b(cancel|stop)\b.*\b(it|report|background|task)\b/i.test(message) && !/\bt-\w+/.test(message)
  const gets = /\bresult of the (report|background)/i.test(message)
  if (words === undefined && !asks && !stops && !gets) return null
  const open = past.map(({ result }) => objectOf(result)).findLast(({ mode }) => mode === 'non_blocking')
  const id = open?.['task_id']
  if (typeof id !== 'string') return 'Nothing is being worked on in the background.'
  if (words !== undefined)
    return helper('message_sub_agent', { task_id: id, message: words, mode: 'send' }, () => 'I have told it.')
  if (stops)
    return helper('cancel_background_sub_agent', { task_id: id }, ({ value }) =>
      Object(value).status === 'cancelled' ? 'It is cancelled.' : 'It had ended already.',
    )
  const name = asks ? 'fetch_sub_agent_progress' : 'get_background_sub_agent_result'
  return helper(name, { task_id: id, ...(asks ? { question: message } : {}) }, ({ text, value }) => {
    const { answer, text: words, result, status } = Object(value) as Readonly<Record<string, unknown>>
    return String(answer ?? words ?? result ?? status ?? text)
  })
}

function* helper(name: string, args: Readonly<Record<string, unknown>>, words: (result: Result) => string): Steps {
  const result = yield* one(name, args)
  return result.error === null ? words(result) : `That did not work: ${result.error}`
}

/** What the runtime reports of work that has ended. */
function reported(message: string): string {
  return `The work in the background has ended:\n\n${message.replace(/^\[from @[\w-]+ to @main\]\s*(Task \S+ is completed:\s*)?/gm, '')}`
}

function* council(message: string): Steps {
  const question = message.replace(/^(?:please )?ask the council\b[:,]?\s*(?:whether |if )?/i, '').trim()
  const { text, error } = yield* one('ask_council', { question: question.length < 3 ? message : question })
  return error === null ? text : `The council gave no answer: ${error}`
}

function lacking(asked: Asked): string {
  return `I have no specialist for this: “${asked.message.replace(/\s+/g, ' ').slice(0, 200)}”, and I do not do it myself.\n\n${introduction(asked)}`
}

function introduction(asked: Asked): string {
  const roster = specialistsOf(asked).map(
    ({ name, description }) => `- ${description.split('\n')[0]?.slice(0, 200) || name}`,
  )
  return `I can ask:\n${roster.join('\n')}\n\nI am a script, not a language model, and go by single words. With OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY set I understand anything.`
}
