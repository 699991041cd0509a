/** A preview is the first request that an agent's model gets, byte for byte, in any system and on any path. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelRequest, Runtime } from '@witan/core'
import { systemText } from '@witan/core/testing'
import type { AgentTool, Preview } from '@witan/protocol/tools'
import fc from 'fast-check'
import { givenTo, note, randomPlay, type RandomSystem, randomSystem, toTheEnd } from '../support/random-system.ts'
import { holds } from '../support/seeds.ts'
import { createStage, type Stage, written } from '../support/stage.ts'

const toolModes = ['auto', 'force', 'none', null] as const

test('the system message, the tools and their choice are those of the first model call', async (context) => {
  let children = 0
  await holds(
    context,
    fc.asyncProperty(randomSystem, fc.constantFrom(...toolModes), async (system, toolMode) => {
      const { agents } = system
      const draws = agents.filter(({ id }) => id !== 'a')
      await played(system, async ({ runtime, ask, seenBy }) => {
        const parameters = givenTo(system)
        const before = await runtime.agents.preview('a', { parameters })
        const result = await ask('a', 'go', { parameters })
        assert.deepEqual(shown(before), requested(seenBy('a')[0]))
        await toTheEnd(runtime, result)
        for (const { id, parameters: declared = [], speaks = [], workflow } of draws) {
          const [first] = seenBy(id)
          // What a model supplied, and what a peer wrote, no preview knows.
          if (first === undefined || declared.length > 0 || speaks.length > 0 || workflow) continue
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
    { all: 400 },
  )
  assert.ok(children > 0, 'no agent below a root was compared')
})

test('a draft previews as it would once it is saved', async (context) => {
  await holds(
    context,
    fc.asyncProperty(randomSystem, async (system) => {
      const parameters = givenTo(system)
      const drafts = system.agents.map(written)
      const saved = await played(system, ({ runtime }) => runtime.agents.preview('a', { parameters }))
      const [draft, ...others] = drafts
      const bare = { ...system, agents: [{ id: 'z' }] }
      const previewed = await played(bare, async ({ runtime }) => {
        const preview = await runtime.agents.preview('a', { draft, drafts: others, parameters })
        await assert.rejects(runtime.agents.get('a'), { code: 'NOT_FOUND' })
        return preview
      })
      // The warnings of a draft are also about the drafts beside it.
      assert.deepEqual({ ...previewed, revision: 1, warnings: [] }, { ...saved, warnings: [] })
    }),
    { all: 200 },
  )
})

async function played<Result>(system: RandomSystem, then: (stage: Stage) => Promise<Result>): Promise<Result> {
  const play = randomPlay(system.seed)
  const plays = Object.fromEntries(system.agents.map(({ id }) => [id, play]))
  const { protocols = [] } = system
  const stage = createStage({
    agents: system.agents,
    plays,
    options: { tools: [note], protocols, retry: { tries: 1 } },
  })
  try {
    await stage.runtime.ready
    return await then(stage)
  } finally {
    await stage.runtime.close()
  }
}

/** The previews of an agent on every path that leads to it. */
async function previewsOf(runtime: Runtime, id: string, parameters: Readonly<Record<string, unknown>>) {
  const known: Preview[] = []
  for (const below of await pathsTo(runtime, id)) known.push(await runtime.agents.preview(id, { parameters, below }))
  return known
}

async function pathsTo(runtime: Runtime, id: string): Promise<string[]> {
  const { edges } = await runtime.agents.graph('a')
  const paths: string[] = []
  const open = ['a']
  for (const path of open) {
    const names = path.split('/')
    for (const { from, to, kind } of edges) {
      if (from !== names.at(-1) || names.includes(to) || kind === 'users' || kind === 'speaks') continue
      const next = kind === 'transfers' ? [...names.slice(0, Math.max(1, names.length - 1)), to] : [...names, to]
      if (open.length < 300) open.push(kind === 'transfers' && names.length === 1 ? `${path}/${to}` : next.join('/'))
      if (to === id) paths.push(open.at(-1) ?? '')
    }
  }
  return [...new Set(paths)]
}

function equals(preview: Preview, request: ModelRequest): boolean {
  try {
    assert.deepEqual(shown(preview), requested(request))
    return true
  } catch {
    return false
  }
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
