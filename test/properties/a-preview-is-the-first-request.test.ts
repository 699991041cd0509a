/** A preview is the first request that an agent's model gets, byte for byte, in any system and on any path. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelRequest, Runtime } from '@witan/core'
import { type Rule, systemText } from '@witan/core/testing'
import type { AgentTool, Preview } from '@witan/protocol/tools'
import fc from 'fast-check'
import {
  definedBy,
  givenTo,
  note,
  randomPlay,
  type RandomSystem,
  randomSystem,
  toTheEnd,
} from '../support/random-system.ts'
import { randomMcp } from '../support/random-mcp.ts'
import { holds } from '../support/seeds.ts'
import { type AgentDraft, createStage, type Stage, written } from '../support/stage.ts'

const toolModes = ['auto', 'force', 'none', null] as const

test('the system message, the tools and their choice are those of the first model call', async (context) => {
  let children = 0
  const expected = await holds(
    context,
    fc.asyncProperty(randomSystem, fc.constantFrom(...toolModes), async (system, toolMode) => {
      const { agents } = system
      // Where control may pass to any agent of the tree, one may be reached on no path of edges.
      const isOnEdges = agents.every(({ transferReach }) => transferReach !== 'tree')
      const below = agents.filter(({ id }) => id !== 'a' && isOnEdges)
      await played(system, async ({ runtime, ask, seenBy }) => {
        const parameters = givenTo(system)
        const before = await runtime.agents.preview('a', { parameters })
        const result = await ask('a', 'go', { parameters })
        assert.deepEqual(shown(before), requested(seenBy('a')[0]))
        await toTheEnd(runtime, result)
        for (const { id, parameters: declared = [], speaks = [], workflow } of below) {
          const [first] = seenBy(id)
          // What a model supplied, and what a peer wrote, no preview knows.
          if (first === undefined || declared.length > 0 || speaks.length > 0 || workflow) continue
          if (agents.some((one) => isReachedTwice(one, id))) continue
          children += 1
          const known = await previewsOf(runtime, id, parameters)
          assert.ok(
            known.some((one) => equals(one, first)),
            `${id} has no such preview`,
          )
        }
        const mode = await runtime.agents.preview('a', { parameters, toolMode })
        const opened = await runtime.start({ agent: 'a', parameters })
        const seen = seenBy('a').length
        await (await runtime.run(opened.id, { prompt: 'go', toolMode })).result
        assert.deepEqual(shown(mode), requested(seenBy('a')[seen]))
      })
    }),
    { all: 1_200 },
  )
  assert.ok(children > expected(30), `${children} agents below a root were compared`)
})

test('a draft previews as it would once it is saved', async (context) => {
  await holds(
    context,
    fc.asyncProperty(randomSystem, async (system) => {
      const parameters = givenTo(system)
      const drafts = withoutNeeded(system.agents).map(written)
      const saved = await played(system, ({ runtime }) => runtime.agents.preview('a', { parameters }))
      const [draft, ...others] = drafts
      const bare = { ...system, agents: [{ id: 'z' }] }
      const previewed = await played(
        bare,
        async ({ runtime }) => {
          const preview = await runtime.agents.preview('a', { draft, drafts: others, parameters })
          await assert.rejects(runtime.agents.get('a'), { code: 'NOT_FOUND' })
          return preview
        },
        definedFor(system),
      )
      // The warnings of a draft are also about the drafts beside it.
      assert.deepEqual({ ...previewed, revision: 1, warnings: [] }, { ...saved, warnings: [] })
    }),
    { all: 200 },
  )
})

/** Without the server that an agent needs and that is away. */
function withoutNeeded(agents: readonly AgentDraft[]): AgentDraft[] {
  return agents.map((draft) =>
    draft.mcp === undefined ? draft : { ...draft, mcp: draft.mcp.filter(({ server }) => server !== 'needed') },
  )
}

/** A preview asks no MCP server: so its tools are known before. */
function definedFor(system: RandomSystem) {
  return { ...definedBy(system), hooks: [], mcpServers: randomMcp(true) }
}

/** A critic stands below its caller, the target of a hand-over in its place: where an agent is both, one path means two calls. */
function isReachedTwice({ reflection, transfers = [] }: AgentDraft, id: string): boolean {
  return reflection?.agent === id && transfers.some(({ agent }) => agent === id)
}

async function played<Result>(
  system: RandomSystem,
  then: (stage: Stage) => Promise<Result>,
  defined = definedFor(system),
): Promise<Result> {
  // What a guardrail refuses, or what lacks a server that it needs, no model is asked.
  const agents = withoutNeeded(system.agents).map(({ guardrails: _, ...draft }) => draft)
  const play = callsAllFirst(randomPlay(system.seed))
  const plays = Object.fromEntries(system.agents.map(({ id }) => [id, play]))
  const stage = createStage({
    agents,
    plays,
    options: { tools: [note], ...defined, retry: { tries: 1 } },
  })
  try {
    await stage.runtime.ready
    return await then(stage)
  } finally {
    await stage.runtime.close()
  }
}

/** Calls every delegate before it does what `play` does: few agents are called by chance. */
function callsAllFirst(play: Rule): Rule {
  return (request, turn) => {
    const delegates = request.tools.filter(
      ({ parameters }) => 'message' in ((parameters['properties'] ?? {}) as object),
    )
    const isFirst = !request.messages.some(({ role }) => role === 'assistant')
    if (!isFirst || delegates.length === 0 || request.toolChoice === 'none') return play(request, turn)
    return { toolCalls: delegates.map(({ name }) => ({ name, arguments: { message: 'go' } })) }
  }
}

/** The previews of an agent on every path that leads to it. */
async function previewsOf(runtime: Runtime, id: string, parameters: Readonly<Record<string, unknown>>) {
  const known: Preview[] = []
  for (const below of await pathsTo(runtime, id)) known.push(await runtime.agents.preview(id, { parameters, below }))
  return known
}

/** The target of a hand-over follows the position of who hands over; a path has each agent once. */
async function pathsTo(runtime: Runtime, id: string): Promise<string[]> {
  const { edges } = await runtime.agents.graph('a')
  const open = [{ path: 'a', position: 'a', agent: 'a', on: ['a'] }]
  for (const at of open) {
    for (const { from, to, kind } of edges) {
      if (from !== at.agent || at.on.includes(to) || kind === 'users' || kind === 'speaks') continue
      const path = `${kind === 'transfers' ? at.position : at.path}/${to}`
      const position = kind === 'transfers' ? at.position : path
      if (open.length < 300) open.push({ path, position, agent: to, on: [...at.on, to] })
    }
  }
  return [...new Set(open.filter(({ agent }) => agent === id).map(({ path }) => path))]
}

/** A last answer has its tools switched off; what a budget has left when an agent is called, no preview knows. */
function equals(preview: Preview, request: ModelRequest): boolean {
  const { toolChoice } = request.toolChoice === 'none' ? request : preview
  return shown({ ...preview, toolChoice }) === requested(request)
}

function shown({ system, tools, toolChoice }: Preview) {
  const asOffered = ({ name, description, parameters }: AgentTool) => ({ name, description, parameters })
  return JSON.stringify({ system, tools: tools.map(asOffered), toolChoice })
}

function requested(request: ModelRequest | undefined) {
  assert.ok(request)
  const { tools, toolChoice } = request
  return JSON.stringify({ system: systemText(request), tools, toolChoice })
}
