/** The conformance kit of tools: what every `Tool` must do. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { toolNamePattern } from '@witan/protocol'
import { prepareArguments } from '../../tool/arguments.ts'
import type { ResultOutcome } from '../../tool/outcome.ts'
import { propertyNames } from '../../tool/schema.ts'
import type { Register, Subject, ToolHarness } from './tool-harness.ts'
import { toolLifeClaims } from './tool-life.ts'
import {
  agentOf,
  type Arguments,
  assertJson,
  assertOutcome,
  assertUnsaid,
  callerOf,
  type Claim,
  frozen,
  hostileArguments,
  play,
} from './tool-fixtures.ts'

/** Registers the tests that every tool passes. */
export function testTool(harness: ToolHarness): void {
  for (const claim of toolClaims(harness)) test(`${harness.name}: ${claim.name}`, (context) => claim.run(context))
}

/** The claims of the kit. */
export function toolClaims(harness: ToolHarness): readonly Claim[] {
  const claims: Claim[] = []
  const claim: Register = (name, body) => {
    claims.push({ name, run: async (context) => body(await openSubject(harness, context)) })
  }
  claimForm(claim)
  claimChecks(claim)
  claimOutcomes(claim, harness)
  toolLifeClaims(claim, harness)
  return claims
}

async function openSubject(harness: ToolHarness, context: TestContext): Promise<Subject> {
  const { source, effects = () => [] } = await harness.open(context)
  const caller = callerOf(agentOf(harness.agent))
  const tool = source(caller).find(({ name }) => name === harness.tool)
  assert.ok(tool !== undefined, `the source gives \`${harness.agent.id}\` no tool \`${harness.tool}\``)
  return { tool, caller, harness, effects }
}

function claimForm(claim: Register): void {
  claim('it has a name that providers take, and limits', ({ tool, caller, harness }) => {
    assert.match(tool.name, toolNamePattern)
    assert.ok(['none', 'keyed', 'once'].includes(tool.effect), `effect ${tool.effect}`)
    for (const name of tool.bound) assert.ok(caller.parameters.has(name), `\`${name}\` is not bound for its caller`)
    for (const name of tool.uses ?? []) assert.ok(tool.bound.includes(name), `it uses \`${name}\`, which is not bound`)
    assert.equal(tool.gate !== undefined, harness.gated === true, 'a gate is expected by the harness, or there is none')
    if (tool.immediate) return
    assert.ok(Number.isFinite(tool.timeoutMs) && tool.timeoutMs > 0, 'a running tool has a time-out')
    assert.ok(Number.isInteger(tool.modelCalls ?? 0) && (tool.modelCalls ?? 0) >= 0, '`modelCalls` is a count')
  })

  claim('what is offered is JSON with the schema of an object, and use does not change it', async (subject) => {
    const { tool, caller } = subject
    if (tool.offer === null) return assert.ok(tool.initialOnly === true || tool.notice !== null, 'it says why not')
    const before = JSON.stringify(tool.offer)
    assertJson(tool.offer, 'the offer')
    assert.equal(tool.offer.name, tool.name)
    assert.equal(tool.offer.parameters['type'], 'object')
    for (const { arguments: args } of subject.harness.fitting) await playOf(subject, args)
    for (const args of subject.harness.unfitting) tool.check(args)
    assert.equal(JSON.stringify(tool.offer), before)
    for (const name of tool.bound) assert.ok(!propertyNames(tool.offer.parameters).includes(name), name)
    assertUnsaid(tool.offer, caller, 'the offer')
  })

  claim('a notice does not say what is bound', ({ tool, caller }) => {
    assert.ok(tool.notice === null || tool.notice.trim() !== '')
    assertUnsaid(tool.notice ?? '', caller, 'the notice')
  })
}

/** Plays a call with these arguments, as the tool prepares them. */
async function playOf(subject: Subject, args: Arguments, callId = 'call-1') {
  const { tool, caller, harness } = subject
  const checked = tool.check(args)
  assert.ok(checked.ok, `the tool refuses what fits: ${checked.ok || checked.issues.join('; ')}`)
  const { answering } = harness
  return play(tool, checked.arguments, { caller, callId, ...(answering === undefined ? {} : { answering }) })
}

const mostIssues = 5
const longestIssue = 500

function claimChecks(claim: Register): void {
  claim('it takes what fits, and again after a restart', ({ tool, harness }) => {
    for (const { arguments: args } of harness.fitting) {
      const first = tool.check(frozen(structuredClone(args)))
      assert.ok(first.ok, `it refuses what fits: ${first.ok || first.issues.join('; ')}`)
      assert.deepEqual(tool.check(JSON.parse(JSON.stringify(args))), first)
    }
  })

  claim('it refuses what does not fit, in a few words', (subject) => {
    const { tool, harness } = subject
    for (const args of harness.unfitting) {
      const checked = tool.check(args)
      assert.ok(!checked.ok, `it takes what does not fit: ${JSON.stringify(args).slice(0, 200)}`)
      assertIssues(checked.issues, subject)
    }
  })

  claim('hostile arguments neither throw nor leave a trace, and are refused in at most 5 short issues', (subject) => {
    const { tool, harness } = subject
    const listed = tool.offer === null ? [] : propertyNames(tool.offer.parameters)
    const written = [...harness.fitting.map((one) => one.arguments), ...harness.unfitting].flatMap(Object.keys)
    for (const args of hostileArguments([...new Set([...listed, ...written])])) {
      const once = tool.check(frozen(args))
      const again = tool.check(JSON.parse(JSON.stringify(args)))
      assert.deepEqual(again, once, 'the same arguments are checked in the same way')
      if (!once.ok) assertIssues(once.issues, subject)
    }
    assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false)
  })

  claim('what a model writes for a bound name never reaches it [C19]', ({ tool, harness }) => {
    for (const { arguments: args } of harness.fitting) {
      const forged = Object.fromEntries(tool.bound.map((name) => [name, 'forged']))
      const prepared = prepareArguments(tool, JSON.stringify({ ...args, ...forged }))
      assert.ok(prepared.ok, prepared.ok ? '' : prepared.detail)
      for (const name of tool.bound) assert.equal(Object.hasOwn(prepared.arguments, name), false, name)
    }
  })
}

function assertIssues(issues: readonly string[], { caller }: Subject): void {
  assert.ok(issues.length >= 1 && issues.length <= mostIssues, `${issues.length} issues`)
  for (const issue of issues) {
    assert.ok(issue.trim() !== '' && issue.length <= longestIssue, `an issue of ${issue.length} characters`)
    assertUnsaid(issue, caller, 'an issue')
  }
}

function claimOutcomes(claim: Register, { oversize }: ToolHarness): void {
  claim('a call comes to an outcome of the contract, with nothing hidden in it', async (subject) => {
    for (const { arguments: args, comesTo } of subject.harness.fitting) {
      const outcomes = await playOf(subject, args)
      for (const outcome of outcomes) assertOutcome(outcome, subject.caller)
      const [first] = outcomes
      const failure = first?.kind === 'result' ? first.failure : null
      assert.equal(failure === null ? kindOf(first) : 'failure', comesTo, failure?.detail)
    }
  })

  claim('run twice it has the effects of one call', async (subject) => {
    const { tool, harness, effects } = subject
    for (const { arguments: args } of harness.fitting) {
      const before = effects().length
      const first = await playOf(subject, args, 'call-twice')
      const keys = new Set(effects())
      const second = await playOf(subject, args, 'call-twice')
      if (tool.effect === 'none' || tool.immediate) {
        assert.equal(effects().length, before, 'it has an effect, although it says that it has none')
        assert.deepEqual(second, first, 'the same call comes to the same outcome')
      }
      if (tool.effect === 'keyed') assert.deepEqual(new Set(effects()), keys, 'a repeated call has a key of its own')
    }
  })

  if (oversize === undefined) return
  claim('a result that is too large is cut, and says so', async (subject) => {
    const last = (await playOf(subject, oversize)).at(-1)
    assert.ok(last !== undefined)
    assertOutcome(last, subject.caller)
    assert.equal((last as ResultOutcome).truncated, true)
  })
}

function kindOf(outcome: Awaited<ReturnType<typeof play>>[number] | undefined): string | undefined {
  if (outcome?.kind !== 'pending') return outcome?.kind
  return 'child' in outcome ? 'child' : 'interruption'
}
