/** What a function tool gets besides its arguments: its caller, and ways to ask, to run agents and to save a checkpoint. */
import type { AgentData, Interruption } from '@witan/protocol'
import { MaxSubAgentDepthError } from '@witan/protocol'
import { maxJsonDepth } from '@witan/protocol/schemas'
import { ownCopy } from '../../identity/frozen.ts'
import { shownCaller } from '../../identity/principal.ts'
import { runWithoutPause } from '../../identity/pausable.ts'
import { plainCopy } from '../../identity/plain.ts'
import type { Scrubber } from '../../parameter/scrub.ts'
import { scrubbedValue } from '../../parameter/scrub-value.ts'
import { callDigest, canonicalJson } from '../digest.ts'
import type { AgentReply, Answers, Approval, FunctionContext, FunctionTool } from '../define-tool.ts'
import { bindChild, type FindAgent, repeats } from '../delegation.ts'
import { MOST_RESULT_CHARACTERS, type PendingOutcome, pendingOn } from '../outcome.ts'
import { checkedDemand } from '../demand.ts'
import { checkQuestions, type QuestionInput } from '../questions.ts'
import type { Answer, CallAnswer, Caller, ToolContext, ToolRequest } from '../tool.ts'
import type { InterruptionDraft, Spawn } from '../waiting.ts'
import { policyAnswer } from '../policy.ts'

/** Thrown when a function must wait: it ends this execution, and the function's own `finally` blocks run. */
class CallPaused extends Error {
  constructor() {
    super('This call waits for an answer and runs again with it. Let this error pass.')
    this.name = 'CallPaused'
  }
}

/** One run of a function: its context, and what it waits for if it had to stop. */
interface FunctionRun {
  readonly context: FunctionContext
  waitsFor(): PendingOutcome | null
}

/**
 * Creates the context of one run. Earlier questions are matched by content, not by order: a function may change between two
 * runs.
 */
export function functionRun(
  {
    tool,
    find,
    parameters,
  }: {
    readonly tool: FunctionTool
    readonly find: FindAgent
    readonly parameters: Readonly<Record<string, unknown>>
  },
  request: ToolRequest,
  { caller, signal, scrub, answers, note, saveNote, artifacts, commit }: ToolContext,
): FunctionRun {
  let pending: PendingOutcome | null = null
  const wait = (outcome: PendingOutcome): never => {
    pending ??= outcome
    throw new CallPaused()
  }
  const told = new Map<string, string>()
  const answered = (asking: Asking) => {
    const meant = asking(null)
    const draft = scrub === null ? meant : asking(scrub)
    if (draft !== meant) tellApart(told, wordsOf(draft), wordsOf(meant))
    return answerTo(draft, answers) ?? answerTo(meant, answers) ?? wait(pendingOn(draft))
  }
  const asked = async (asking: Asking): Promise<unknown> => {
    const answer = answered(asking)
    if ('error' in answer) throw new Error(answer.error)
    return ownCopy(answer.value)
  }
  const context: FunctionContext = {
    callId: request.callId,
    conversationId: caller.conversationId,
    agent: caller.agent.id,
    agentPath: caller.agentPath,
    principal: caller.principal,
    caller: shownCaller(caller.principal).caller ?? null,
    parameters,
    signal,
    ask: async (questions, { to } = {}) =>
      (await asked((hidden) => ({ ...questionDraft(questions, hidden), ...addressee(to) }))) as Answers,
    async approve(what, { to } = {}) {
      const args = plainArguments(what)
      const digest = callDigest(tool.name, args)
      const draft = { kind: 'approval', tool: tool.name, arguments: args, digest, ...addressee(to) } as const
      return approvalOf((await asked(() => draft)) as { readonly decision: string; readonly reason?: string })
    },
    async demand(demand) {
      const issuer = caller.agent.id
      return resolutionOf(answered((hidden) => ({ kind: 'policy', issuer, policy: checkedDemand(demand, hidden) })))
    },
    resolution: lastResolution(answers),
    agents: {
      async run(id, message) {
        const shown = typeof message === 'string' && scrub !== null ? scrub(message) : message
        if (scrub !== null) tellApart(told, canonicalJson([id, shown]), canonicalJson([id, message]))
        const isKnown = (said: string) => said === shown || said === message
        const known = answers.find((one) => one.kind === 'agent' && one.agent === id && isKnown(one.message))
        if (known?.kind === 'agent') return replyOf(known.answer)
        return wait({ kind: 'pending', child: childFor(caller, find, { id, message: shown }) })
      },
    },
    artifacts: {
      async save(draft) {
        const saved = await artifacts.save(draft)
        await commit()
        return saved
      },
      read: artifacts.read,
    },
    checkpoint: { value: ownCopy(note), save: saveNote },
  }
  return { context, waitsFor: () => pending }
}

/** What somebody is asked, without the values that the scrubber takes out. */
type Asking = (scrub: Scrubber) => InterruptionDraft

/** Refuses two texts of which the same is shown: the answer to one would count for the other. */
function tellApart(told: Map<string, string>, shown: string, meant: string): void {
  const before = told.get(shown) ?? meant
  told.set(shown, before)
  if (before === meant) return
  throw new TypeError('Two of what this call asks differ only in a hidden value. Tell them apart by other words.')
}

type Questions = Parameters<typeof checkQuestions>[0]

/** What is asked about, as it is now. */
function plainArguments(what: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const limits = { characters: MOST_RESULT_CHARACTERS, values: MOST_RESULT_CHARACTERS }
  const { value, isWhole, depth } = runWithoutPause(plainCopy({ ...what }, limits))
  if (isWhole && depth <= maxJsonDepth) return value as Readonly<Record<string, unknown>>
  throw new RangeError(
    `What is approved is JSON of at most ${MOST_RESULT_CHARACTERS} characters, nested at most ${maxJsonDepth} deep.`,
  )
}

function addressee(to: string | undefined): { readonly addressee?: string } {
  return to === undefined ? {} : { addressee: to }
}

function questionDraft(
  questions: readonly QuestionInput[],
  scrub: Scrubber,
): InterruptionDraft & { readonly kind: 'question' } {
  let checked = checkQuestions({ questions })
  // An id that holds a value is no id without it, and so is refused.
  if (checked.ok && scrub !== null) checked = checkQuestions(scrubbedValue(checked.arguments, scrub) as Questions)
  if (!checked.ok) throw new TypeError(`These questions cannot be asked: ${checked.issues.slice(0, 5).join('; ')}.`)
  return { kind: 'question', ...(checked.arguments as Pick<InterruptionDraft & { kind: 'question' }, 'questions'>) }
}

/** The answer to an identical earlier question, or null. */
function answerTo(draft: InterruptionDraft, answers: readonly CallAnswer[]) {
  const words = wordsOf(draft)
  for (const one of answers) if (one.kind === 'interruption' && wordsOf(one.asked) === words) return one.answer
  return null
}

function wordsOf(asked: InterruptionDraft | Interruption): string {
  return canonicalJson([asked.addressee ?? null, contentOf(asked)])
}

function contentOf(asked: InterruptionDraft | Interruption): unknown {
  if (asked.kind === 'question') return asked.questions
  if (asked.kind === 'approval') return asked.digest
  return asked.kind === 'policy' ? asked.policy : null
}

/** The resolution of a demand. Throws if it was declined, or not met in time: in words without the condition's own. */
function resolutionOf(answer: Answer): Readonly<Record<string, unknown>> {
  const met = policyAnswer(answer, 'The condition')
  if ('resolution' in met) return ownCopy(met.resolution)
  throw new Error(met.failure?.detail)
}

/** The resolution of the last demand that was met; null for none. */
function lastResolution(answers: readonly CallAnswer[]): Readonly<Record<string, unknown>> | null {
  for (const one of answers.toReversed()) {
    if (one.kind !== 'interruption' || one.asked.kind !== 'policy') continue
    const met = policyAnswer(one.answer)
    if ('resolution' in met) return ownCopy(met.resolution)
  }
  return null
}

function approvalOf({ decision, reason }: { readonly decision: string; readonly reason?: string }): Approval {
  return { approved: decision === 'approved', reason: reason ?? null }
}

function replyOf(answer: (CallAnswer & { kind: 'agent' })['answer']): AgentReply {
  if ('error' in answer) throw new Error(answer.error)
  return ownCopy(answer)
}

/** The child that runs an agent for a tool. Throws if the agent cannot be run. */
function childFor(
  caller: Caller,
  find: FindAgent,
  { id, message }: { readonly id: string; readonly message: string },
): Spawn {
  if (typeof message !== 'string' || message.trim() === '') throw new TypeError(`\`${id}\` needs a message.`)
  const child = id === caller.agent.id ? null : find(caller, id)
  if (child === null || !mayRun(caller.agent, child))
    throw new Error(`There is no agent \`${id}\` that \`${caller.agent.id}\` may run.`)
  if (caller.depth >= caller.maxDepth)
    throw new MaxSubAgentDepthError(`\`${id}\` would run deeper than ${caller.maxDepth}.`)
  const { bound, missing, generate } = bindChild(caller, child)
  const [needed] = [...missing, ...generate]
  if (needed !== undefined) throw new Error(`\`${id}\` needs \`${needed.name}\`, which nobody supplies.`)
  const spawn: Spawn = { agent: id, message, generated: null, map: {}, history: 'agent' }
  if (repeats(caller, spawn, bound))
    throw new Error(`\`${id}\` is already at work on the same message above this call.`)
  return spawn
}

/** Tools may run an agent that no agent may list. Any other agent must allow the caller to list it [F06]. */
function mayRun(caller: AgentData, { parents }: AgentData): boolean {
  return parents === null || parents.length === 0 || parents.includes(caller.id)
}
