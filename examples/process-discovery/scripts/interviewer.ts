/** The scripted interviewer: asks everybody what happens, asks again where an answer has an open end, and clears up what is in doubt. */
import type { ModelRequest } from '@witan/core'
import type { Rule, ScriptedReply } from '@witan/core/testing'
import { type Statement, sentencesOf, factOf } from '../world/facts.ts'
import { openEnds, summaryOf } from './knowledge.ts'
import { heard, latest, peopleOf, questions, readObject, wordsTo } from './transcript.ts'

const opening =
  'What do you do, from the moment a bike comes in until it leaves? What comes before and after each step, and on what does it depend?'

/** The next questions of an interview; null once there is nothing more to ask. */
export function interviewStep(request: ModelRequest): ScriptedReply | null {
  const asked = questions(request)
  if (asked.length === 0) return asking([{ name: 'ask_all_users', arguments: { message: opening } }])
  const open = openEnds(heard(request)).filter((end) => asked.every(({ message }) => message !== end.question))
  return asking(open.map(({ by, question }) => ({ name: 'ask_user', arguments: { user: by, message: question } })))
}

/** Puts sentences that contradict each other to those who said them; the next time to everybody else. Null if all were asked. */
export function clearUpStep(request: ModelRequest, sentences: readonly string[]): ScriptedReply | null {
  if (sentences.length === 0) return null
  const message = `I was told different things. Please look it up: what is right?\n${sentences.join('\n')}`
  const asked = questions(request)
  const isAsked = (user: string) =>
    asked.some((one) => one.user === user && sentences.some((sentence) => one.message.includes(sentence)))
  const tellers = new Set(
    heard(request)
      .filter(({ says }) => sentences.includes(says))
      .map(({ by }) => by),
  )
  const everybody = peopleOf(request)
  const first = everybody.filter((user) => tellers.has(user) && !isAsked(user))
  const next = first.length > 0 ? first : everybody.filter((user) => !isAsked(user))
  return asking(next.map((user) => ({ name: 'ask_user', arguments: { user, message } })))
}

function asking(toolCalls: NonNullable<ScriptedReply['toolCalls']>): ScriptedReply | null {
  return toolCalls.length === 0 ? null : { toolCalls }
}

/** The sentences that a message asks to clear up. */
export function doubtsIn(message: string): readonly string[] {
  return sentencesOf(message).filter((sentence) => factOf(sentence) !== null)
}

/** Works for a manager: takes a task in words, and answers with a summary in words. */
export const interviewerInWords: Rule = (request) => {
  const doubts = doubtsIn(wordsTo(request).at(-1) ?? '')
  if (doubts.length === 0) return interviewStep(request) ?? summaryOf(heard(request))
  const fresh = heard(latest(request))
  if (fresh.length > 0) return summaryOf(fresh)
  return clearUpStep(request, doubts) ?? 'Nobody knows more.'
}

/** Works among peers: takes messages of the protocols `interview` and `clarify`, and answers with who said what. */
export const interviewerByProtocol: Rule = (request) => {
  const { sentences } = readObject(wordsTo(request).at(-1) ?? '') as { readonly sentences?: readonly string[] }
  if (sentences === undefined) return interviewStep(request) ?? replyWith(heard(request))
  const isAsked = questions(latest(request)).length > 0
  return (isAsked ? null : clearUpStep(request, sentences)) ?? replyWith(heard(latest(request)))
}

function replyWith(statements: readonly Statement[]): string {
  return JSON.stringify({ statements })
}
