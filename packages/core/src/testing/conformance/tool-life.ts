/** The claims of the conformance kit of tools about the life of a call: aborts, waits, checkpoints and gates. */
import assert from 'node:assert/strict'
import type { Outcome } from '../../tool/outcome.ts'
import type { Answer, Gate, GatedCall, RunningTool } from '../../tool/tool.ts'
import type { Register, Subject, ToolHarness } from './tool-harness.ts'
import {
  type Answering,
  type Arguments,
  assertJson,
  assertNoSecret,
  assertOutcome,
  assertUnsaid,
  interruptionOf,
  obviousAnswer,
  play,
  soon,
} from './tool-fixtures.ts'

/** Adds the claims. Those about waits, gates and checkpoints apply only to tools that have them. */
export function toolLifeClaims(claim: Register, { fitting, gated, noted }: ToolHarness): void {
  claim('it ends soon after its signal aborts', claimAborts)
  if (fitting.some(({ comesTo }) => comesTo === 'interruption' || comesTo === 'child'))
    claim('whatever its waits are answered with, it goes on to an end', claimWaits)
  if (gated === true) claim('its gate asks first, and lets through only what was released [Fb06]', claimGate)
  if (noted !== undefined) {
    claim('after a crash it goes on from its note, and repeats no effect', (subject) => claimNotes(subject, noted))
  }
}

function takenOf({ tool }: Subject, args: Arguments): Arguments {
  const checked = tool.check(args)
  assert.ok(checked.ok, `it refuses what fits: ${checked.ok || checked.issues.join('; ')}`)
  return checked.arguments
}

/** An immediate tool has no signal: it ends at once, and has no promise to wait for. */
async function claimAborts(subject: Subject): Promise<void> {
  const { tool, caller, harness } = subject
  const [fitting] = harness.fitting
  assert.ok(fitting !== undefined, 'a harness gives arguments that fit')
  const args = takenOf(subject, harness.endless ?? fitting.arguments)
  if (tool.immediate) {
    const outcome: unknown = tool.invoke({ callId: 'call-1', toolCallId: 'model-1', arguments: args }, caller)
    return assert.ok(!(outcome instanceof Promise), 'an immediate tool gives its outcome, not a promise of one')
  }
  for (const isLate of harness.endless === undefined ? [false] : [false, true]) {
    const controller = new AbortController()
    if (!isLate) controller.abort(new Error('stop'))
    const ended: Promise<Ended> = play(tool, args, { caller, signal: controller.signal }).then(
      (outcomes) => ({ outcomes }),
      (error: unknown) => ({ error }),
    )
    if (isLate) {
      assert.equal(await Promise.race([ended, soonest(10)]), undefined, 'the endless call ends by itself')
      controller.abort(new Error('stop'))
    }
    const how = await soon(ended, 'an end after the abort')
    if ('outcomes' in how) for (const outcome of how.outcomes) assertOutcome(outcome, caller)
  }
}

type Ended = { readonly outcomes: readonly Outcome[] } | { readonly error: unknown }

/** Resolves after this many turns of the event loop. */
async function soonest(times: number): Promise<undefined> {
  for (let left = times; left > 0; left--) await new Promise((resolve) => setImmediate(resolve))
  return undefined
}

const lapses: readonly Answer[] = [
  { error: 'Nobody answered in time.', lapsed: 'expired' },
  { error: 'The run was cancelled.', lapsed: 'cancelled' },
  { error: 'That is not possible.' },
]

async function claimWaits(subject: Subject): Promise<void> {
  const { harness, caller } = subject
  const { answering = obviousAnswer } = harness
  const ways: readonly Answering[] = [
    answering,
    ...lapses.map(
      (lapse): Answering =>
        () =>
          lapse,
    ),
  ]
  for (const { arguments: args, comesTo } of harness.fitting) {
    if (comesTo !== 'interruption' && comesTo !== 'child') continue
    for (const way of ways) {
      const outcomes = await endOf(subject, args, way)
      for (const outcome of outcomes ?? []) assertOutcome(outcome, caller)
      const last = outcomes?.at(-1)
      // The child of an immediate tool ends the call by itself; a running tool may throw the answer.
      if (last === undefined || (subject.tool.immediate && last.kind === 'pending' && 'child' in last)) continue
      assert.equal(last.kind, 'result', 'a call that was answered ends')
    }
  }
}

/** Every outcome of a call; null if a running tool throws, which its model reads as a failure. */
async function endOf(subject: Subject, args: Arguments, answering: Answering): Promise<readonly Outcome[] | null> {
  const { tool, caller } = subject
  try {
    return await play(tool, takenOf(subject, args), { caller, answering })
  } catch (error) {
    if (tool.immediate || error instanceof assert.AssertionError || answering === subject.harness.answering) throw error
    assertUnsaid(error instanceof Error ? error.message : '', caller, 'an error')
    return null
  }
}

/** A gate is pure: it is asked again after a restart. */
function claimGate(subject: Subject): void {
  const { tool, caller, harness } = subject
  const { gate } = tool
  assert.ok(gate !== undefined, 'the tool has no gate')
  for (const { arguments: args } of harness.fitting) {
    const call: GatedCall = { tool: tool.name, arguments: args, taken: takenOf(subject, args) }
    const draft = gate.ask(call)
    assert.deepEqual(gate.ask(structuredClone(call)), draft, 'the same call is asked for in the same way')
    if (draft === null) assert.ok(gate.isConditional, 'a gate that may let calls through says so')
    else assertPassage(gate, { call, asked: interruptionOf(draft, caller) }, subject)
    assertJson(draft, 'what a gate asks')
    assertNoSecret(draft, caller, 'what a gate asks')
  }
}

type Asked = { readonly call: GatedCall; readonly asked: ReturnType<typeof interruptionOf> }

function assertPassage(gate: Gate, { call, asked }: Asked, { tool, caller }: Subject): void {
  const released = gate.pass(call, asked, { value: { decision: 'approved' } })
  assert.ok(released.ok && tool.check(released.arguments).ok, 'what was released runs')
  const refusals: readonly Answer[] = [
    { value: { decision: 'denied', reason: 'Not today.' } },
    { value: {} },
    ...lapses,
  ]
  for (const answer of refusals) {
    const passage = gate.pass(call, asked, answer)
    assert.ok(!passage.ok, `a call passes with ${JSON.stringify(answer)}`)
    assertUnsaid(passage.detail, caller, 'a refusal')
  }
  const other = gate.pass({ ...call, arguments: { ...call.arguments, other: 1 } }, asked, {
    value: { decision: 'approved' },
  })
  assert.ok(!other.ok, 'a release is for exactly the arguments that were shown')
}

/** Simulates a crash when the first checkpoint is stored: that run stops, and another one begins with the checkpoint. */
async function claimNotes(subject: Subject, noted: Arguments): Promise<void> {
  const { tool, caller, effects } = subject
  assert.ok(!tool.immediate, 'only a running tool leaves notes')
  const args = takenOf(subject, noted)
  const whole = await play(tool, args, { caller, callId: 'call-whole' })
  const { length: expected } = effects()
  const note = await soon(firstNote(tool, args, subject), 'a note')
  const outcomes = await play(tool, args, { caller, callId: 'call-crashed', note })
  assert.deepEqual(outcomes.at(-1), whole.at(-1), 'the call ends as one that did not crash')
  assert.equal(effects().length, 2 * expected, 'what was done before the note is not done again')
}

function firstNote(tool: RunningTool, args: Arguments, { caller }: Subject): Promise<unknown> {
  return new Promise((saved, failed) => {
    const saveNote = (note: unknown): Promise<never> => {
      assertJson(note, 'a note')
      saved(structuredClone(note))
      return new Promise(() => {})
    }
    play(tool, args, { caller, callId: 'call-crashed', saveNote }).then(
      () => failed(new assert.AssertionError({ message: 'the call ended without a note' })),
      failed,
    )
  })
}
