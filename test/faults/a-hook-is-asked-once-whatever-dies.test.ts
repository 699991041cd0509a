/** The process dies at its n-th append, before or behind it, for every n: what a hook decided and the store has stands, and no hook is asked again for it [F02, D1]. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineHooks, defineTool, memoryStore, type Runtime, type Store } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { hookPoints } from '@witan/protocol/entries'
import { z } from 'zod'
import { fakeClock } from '../support/clock.ts'
import { type CrashMoment, crashingStore } from '../support/crashing-store.ts'
import { outliving } from '../support/reopen.ts'
import { agent, settle } from '../support/stage.ts'

const leaseMs = 15_000

/** What each hook writes where it is first asked; the tool `spy` is refused. */
const decisions: Readonly<Record<string, (seen: Readonly<Record<string, unknown>>) => unknown>> = {
  beforeRun: ({ agent: id, message }) => ({ rewrite: { message: `${String(message)} ${String(id)}` } }),
  beforeModel: ({ messages }) =>
    (messages as readonly { readonly role: string }[]).some(({ role }) => role === 'assistant')
      ? undefined
      : { rewrite: { note: 'Be kind.' } },
  afterModel: ({ text }) => (text === 'Done.' ? { rewrite: { text: 'Paid.' } } : undefined),
  beforeTool: ({ tool }) =>
    tool === 'spy' ? { refuse: 'no spies' } : tool === 'pay' ? { rewrite: { amount: 1 } } : undefined,
  afterTool: ({ tool, result }) => (tool === 'pay' ? { rewrite: { result: { checked: result } } } : undefined),
  onInterruption: () => undefined,
  afterRun: ({ agentPath, text, status }) =>
    status === 'completed' ? { rewrite: { text: `${String(text)} (${String(agentPath)})` } } : undefined,
}

const keyOf = (point: string, path: string, tool: unknown) => `${point} ${path} ${String(tool ?? '')}`

interface Told {
  readonly runtime: Runtime
  readonly asked: string[]
}

function open(store: Store, clock: ReturnType<typeof fakeClock>, paid: string[]): Told {
  const asked: string[] = []
  const tool = (name: string) =>
    defineTool({
      name,
      description: 'Does.',
      parameters: z.object({ amount: z.number() }),
      effect: 'keyed',
      execute: ({ amount }, { callId }) => {
        paid.push(`${name} ${callId}`)
        return amount
      },
    })
  const at = (point: string) => async (shown: object) => {
    await settle(1)
    const seen = shown as Readonly<Record<string, unknown>>
    const answer = decisions[point]?.(seen)
    if (answer !== undefined) asked.push(keyOf(point, String(seen['agentPath']), seen['tool']))
    return answer
  }
  const model = scriptedModel(({ messages }) => {
    const [system] = messages
    const last = messages.at(-1)
    if (system?.content.startsWith('You are clerk.')) return 'Clerk.'
    if (last?.role === 'tool') return 'Done.'
    // The id of each call is its tool's name.
    const made = [
      { name: 'pay', arguments: { amount: 5 } },
      { name: 'spy', arguments: { amount: 5 } },
      { name: 'clerk', arguments: { message: 'A?' } },
    ]
    return { toolCalls: made.map((one) => ({ ...one, id: one.name })) }
  })
  const runtime = createRuntime({
    ...{ store, clock, leaseMs, retry: { tries: 1 } },
    models: { 'play/model': model },
    tools: [tool('pay'), tool('spy')],
    agents: [agent('root', { tools: ['pay', 'spy'], subAgents: [{ agent: 'clerk' }] }), agent('clerk')],
    hooks: [defineHooks({ name: 'audit', ...Object.fromEntries(hookPoints.map((point) => [point, at(point)])) })],
  })
  return { runtime, asked }
}

interface Played {
  readonly text: string
  readonly appends: number
  readonly paid: readonly string[]
  readonly decided: readonly string[]
}

async function play(at: number, moment: CrashMoment): Promise<Played> {
  const clock = fakeClock()
  const inner = outliving(memoryStore({ now: clock.now }))
  const paid: string[] = []
  const crashing = crashingStore(inner, at, moment)
  const first = open(crashing.store, clock, paid)
  const begun = first.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'Go.' }).then(({ run }) => run?.result)
  const end = await Promise.race([begun, crashing.crashed.then(() => null)])
  if (end) return { text: end.text, appends: crashing.appends(), paid, decided: await decidedIn(first.runtime) }
  await settle(20)
  const reader = createRuntime({ store: inner, clock, takesWork: false })
  await reader.ready
  const decided = await decidedIn(reader)
  const [line] = (await reader.listRuns('chats/1')).items
  clock.advance(leaseMs + 1)
  const second = open(inner, clock, paid)
  await second.runtime.ready
  const { text } = await (await second.runtime.followRun(line?.runId ?? '')).result
  for (const one of second.asked) assert.ok(!decided.includes(one), `${moment} ${at}: ${one} was asked again`)
  return { text, appends: 0, paid, decided: await decidedIn(second.runtime) }
}

/** What hooks decided, as the store has it. */
async function decidedIn(reader: Runtime): Promise<readonly string[]> {
  const decided: string[] = []
  for await (const line of reader.exportConversation('chats/1')) {
    const { entry } = JSON.parse(line) as { readonly entry?: HookEntry }
    if (entry?.type !== 'hook') continue
    const { at, toolCallId } = entry.body
    const tool = at === 'beforeTool' ? toolCallId : at === 'afterTool' ? 'pay' : undefined
    decided.push(keyOf(at, entry.place.agentPath, tool))
  }
  return decided.sort()
}

interface HookEntry {
  readonly type: string
  readonly body: { readonly at: string; readonly toolCallId?: string }
  readonly place: { readonly agentPath: string }
}

test('[F02] [D1] whatever append a process dies at, the run comes to the same, and nothing that the store has is asked again', async () => {
  const calm = await play(0, 'before')
  assert.equal(calm.text, 'Paid. (root)')
  assert.deepEqual(
    calm.paid.map((one) => one.split(' ')[0]),
    ['pay'],
  )
  for (const moment of ['before', 'after'] as const)
    for (let at = 2; at <= calm.appends; at += 1) {
      const { text, paid, decided } = await play(at, moment)
      assert.deepEqual(decided, calm.decided, `${moment} ${at}`)
      assert.equal(text, calm.text, `${moment} ${at}`)
      assert.ok(
        paid.every((one) => one.startsWith('pay')),
        `${moment} ${at}: ${paid.join()}`,
      )
      assert.equal(new Set(paid).size, 1)
    }
})
