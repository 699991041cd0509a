/** The conformance kit of tools fails what breaks the contract: each broken tool by the claim that is about it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { failed, result, pendingOn } from '../../tool/outcome.ts'
import { checkSchema } from '../../tool/schema.ts'
import type { ImmediateTool, RunningTool, Tool, ToolContext, ToolRequest } from '../../tool/tool.ts'
import { toolClaims } from './tool.ts'
import type { ToolHarness } from './tool-harness.ts'
import { secretOf } from './tool-fixtures.ts'

const parameters = {
  type: 'object',
  properties: { text: { type: 'string' } },
  required: ['text'],
  additionalProperties: false,
}
const offer = { name: 'say', description: 'Says a text.', parameters }

const running: RunningTool = {
  name: 'say',
  kind: 'function',
  offer,
  notice: null,
  effect: 'none',
  bound: ['tenant'],
  immediate: false,
  timeoutMs: 1_000,
  check: (args) => checkSchema(parameters, args),
  invoke: ({ arguments: args }) => result(args['text']),
}

const immediate: ImmediateTool = {
  ...running,
  immediate: true,
  invoke: () => pendingOn({ kind: 'message', prompt: 'Really?', addressee: 'ada' }),
  resume: (answer) => ('error' in answer ? failed('TOOL_FAILED', answer.error) : result(answer.value)),
}

type Effects = string[]

function harnessOf(make: (effects: Effects) => Tool, more: Partial<ToolHarness> = {}): ToolHarness {
  const tenant = { name: 'tenant', type: 'string' } as const
  return {
    name: 'a broken tool',
    tool: 'say',
    agent: { id: 'clerk', parameters: [tenant] },
    open() {
      const effects: Effects = []
      const tool = make(effects)
      return { source: () => [tool], effects: () => effects }
    },
    fitting: [{ arguments: { text: 'Hello' }, comesTo: make([]).immediate ? 'interruption' : 'result' }],
    unfitting: [{}, { text: 1 }],
    ...more,
  }
}

/** The names of the claims that fail. */
async function failing(harness: ToolHarness, context: TestContext): Promise<string[]> {
  const names: string[] = []
  for (const claim of toolClaims(harness)) {
    try {
      await claim.run(context)
    } catch {
      names.push(claim.name)
    }
  }
  return names
}

const form = 'it has a name that providers take, and limits'
const offered = 'what is offered is JSON with the schema of an object, and use does not change it'
const notice = 'a notice does not say what is bound'
const refuses = 'it refuses what does not fit, in a few words'
const hostile = 'hostile arguments neither throw nor leave a trace, and are refused in at most 5 short issues'
const bound = 'what a model writes for a bound name never reaches it [C19]'
const outcome = 'a call comes to an outcome of the contract, with nothing hidden in it'
const twice = 'run twice it has the effects of one call'
const aborts = 'it ends soon after its signal aborts'
const waits = 'whatever its waits are answered with, it goes on to an end'
const notes = 'after a crash it goes on from its note, and repeats no effect'
const gate = 'its gate asks first, and lets through only what was released [Fb06]'
const large = 'a result that is too large is cut, and says so'

type Change = (effects: Effects) => Partial<RunningTool>

const listed = { ...parameters, properties: { ...parameters.properties, tenant: { type: 'string' } } }
const question = pendingOn({ kind: 'message', prompt: 'Really?' })
const openGate = { ask: () => null, isConditional: false, pass: () => ({ ok: true as const, arguments: {} }) }
const asks = { fitting: [{ arguments: { text: 'a' }, comesTo: 'interruption' as const }] }

/** A check whose second answer is another one. */
const unsteady: Change = () => {
  let count = 0
  return {
    check: (args) => (typeof args['text'] === 'string' ? { ok: true, arguments: args } : refusing([`${count++}`])),
  }
}
const refusing = (issues: readonly string[]) => ({ ok: false as const, issues })
const tellsSecret = (_: ToolRequest, { caller }: ToolContext) => result(caller.parameters.get('tenant')?.box.reveal())

const takesAll: Change = () => ({
  offer: { ...offer, parameters: listed },
  check: (args) => ({ ok: true, arguments: args }),
})

/** Leaves a note between two effects, and begins from the start all the same. */
const forgetful: Change = (effects) => ({
  effect: 'once',
  async invoke(_, { saveNote }) {
    effects.push('first')
    await saveNote(1)
    effects.push('second')
    return result('done')
  },
})

/** What is wrong, the claim that must fail, and the tool. */
const broken: readonly (readonly [what: string, claim: string, change: Change, more?: Partial<ToolHarness>])[] = [
  ['no time-out', form, () => ({ timeoutMs: 0 })],
  ['a gate that no agent asked for', form, () => ({ gate: openGate })],
  ['a bound name in the schema', offered, () => ({ offer: { ...offer, parameters: listed } })],
  ['a hidden value in the description', offered, () => ({ offer: { ...offer, description: secretOf('tenant') } })],
  ['a bound name in the notice', notice, () => ({ notice: '`tenant` is there.' })],
  ['a check that takes everything', refuses, () => ({ check: (args) => ({ ok: true, arguments: args }) })],
  ['issues that quote what they refuse', hostile, () => ({ check: (args) => refusing([JSON.stringify(args)]) })],
  ['ten issues', hostile, () => ({ check: () => refusing(Array.from({ length: 10 }, String)) })],
  ['a check that remembers', hostile, unsteady],
  ['a check that takes what is bound', bound, takesAll],
  ['a result that is no JSON', outcome, () => ({ invoke: () => result(new Map()) })],
  ['a hidden value in a result', outcome, () => ({ invoke: tellsSecret })],
  ['a failure with a code of its own', outcome, () => ({ invoke: () => failed('OOPS' as 'TOOL_FAILED', 'Oops.') })],
  ['an effect of a read', twice, (effects) => ({ invoke: () => result(effects.push('done') > 9) })],
  [
    'a new key for each try',
    twice,
    (effects) => ({ effect: 'keyed', invoke: () => result(effects.push(`${effects.length}`)) }),
  ],
  ['a call that ends before it can be stopped', aborts, () => ({}), { endless: { text: 'a' } }],
  ['a question without an end', waits, () => ({ invoke: () => question }), asks],
  ['a note that nobody reads', notes, forgetful, { noted: { text: 'a' } }],
  ['a gate that lets all through', gate, () => ({ gate: openGate }), { gated: true }],
  ['a large result', large, () => ({ invoke: () => result('x'.repeat(200_000)) }), { oversize: { text: 'a' } }],
]

for (const [what, claim, change, more] of broken) {
  test(`the kit of tools fails ${what}`, async (context) => {
    const names = await failing(
      harnessOf((effects) => ({ ...running, ...change(effects) }), more),
      context,
    )
    assert.ok(names.includes(claim), `failing: ${names.join('; ') || 'nothing'}`)
  })
}

test('the kit of tools fails an immediate tool that asks and cannot go on', async (context) => {
  const { resume: _, ...lost } = immediate
  assert.deepEqual(
    await failing(
      harnessOf(() => lost),
      context,
    ),
    [offered, outcome, twice, waits],
  )
})

test('the kit of tools passes a running tool and an immediate one', async (context) => {
  for (const tool of [running, immediate])
    assert.deepEqual(
      await failing(
        harnessOf(() => tool),
        context,
      ),
      [],
    )
})
