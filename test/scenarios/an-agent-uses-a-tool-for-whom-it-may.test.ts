/** `access.tools`: an agent may use a tool only in the runs of principals that it names. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool, type Principal, type QuerySource } from '@witan/core'
import { call } from '@witan/core/testing'
import type { DatabaseId } from '@witan/protocol'
import { z } from 'zod'
import { agent, type AgentDraft, createStage, type Stage } from '../support/stage.ts'

const principal = (id: string, ...roles: string[]): Principal => ({
  database: 'default' as DatabaseId,
  id,
  roles: ['run', ...roles],
  address: null,
})
const staff = principal('user:sam', 'staff')
const stranger = principal('user:eve')

/** One tool of every kind, by its name: what the agent needs to have it, and the arguments that call it. */
const kinds: Readonly<
  Record<string, { readonly has: Partial<AgentDraft>; readonly args: Readonly<Record<string, unknown>> }>
> = {
  refund: { has: { tools: ['refund'] }, args: {} },
  rows: { has: { queries: [{ name: 'rows', source: 'rows', query: 'select 1 as one' }] }, args: {} },
  Act: { has: { actions: [{ name: 'Act' }] }, args: {} },
  leaf: { has: { subAgents: [{ agent: 'leaf' }] }, args: { message: 'go' } },
  transfer_to_agent: { has: { transfers: [{ agent: 'leaf' }] }, args: { agent_name: 'leaf' } },
  ask_user: { has: { users: [{ id: 'anna' }] }, args: { message: 'hi' } },
  ask_question: { has: { questions: true }, args: { questions: [{ id: 'a', text: 'b' }] } },
  cancel_background_sub_agent: {
    has: { subAgents: [{ agent: 'leaf', blocking: 'never' }] },
    args: { task_id: 't' },
  },
}

function staged(name: string, access: AgentDraft['access']): Stage & { readonly ran: string[] } {
  const ran: string[] = []
  const refund = defineTool({
    name: 'refund',
    description: 'Refunds.',
    parameters: z.object({}),
    execute: () => void ran.push('refund'),
  })
  const kind = kinds[name]
  const stage = createStage({
    agents: [{ id: 'root', ...kind?.has, ...(access === undefined ? {} : { access }) }, { id: 'leaf' }],
    plays: { root: (_, turn) => (turn === 0 ? call(name, kind?.args ?? {}) : 'done'), leaf: ['leaf'] },
    options: {
      tools: [refund],
      sources: { rows: rowsSource(() => undefined) },
    },
  })
  return { ...stage, ran }
}

function rowsSource(run: () => void): QuerySource {
  return {
    kind: 'sqlite',
    check: async () => ({ ok: true, placeholders: [] }),
    async run() {
      run()
      return { ok: true, rows: [{ one: 1 }], truncated: false }
    },
    close: async () => undefined,
  }
}

const offers = (stage: Stage) => stage.seenBy('root')[0]?.tools.map(({ name }) => name) ?? []

test('[C31] a tool of any kind is offered in runs that may use it; in others a call of it is refused', async () => {
  for (const name of Object.keys(kinds)) {
    const allowed = staged(name, { tools: { [name]: ['user:nobody', 'role:staff'] } })
    await (await allowed.runtime.as(staff).start({ agent: 'root', prompt: 'go' })).run?.result
    assert.ok(offers(allowed).includes(name), `${name} for staff`)

    const denied = staged(name, { tools: { [name]: ['user:nobody', 'role:staff'] } })
    const opened = await denied.runtime.as(stranger).start({ agent: 'root', id: 'chats/1', prompt: 'go' })
    const result = await opened.run?.result
    assert.deepEqual([result?.status, result?.text], ['completed', 'done'], name)
    assert.equal(offers(denied).includes(name), false, name)
    assert.deepEqual(denied.ran, [])
    const errors = (await denied.events('chats/1')).filter(({ type }) => type === 'error')
    assert.deepEqual(
      errors.map(({ content }) => content),
      [{ code: 'NOT_ALLOWED', detail: `\`${name}\` is not allowed in this run; nothing was run` }],
    )
    const read = denied.seenBy('root')[1]?.messages.at(-1)
    assert.equal(read?.content, `{"error":"\`${name}\` is not allowed in this run; nothing was run"}`)
    assert.deepEqual(result?.interruptions, [])
  }
})

test('[C31] of a list one entry must hold, of a list in the list all; none lets in nobody', async () => {
  const cases: [entries: (string | string[])[], who: Principal, may: boolean][] = [
    [['user:sam'], staff, true],
    [['user:sam'], stranger, false],
    [['key:k1', 'role:run'], stranger, true],
    [[['role:staff', 'user:sam']], staff, true],
    [[['role:staff', 'user:eve']], staff, false],
    [[['role:staff', 'user:eve'], 'user:eve'], stranger, true],
    [[], staff, false],
  ]
  for (const [entries, who, may] of cases) {
    const stage = staged('refund', { tools: { refund: entries } })
    await (await stage.runtime.as(who).start({ agent: 'root', prompt: 'go' })).run?.result
    assert.equal(stage.ran.length > 0, may, JSON.stringify([entries, who.id]))
    const called = createStage({ agents: [{ id: 'root', access: { call: entries } }], plays: { root: ['hi'] } })
    const started = called.runtime.as(who).start({ agent: 'root', prompt: 'go' })
    if (may) assert.equal((await started).created, true)
    else await assert.rejects(started, { code: 'NOT_FOUND', path: 'agent' })
  }
})

test('[C31] an approval is not asked for a call that the run may not make; a query does not begin the document', async () => {
  const stage = createStage({
    agents: [
      {
        id: 'root',
        queries: [{ name: 'rows', source: 'rows', query: 'select 1', addToInitialContext: true }],
        actions: [{ name: 'Act' }],
        approvals: ['Act'],
        access: { tools: { rows: ['role:staff'], Act: ['role:staff'] } },
      },
    ],
    plays: { root: [call('Act'), 'done'] },
    options: {
      sources: { rows: rowsSource(() => assert.fail('it ran')) },
    },
  })
  const opened = await stage.runtime.as(stranger).start({ agent: 'root', id: 'chats/1', prompt: 'go' })
  assert.equal((await opened.run?.result)?.status, 'completed')
  assert.deepEqual(
    stage.seenBy('root')[0]?.messages.map(({ role }) => role),
    ['system', 'user'],
  )
})

test('[C31] a delegate’s list of what it can use leaves out what it may not use in this run', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', actions: [{ name: 'Act' }, { name: 'Look' }], access: { tools: { Act: ['role:staff'] } } },
    ],
    plays: { root: () => 'hi' },
  })
  for (const [who, expected] of [
    [stranger, 'It can use:\n- Look'],
    [staff, 'It can use:\n- Act\n- Look'],
    [stranger, 'It can use:\n- Look'],
  ] as const) {
    await (await stage.runtime.as(who).start({ agent: 'root', prompt: 'go' })).run?.result
    assert.equal(stage.requests.at(-1)?.tools[0]?.description, expected)
  }
})

test('[C31] an access list names tools that the agent has, and principals; anything else is refused', async () => {
  const { runtime } = createStage({ agents: [{ id: 'leaf' }], plays: {} })
  const save = (access: unknown) =>
    runtime.agents.save({ ...agent('root'), actions: [{ name: 'Act' }], access: access as never })
  await assert.rejects(save({ tools: { Akt: ['role:staff'] } }), {
    code: 'TOOL_UNKNOWN',
    path: 'access.tools.Akt',
    hint: 'Did you mean `Act`?',
  })
  for (const [entries, path] of [
    [['anna'], 'access.tools.Act.0'],
    [[[]], 'access.tools.Act.0'],
    [[['role:a', 'b']], 'access.tools.Act.0.1'],
    [null, 'access.tools.Act'],
  ] as const)
    await assert.rejects(save({ tools: { Act: entries } }), { code: 'AGENT_INVALID', path }, JSON.stringify(entries))
  await assert.rejects(save({ tools: JSON.parse('{"__proto__":["role:a"]}') }), { path: 'access.tools.__proto__' })
  const { agent: saved } = await save({ call: [['role:a', 'user:b']], tools: { Act: [['role:a', 'key:k']] } })
  assert.deepEqual(saved.access, { call: [['role:a', 'user:b']], tools: { Act: [['role:a', 'key:k']] } })
})
