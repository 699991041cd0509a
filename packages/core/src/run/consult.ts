/** Asks hooks what stands still until they have answered, and records what they decided [F02, Tb12]. */
import { callersView } from '../conversation/callers-view.ts'
import { askedView } from '../conversation/fold-interruptions.ts'
import { wordsToCheck } from '../guard/checks.ts'
import { endingAgents, openingWords, readingAgents } from '../conversation/guards.ts'
import { wordsOf } from '../conversation/inbox.ts'
import { answeredCall, type AgentCall, type ToolCall } from '../conversation/state.ts'
import { isBody } from '../conversation/body.ts'
import type { Decision } from '../hook/decision.ts'
import type { Taken, Verdict } from '../hook/ask.ts'
import { frozen, ownCopy } from '../identity/frozen.ts'
import { runByPieces } from '../identity/pausable.ts'
import { plainCopy } from '../identity/plain.ts'
import { countWork, isWorkSpent, nextTurn } from '../identity/turn.ts'
import { type CheckDues, hooksAt, isBeginning, messageToCheck, openingRow } from '../job/check-dues.ts'
import type { Job } from '../job/job.ts'
import { outputProblem } from '../model/output.ts'
import { scrubbingValue } from '../parameter/scrub-value.ts'
import { prepareArguments } from '../tool/arguments.ts'
import type { Tool } from '../tool/tool.ts'
import { passedArguments, preparedOf } from './admit.ts'
import { resumed } from './act.ts'
import { toolsOf } from './caller.ts'
import type { Consultation } from './decide.ts'
import { recordDecision, recordDecisions } from './decision-effects.ts'
import { askOfResult, hookedKind } from './check-result.ts'
import { ask, textOfHook, valueIn } from './hook-question.ts'
import { failCall, outputOf } from './settle.ts'

/** Asks. Null once all is recorded; a promise if a hook takes time. */
export function consult(work: Consultation, job: Job, signal: () => AbortSignal): Promise<void> | null {
  const { at, call, toolCall } = work
  const { hooks } = job
  if (hooks === null) return null
  const consulting = { call, job, hooks, signal }
  if (at === 'beforeRun') return openCall(consulting)
  if (at === 'joined') return joinCall(consulting)
  if (at === 'beforeTool') return beginTools(consulting)
  if (toolCall !== null) return at === 'onInterruption' ? tellOf(consulting, toolCall) : settle(consulting, toolCall)
  return at === 'afterRun' ? endCall(consulting) : passAnswer(consulting)
}

interface Consulting {
  readonly call: AgentCall
  readonly job: Job
  readonly hooks: CheckDues
  signal(): AbortSignal
}

/** Does what follows from an answer, now or once it has come; nothing if nobody waits for it any more. */
function then<Answer>(
  { job, signal }: Pick<Consulting, 'job' | 'signal'>,
  answer: Answer | Promise<Answer>,
  act: (answer: Answer) => void,
): Promise<void> | null {
  if (!(answer instanceof Promise)) {
    act(answer)
    return null
  }
  return answer.then(async (given) => {
    while (job.log.proposals.pending !== null) await job.log.proposals.pending
    if (!signal().aborted && job.lifecycle.stopped === null) act(given)
  })
}

/** A call begins, or this process goes on with it. */
function openCall(of: Consulting): Promise<void> | null {
  const { call, job, hooks, signal } = of
  const missing = hooks.rows.missing(call.agent)
  if (missing !== null) {
    const detail = `Agent \`${call.agent.id}\` lists the hook \`${missing}\`, which this process lacks.`
    failCall(call, job, {
      code: 'HOOK_MISSING',
      detail,
      hint: 'Add it to `hooks` of the configuration of every process.',
    })
    return null
  }
  const row = isFresh(call) ? openingRow(hooks, call) : []
  const verdict = ask<string>(call, job, {
    ...{ at: 'beforeRun', row, signal },
    about: (message) => openingSeen(call, message),
    // Behind a hand-over the words stand in the document of another, and a peer's are part of an exchange: they are read as they are, or not at all.
    take: (rewrite) => (mayRewrite(call) ? textOfHook(call, rewrite, 'message') : null),
  })
  return then(of, verdict, ({ bodies }) => {
    hooks.allowed.add(call)
    recordDecisions(job, call.place, bodies)
  })
}

/** A message has come to a call that is at work: its guardrails are asked, as of the one that began it. */
function joinCall(of: Consulting): Promise<void> | null {
  const { call, job, hooks, signal } = of
  const waiting = messageToCheck(hooks, call)
  if (waiting === null) return null
  const [head, words] = wordsOf(waiting)
  const verdict = ask<string>(call, job, {
    ...{ at: 'joined', row: hooks.guards.of(readingAgents(call), 'input'), signal },
    about: (message = words) => ({ message }),
    take: (rewrite) => textOfHook(call, rewrite, 'message'),
  })
  return then(of, verdict, ({ bodies }) => {
    hooks.joined.set(waiting, call)
    const at = call.document.inbox.indexOf(waiting)
    if (at < 0) return
    const placed = bodies.map(({ written, ...body }): Decision => {
      const text = typeof written === 'string' ? { written: head + written } : {}
      return { ...body, ...text, waiting: at }
    })
    recordDecisions(job, call.place, placed)
  })
}

/** What hooks see of what begins a call; guardrails look at all that its agent is to read of it. */
function openingSeen(call: AgentCall, written: string | undefined) {
  const message = written ?? call.message
  return call.handOver === null ? { message } : { message, [wordsToCheck]: openingWords(call) }
}

function mayRewrite({ handOver, exchange }: AgentCall): boolean {
  return handOver === null && exchange === null
}

/**
 * Whether no hook has decided on the beginning of a call, as far as the log shows: its model has not replied, and nothing of it was begun. That a
 * request was lost does not show it: who takes a run over notes that of every call.
 */
function isFresh({ checked, iterations, toolCalls, workflow, final, handedTo }: AgentCall): boolean {
  if (checked?.isOpen === true || iterations > 0 || final !== null || handedTo !== null) return false
  if (workflow !== null && workflow.steps.length > 0) return false
  return toolCalls.every((one) => one.state === 'requested' || (isBody(one) && one.answers.length === 0))
}

/** The tool calls of a reply are about to be admitted: hooks are asked of each, in their order where they answer at once. */
function beginTools(of: Consulting): Promise<void> | null {
  const { call, job, hooks } = of
  const asked = call.toolCalls.filter((toolCall) => isBeginning(hooks, toolCall))
  return then(of, askToBeginAll(of, asked, []), (given) => {
    for (const [index, toolCall] of asked.entries()) {
      hooks.allowed.add(toolCall.passed ?? toolCall)
      for (const body of given[index]?.bodies ?? [])
        recordDecision(job, call.place, { ...body, toolCallId: toolCall.requested.id })
    }
  })
}

type Verdicts = readonly (Verdict | null)[]

/** What a character counts for of arguments that hooks get a frozen copy of. */
const copyUnits = 4

/** Asks of one after the other, over as many turns of the event loop as that takes, and waits for all of them. */
function askToBeginAll(
  of: Consulting,
  toolCalls: readonly ToolCall[],
  before: readonly (Verdict | Promise<Verdict> | null)[],
): Verdicts | Promise<Verdicts> {
  const verdicts = [...before]
  const { toolset } = toolsOf(of.call, of.job)
  for (const toolCall of toolCalls.slice(before.length)) {
    if (isWorkSpent()) return nextTurn().then(() => askToBeginAll(of, toolCalls, verdicts))
    countWork(copyUnits * toolCall.requested.arguments.length)
    const tool = toolset.get(toolCall.name)
    verdicts.push(tool === undefined ? null : askToBegin(of, toolCall, tool))
  }
  return verdicts.some((one) => one instanceof Promise) ? Promise.all(verdicts) : (verdicts as Verdicts)
}

function askToBegin(
  { call, job, signal }: Consulting,
  toolCall: ToolCall,
  tool: Tool,
): Verdict<string> | Promise<Verdict<string>> | null {
  const prepared = preparedOf(toolCall, tool, job)
  // What does not fit the tool is refused without any hook.
  if (!prepared.ok) return null
  const passed = toolCall.passed === null ? null : passedArguments(toolCall, tool, job)
  if (passed?.ok === false) return null
  return ask<string>(call, job, {
    ...{ at: 'beforeTool', row: hooksAt(job, 'beforeTool', { agent: call.agent, tool: tool.name }), signal },
    about(written) {
      const approved = passed?.raw as typeof prepared.kept | undefined
      const { kept } = written === undefined ? { kept: approved ?? prepared.kept } : keptOf(tool, written)
      return { tool: tool.name, kind: hookedKind(tool), arguments: frozen(ownCopy(kept)) }
    },
    // What a person has approved stays as it is, or is refused.
    take: (rewrite) => (passed === null ? argumentsIn(call, tool, valueIn(rewrite, 'arguments')) : null),
  })
}

const mostWritten = { characters: 1_000_000, values: 500_000 }

/** Arguments that a hook wrote, as JSON text; null if they do not fit the tool. */
async function argumentsIn(call: AgentCall, tool: Tool, value: unknown): Promise<Taken<string> | null> {
  const { value: copy, isWhole } = await runByPieces(plainCopy(value, mostWritten))
  if (!isWhole) return null
  const { scrubOthers } = call
  const clean = scrubOthers === null ? copy : await runByPieces(scrubbingValue(copy, scrubOthers))
  const text = JSON.stringify(clean) as string | undefined
  if (text === undefined) return null
  countWork(text.length)
  if (isWorkSpent()) await nextTurn()
  return prepareArguments(tool, text).ok ? { value: text } : null
}

function keptOf(tool: Tool, written: string): { readonly kept: Readonly<Record<string, unknown>> } {
  const prepared = prepareArguments(tool, written)
  return prepared.ok ? prepared : { kept: {} }
}

/** Something was asked of people. */
function tellOf(of: Consulting, toolCall: ToolCall): Promise<void> | null {
  const { call, job, hooks, signal } = of
  const row = hooksAt(job, 'onInterruption', { agent: call.agent, tool: toolCall.name })
  const asked = toolCall.interruptions.map((one) => ({
    one,
    verdict: ask<never>(call, job, {
      ...{ at: 'onInterruption', row, signal },
      about: () => ({ interruption: frozen(ownCopy(askedView(one))) }),
      take: () => null,
    }),
  }))
  const { place } = toolCall
  const isLate = asked.some(({ verdict }) => verdict instanceof Promise)
  const verdicts = asked.map(({ verdict }) => verdict)
  if (isLate) hooks.held.add(toolCall)
  return then(of, isLate ? Promise.all(verdicts) : (verdicts as Verdict[]), (given) => {
    hooks.held.delete(toolCall)
    for (const [index, { one }] of asked.entries()) {
      hooks.allowed.add(one)
      // Somebody may have answered meanwhile: then the refusal stands in place of what the call comes to.
      if (place === null || toolCall.state === 'settled') continue
      const { id: toolCallId } = toolCall.requested
      for (const body of given[index]?.bodies ?? [])
        recordDecision(job, place, { ...body, interruption: one.id, toolCallId })
    }
  })
}

/** A person or a client has answered a call: what its tool makes of that is its result. */
function settle(of: Consulting, toolCall: ToolCall): Promise<void> | null {
  const { job, hooks } = of
  const tool = toolsOf(toolCall.owner, job).toolset.get(toolCall.name)
  const outcome = tool?.immediate === true ? resumed(toolCall, tool) : null
  if (tool === undefined || outcome === null || isBody(toolCall)) {
    hooks.passed.add(toolCall)
    return null
  }
  return then(of, askOfResult(of, { toolCall, tool, outcome }), (verdict) => {
    hooks.passed.add(toolCall)
    if (toolCall.state === 'answered' && toolCall.place !== null) recordDecisions(job, toolCall.place, verdict.bodies)
  })
}

/** A call has its answer. */
function endCall(of: Consulting): Promise<void> | null {
  const { call, job, hooks, signal } = of
  const { final } = call
  if (final === null) return null
  const verdict = ask<string>(call, job, {
    ...{ at: 'afterRun', row: hooks.rows.atAny('afterRun', endingAgents(call)), signal },
    about: (text = final.text) => ({
      text,
      output: frozen(ownCopy(outputOf({ agent: call.agent, final: { ...final, text } }))),
      status: 'completed',
    }),
    take(rewrite) {
      const taken = textOfHook(call, rewrite, 'text')
      const fits =
        taken !== null && outputProblem(call.agent, taken.value, { mustFit: true, mismatch: String }) === null
      return fits ? taken : null
    },
  })
  return then(of, verdict, ({ bodies }) => {
    // Where a message has come meanwhile there will be another answer, and this one is an earlier one.
    if (call.final !== final) return
    hooks.allowed.add(final)
    recordDecisions(job, call.place, bodies)
  })
}

/** The answer of a call is about to be the result of the tool call that asked for it. */
function passAnswer(of: Consulting): Promise<void> | null {
  const { call, job, hooks } = of
  const { final } = call
  const { askedBy } = answeredCall(call)
  if (final === null || askedBy === null) return null
  const { owner } = askedBy
  const end = { text: final.text, output: outputOf(call), finishReason: 'stop' } as const
  const value = callersView(end, call.gathered)
  const tool = toolsOf(owner, job).toolset.get(askedBy.name) ?? { name: askedBy.name, kind: 'subAgent' as const }
  const given = { toolCall: askedBy, tool, outcome: { value, failure: null } }
  return then(
    of,
    askOfResult({ ...of, call: owner }, given),
    ({ bodies }: { readonly bodies: readonly Decision[] }) => {
      if (call.final !== final || call.document.inbox.length > 0) return
      hooks.passed.add(final)
      recordDecisions(job, call.place, bodies)
    },
  )
}
