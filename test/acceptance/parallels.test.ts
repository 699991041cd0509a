/** Parallel workflows as a client sees them and as the models of their steps read them: branches, failing children, and crashes. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { assertEvents } from './support/claims.ts'
import { flow } from './support/flows.ts'
import { createGate } from './support/model-server.ts'
import { agent, createStage, type Stage, until } from './support/stage.ts'
import { spoken } from './support/transcript.ts'
import type { WitanEvent } from './support/wire.ts'

let stage: Stage
beforeEach(async () => {
  stage = await createStage({ store: 'file', hosted: true })
})
afterEach(() => stage?.close())

const says = (id: string, ...texts: string[]) => stage.model.script(id, ...texts.map((text) => ({ text })))
const read = (id: string) => {
  const last = spoken(stage.model.of(id)[0]).at(-1)
  return last !== undefined && 'user' in last ? last.user : JSON.stringify(last)
}

describe('a parallel', () => {
  test('[K24] [Kb12] [C27] runs all at once; a failing child is an item; branches label the events', async () => {
    await stage.save(agent('one'), agent('two'), agent('three'), flow('panel', 'parallel', ['one', 'two', 'three']))
    says('one', 'yes')
    stage.model.on('two', () => ({ status: 400, text: 'broken' }))
    says('three', '[from @one] no')
    const run = await stage.ask('panel', 'Well?', { id: 'chats/panel' })
    const error = (run.output as { error: string | null }[])[1]?.error ?? ''
    assert.deepEqual(run.output, [
      { agent: 'one', text: 'yes', output: null, error: null },
      { agent: 'two', text: '', output: null, error },
      { agent: 'three', text: '[from @one] no', output: null, error: null },
    ])
    assert.match(error, /The model could not be called\./)
    assert.equal(run.text, `[from @one] yes\n\n[from @two] error: ${error}\n\n[from @three] \\[from @one] no`)
    assert.equal(read('one'), 'Well?')
    const events = await stage.events('chats/panel')
    assertEvents(events)
    const branches = new Set(events.map(({ author, branch }) => `${author} ${branch}`))
    assert.deepEqual(branches, new Set(['user null', 'panel null', 'one panel.0', 'two panel.1', 'three panel.2']))
    const only = await stage.events('chats/panel', 'verbose=true&branch=panel.0')
    assert.deepEqual(new Set(only.map(({ author }) => author)), new Set(['one']))
  })

  test('[E74] [E75] [Kb14] nested branches keep both places, and are selected by whole segments', async () => {
    const many = Array.from({ length: 11 }, (_, index) => `w-${index}`)
    await stage.save(
      ...many.map((id) => agent(id)),
      flow('inner', 'parallel', ['w-0', 'w-1']),
      flow('outer', 'parallel', ['inner', ...many.slice(1)]),
    )
    for (const id of many) stage.model.on(id, () => ({ text: id }))
    await stage.ask('outer', 'Go.', { id: 'chats/nested' })
    const events = await stage.events('chats/nested')
    const pathOf = (author: string) => events.find((event) => event.author === author)?.branchPath
    assert.deepEqual(pathOf('w-0'), ['outer.0', 'inner.0'])
    assert.deepEqual(pathOf('inner'), ['outer.0'])
    assert.deepEqual(pathOf('w-10'), ['outer.10'])
    const select = async (branch: string) =>
      new Set((await stage.events('chats/nested', `verbose=true&branch=${branch}`)).map((event) => event.branch))
    assert.deepEqual(await select('outer.1'), new Set(['outer.1']))
    assert.deepEqual(await select('outer.0/inner.1'), new Set(['inner.1']))
    assert.deepEqual(await select('outer.0'), new Set(['outer.0', 'inner.0', 'inner.1']))
  })

  test('[Kb15] [Kb13] what nested branches answered is read behind them: a branch labels events, and hides nothing from a model', async () => {
    await stage.save(
      ...['x', 'y', 'z', 'reducer'].map((id) => agent(id)),
      flow('inner', 'parallel', ['x', 'y']),
      flow('outer', 'parallel', ['inner', 'z']),
      flow('line', 'sequence', ['outer', 'reducer']),
    )
    for (const id of ['x', 'y', 'z']) says(id, `${id} found it.`)
    says('reducer', 'All found it.')
    const run = await stage.ask('line', 'Look.')
    assert.equal(run.text, 'All found it.')
    const found = '[from @inner] [from @x] x found it.\n\n[from @y] y found it.\n\n[from @z] z found it.'
    assert.equal(read('reducer'), `Look.\n\n[from @outer to @reducer] ${found}`)
  })

  test('[D3] [Kb12] killed in the middle, a parallel asks no child again that has ended, and its failed child stays an item', async () => {
    await stage.save(agent('one'), agent('two'), agent('three'), flow('panel', 'parallel', ['one', 'two', 'three']))
    const gate = createGate()
    stage.model.on('one', () => ({ text: 'yes' }))
    stage.model.on('two', () => ({ status: 400, text: 'broken' }))
    stage.model.on('three', ({ nth }) => (nth === 1 ? { text: 'never heard', hold: gate } : { text: 'late' }))
    const { id } = await stage.begin('panel', { id: 'chats/killed' })
    await stage.runAnswer(id, { prompt: 'Well?', wait: false })
    await gate.entered
    const ended = (events: WitanEvent[]) =>
      events.filter(({ type, author }) => type === 'end' && author === 'one').length
    const before = await until(
      () => stage.events(id),
      (events) => ended(events) === 2 && events.some(({ type, author }) => type === 'error' && author === 'two'),
    )
    await stage.witan.kill()
    gate.open()
    await stage.witan.start()
    await until(
      () => stage.conversation(id),
      ({ status }) => status === 'idle',
    )
    const events = await stage.events(id)
    assertEvents(events)
    assert.deepEqual(events.slice(0, before.length), before)
    assert.deepEqual(
      ['one', 'two', 'three'].map((name) => stage.model.of(name).length),
      [1, 1, 2],
    )
    const output = events.at(-1)?.content['output'] as { agent: string; error: string | null }[]
    assert.deepEqual(
      output.map(({ agent: name, error }) => [name, error === null]),
      [
        ['one', true],
        ['two', false],
        ['three', true],
      ],
    )
  })

  test('[E38] [K24] a hand-over stays in its branch', async () => {
    await stage.save(
      agent('one', { transfers: [{ agent: 'expert' }] }),
      agent('expert'),
      agent('two'),
      flow('panel', 'parallel', ['one', 'two']),
    )
    stage.model.script('one', { calls: [{ name: 'transfer_to_agent', args: { agent_name: 'expert' } }] })
    says('expert', 'I know.')
    says('two', 'no')
    const run = await stage.ask('panel', 'Well?', { id: 'chats/branch' })
    assert.equal(run.text, '[from @one] I know.\n\n[from @two] no')
    const events = await stage.events('chats/branch')
    assert.deepEqual(
      new Set(events.filter(({ author }) => author === 'expert').map(({ branch }) => branch)),
      new Set(['panel.0']),
    )
  })

  test('[Kb12] fails only if every child failed', async () => {
    await stage.save(agent('one'), agent('two'), flow('panel', 'parallel', ['one', 'two']))
    for (const id of ['one', 'two']) stage.model.on(id, () => ({ status: 400, text: 'broken' }))
    const run = await stage.ask('panel', 'Well?')
    assert.deepEqual([run.status, run.error?.code], ['failed', 'MODEL_CALL_FAILED'])
  })
})
