/** Workflow agents as a client sees them and as the models of their steps read them: the contract to the byte. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { assertEvents } from './support/claims.ts'
import type { Reply } from './support/exchange.ts'
import { flow, withKeys } from './support/flows.ts'
import { createGate } from './support/model-server.ts'
import { agent, createStage, type Stage, sub, until } from './support/stage.ts'
import { offeredNames, spoken, toolContents } from './support/transcript.ts'
import type { WitanEvent } from './support/wire.ts'

let stage: Stage
beforeEach(async () => {
  stage = await createStage({ store: 'file', hosted: true })
})
afterEach(() => stage?.close())

const says = (id: string, ...texts: string[]) => stage.model.script(id, ...texts.map((text) => ({ text })))
const read = (id: string, nth = 0) => {
  const last = spoken(stage.model.of(id)[nth]).at(-1)
  return last !== undefined && 'user' in last ? last.user : JSON.stringify(last)
}
const exit = (text?: string): Reply => ({ ...(text === undefined ? {} : { text }), calls: [{ name: 'exit_loop' }] })

function starts(events: readonly WitanEvent[]): unknown[] {
  return events
    .filter(({ type, kind }) => type === 'start' && kind === 'agent')
    .map(({ author, content, document }) => [author, content['step'] ?? null, document])
}

describe('a sequence', () => {
  test('[K24] [Kb10] [Kb34] [C34] runs its agents in order, each reads the answers before it, and gives the last one', async () => {
    await stage.save(
      agent('draft'),
      agent('check'),
      agent('polish'),
      flow('line', 'sequence', ['draft', 'check', 'polish']),
    )
    says('draft', 'A draft.')
    says('check', 'It is fine.')
    says('polish', 'A letter.')
    const run = await stage.ask('line', 'Write a letter.', { id: 'chats/line' })
    assert.deepEqual([run.status, run.agent, run.text, run.output], ['completed', 'line', 'A letter.', null])
    assert.equal(read('draft'), 'Write a letter.')
    assert.equal(read('check'), 'Write a letter.\n\n[from @draft to @check] A draft.')
    assert.equal(
      read('polish'),
      'Write a letter.\n\n[from @draft to @polish] A draft.\n\n[from @check to @polish] It is fine.',
    )
    const events = await stage.events('chats/line')
    assertEvents(events)
    assert.deepEqual(starts(events), [
      ['line', null, 'chats/line'],
      ['draft', { index: 0, round: 0 }, 'chats/line/draft'],
      ['check', { index: 1, round: 0 }, 'chats/line/check'],
      ['polish', { index: 2, round: 0 }, 'chats/line/polish'],
    ])
    assert.equal(run.usage.modelCalls, 3)
    const { messages, linkedConversations } = await stage.document('chats/line')
    assert.deepEqual(
      messages.map(({ author, text }) => [author, text]),
      [
        ['user', 'Write a letter.'],
        ['line', 'A letter.'],
      ],
    )
    assert.deepEqual(linkedConversations, ['chats/line/draft', 'chats/line/check', 'chats/line/polish'])
  })

  test('[C34] `pass: previous` and `input`; a step with a schema passes its output; a second message goes on in its documents', async () => {
    const outputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
    await stage.save(
      agent('a', { outputSchema }),
      agent('b'),
      agent('c'),
      withKeys(flow('prev', 'sequence', ['a', 'b', 'c']), { pass: 'previous' }),
      withKeys(flow('bare', 'sequence', ['a', 'b']), { pass: 'input' }),
    )
    says('a', '{ "n": 1 }', '{"n":2}', '{"n":3}')
    says('b', 'two', 'four', 'six')
    says('c', 'three', 'five')
    const { conversationId, text } = await stage.ask('prev', 'Go.')
    assert.equal(text, 'three')
    assert.deepEqual([read('b'), read('c')], ['Go.\n\n[from @a to @b] {"n":1}', 'Go.\n\n[from @b to @c] two'])
    await stage.run(conversationId, { prompt: 'Again.' })
    assert.deepEqual(
      spoken(stage.model.of('b')[1]).map((line) => Object.values(line)[0]),
      ['Go.\n\n[from @a to @b] {"n":1}', 'two', 'Again.\n\n[from @a to @b] {"n":2}'],
    )
    await stage.ask('bare', 'Go.')
    assert.equal(read('b', 2), 'Go.')
  })

  test('[Kb12] `onError`: stop fails with the step, continue goes on', async () => {
    const broken = { status: 400, text: 'broken' }
    await stage.save(
      agent('bad'),
      agent('good'),
      flow('stops', 'sequence', ['bad', 'good']),
      withKeys(flow('goes', 'sequence', ['bad', 'good']), { onError: 'continue' }),
    )
    stage.model.on('bad', () => broken)
    says('good', 'fine')
    const stopped = await stage.ask('stops', 'Go.')
    assert.deepEqual([stopped.status, stopped.error?.code], ['failed', 'MODEL_CALL_FAILED'])
    assert.match(stopped.error?.detail ?? '', /`bad` failed/)
    const gone = await stage.ask('goes', 'Go.')
    assert.deepEqual([gone.status, gone.text], ['completed', 'fine'])
    assert.equal(read('good'), 'Go.')
  })

  test('[E38] a step may hand over; its answer is then the target’s, under the step’s id', async () => {
    await stage.save(
      agent('first', { transfers: [{ agent: 'expert', description: 'Knows.' }] }),
      agent('expert'),
      agent('last'),
      flow('line', 'sequence', ['first', 'last']),
    )
    stage.model.script('first', { calls: [{ name: 'transfer_to_agent', args: { agent_name: 'expert' } }] })
    says('expert', 'I know.')
    says('last', 'done')
    const run = await stage.ask('line', 'Go.', { id: 'chats/hand' })
    assert.equal(run.text, 'done')
    assert.equal(read('last'), 'Go.\n\n[from @first to @last] I know.')
    assertEvents(await stage.events('chats/hand'))
  })
})

describe('a loop', () => {
  test('[Kb11] ends with its rounds, and says so', async () => {
    await stage.save(
      agent('draft'),
      agent('review'),
      withKeys(flow('refine', 'loop', ['draft', 'review']), { maxIterations: 2 }),
    )
    says('draft', 'one', 'two')
    says('review', 'more', 'good')
    const run = await stage.ask('refine', 'Write.', { id: 'chats/loop' })
    assert.deepEqual([run.text, run.finishReason], ['good', 'iteration_limit'])
    assert.equal(read('draft', 1), 'Write.\n\n[from @review to @draft] more')
    assert.equal(read('review', 1), 'Write.\n\n[from @draft to @review] two')
    assert.deepEqual(starts(await stage.events('chats/loop')).slice(1), [
      ['draft', { index: 0, round: 0 }, 'chats/loop/draft'],
      ['review', { index: 1, round: 0 }, 'chats/loop/review'],
      ['draft', { index: 0, round: 1 }, 'chats/loop/draft'],
      ['review', { index: 1, round: 1 }, 'chats/loop/review'],
    ])
  })

  test('[K26] [C26] `exit_loop` ends it with the text of that reply, or else with the last answer; `exitBy` says who may', async () => {
    await stage.save(
      agent('draft'),
      agent('review'),
      withKeys(flow('refine', 'loop', ['draft', 'review']), { exitBy: ['review'] }),
    )
    says('draft', 'one', 'two', 'three')
    stage.model.script('review', { text: 'more' }, exit(), exit('Take it.'))
    const first = await stage.ask('refine', 'Write.')
    assert.deepEqual([first.text, first.finishReason], ['two', 'stop'])
    assert.deepEqual(offeredNames(stage.model.of('draft')[0]), [])
    assert.deepEqual(offeredNames(stage.model.of('review')[0]), ['exit_loop'])
    assert.equal((await stage.ask('refine', 'Write.')).text, 'Take it.')
  })

  test('[C26] also an agent that a step handed over to may end it, and then no control comes back', async () => {
    await stage.save(
      agent('step', { transfers: [{ agent: 'judge', returnsTo: 'caller' }] }),
      agent('judge'),
      flow('refine', 'loop', ['step']),
    )
    stage.model.script('step', { calls: [{ name: 'transfer_to_agent', args: { agent_name: 'judge' } }] })
    stage.model.script('judge', exit('It is done.'))
    const run = await stage.ask('refine', 'Go.', { id: 'chats/judge' })
    assert.deepEqual([run.agent, run.text, run.finishReason], ['refine', 'It is done.', 'stop'])
    assertEvents(await stage.events('chats/judge'))
  })

  test('[E35] [C26] an exit leaves the sequences around it up to the loop; a further one in the reply is refused', async () => {
    await stage.save(
      agent('a'),
      agent('b'),
      agent('after'),
      flow('inner', 'sequence', ['a', 'b']),
      flow('refine', 'loop', ['inner', 'after']),
      flow('whole', 'sequence', ['refine', 'after']),
    )
    stage.model.script('a', { text: 'enough', calls: [{ name: 'exit_loop' }, { name: 'exit_loop' }] })
    says('after', 'end')
    const run = await stage.ask('whole', 'Go.', { id: 'chats/exit' })
    assert.equal(run.text, 'end')
    assert.equal(stage.model.of('b').length, 0)
    assert.equal(read('after'), 'Go.\n\n[from @refine to @after] enough')
    const events = await stage.events('chats/exit')
    const errors = events.filter(({ type, kind }) => type === 'error' && kind === 'tool')
    assert.deepEqual(
      errors.map(({ content }) => [content['code'], content['detail']]),
      [['TRANSFER_REFUSED', 'another transfer of this reply was taken; transfer not performed']],
    )
    assertEvents(events)
  })

  test('[C26] an exit without text, below a sequence or a parallel, gives the last answer', async () => {
    await stage.save(
      agent('writer'),
      agent('critic'),
      flow('inner', 'sequence', ['writer', 'critic']),
      flow('both', 'parallel', ['critic', 'writer']),
      flow('refine', 'loop', ['inner']),
      flow('spread', 'loop', ['both']),
      agent('first'),
      flow('judged', 'loop', ['first', 'both']),
    )
    says('writer', 'draft', 'other draft', 'an aside')
    says('first', 'judged draft')
    stage.model.script('critic', exit(), exit(), exit())
    assert.equal((await stage.ask('refine', 'Write.')).text, 'draft')
    assert.equal((await stage.ask('spread', 'Write.')).text, 'other draft')
    // What stands beside the exit was not answered before it.
    assert.equal((await stage.ask('judged', 'Write.')).text, 'judged draft')
  })
})

describe('where a workflow stands', () => {
  test('[C34] [E39] as delegate, wrapped tool and transfer target, and nested', async () => {
    await stage.save(
      agent('x'),
      agent('y'),
      flow('line', 'sequence', ['x', 'y']),
      flow('panel', 'parallel', ['line', 'y']),
      agent('root', {
        subAgents: [sub('line'), { ...sub('panel'), style: 'agentTool' }],
        transfers: [{ agent: 'line', description: 'Works.' }],
      }),
    )
    stage.model.on('x', () => ({ text: 'x' }))
    stage.model.on('y', () => ({ text: 'y' }))
    stage.model.script(
      'root',
      {
        calls: [
          { name: 'line', args: { message: 'Do.' } },
          { name: 'panel', args: { request: 'All.' } },
        ],
      },
      { calls: [{ name: 'transfer_to_agent', args: { agent_name: 'line' } }] },
    )
    const run = await stage.ask('root', 'Go.', { id: 'chats/all' })
    assert.deepEqual([run.agent, run.text], ['line', 'y'])
    assert.deepEqual(toolContents(stage.model.of('root')[1]), ['y', '{"text":"[from @line] y\\n\\n[from @y] y"}'])
    const events = await stage.events('chats/all')
    assertEvents(events)
    assert.deepEqual([...new Set(events.map(({ document }) => document))].sort(), [
      'chats/all',
      'chats/all/line',
      'chats/all/line/x',
      'chats/all/line/y',
      'chats/all/panel',
      'chats/all/panel/line',
      'chats/all/panel/line/x',
      'chats/all/panel/line/y',
      'chats/all/panel/y',
    ])
  })

  test('[E87] words that come while it works are the input of one more pass, in the same run', async () => {
    await stage.save(agent('slow'), flow('line', 'sequence', ['slow']))
    const gate = createGate()
    stage.model.script('slow', { text: 'first', hold: gate }, { text: 'second' })
    const { id } = await stage.begin('line')
    const first = stage.run(id, { prompt: 'One.' })
    await gate.entered
    const second = stage.run(id, { prompt: 'Two.' })
    await until(
      () => stage.events(id),
      (events) => events.filter(({ type }) => type === 'message').length === 2,
    )
    gate.open()
    const [one, two] = await Promise.all([first, second])
    assert.equal(one.runId, two.runId)
    assert.deepEqual([two.text, two.earlierAnswers], ['second', ['first']])
    assert.equal(read('slow', 1), 'Two.')
  })

  test('[F21] [F25] as a task it reports its answer, and its step at work says how far it is', async () => {
    await stage.save(
      agent('slow'),
      flow('line', 'sequence', ['slow']),
      agent('root', { subAgents: [{ ...sub('line'), blocking: 'never' }] }),
    )
    const gate = createGate()
    stage.model.on('root', ({ nth }) =>
      nth === 1 ? { calls: [{ name: 'line', args: { message: 'Do.' } }] } : { text: `turn ${nth}` },
    )
    stage.model.on('slow', ({ nth }) => (nth === 1 ? { text: 'done', hold: gate } : { text: 'Half way.' }))
    const { tasks, conversationId } = await stage.ask('root', 'Go.')
    await gate.entered
    const progress = await stage.witan.call<{ text: string }>('POST', `/api/v1/tasks/${tasks[0]?.taskId}/progress`, {
      body: { question: 'How far?' },
    })
    assert.deepEqual([progress.status, progress.body.text], [200, 'Half way.'], progress.text)
    gate.open()
    await until(
      () => stage.conversation(conversationId),
      ({ status }) => status === 'idle' && stage.model.of('root').length === 3,
    )
    assert.match(read('root', 2), /Task .* is completed: done/)
  })

  test('[C16] [E90] a step whose parameter nobody supplies fails the run', async () => {
    await stage.save(
      agent('needs', { parameters: [{ name: 'topic', type: 'string' }] }),
      flow('line', 'sequence', ['needs']),
    )
    const run = await stage.ask('line', 'Go.')
    assert.deepEqual([run.status, run.error?.code], ['failed', 'MISSING_AGENT_PARAMETER'])
    assert.match(run.error?.detail ?? '', /`line\/needs` needs `topic`/)
  })

  test('[T12] a step may have a tool mode of its own', async () => {
    await stage.save(
      agent('helper'),
      agent('a', { subAgents: [sub('helper')] }),
      flow('line', 'sequence', [{ agent: 'a', toolMode: 'none' }]),
    )
    says('a', 'fine')
    await stage.ask('line', 'Go.')
    assert.equal(stage.model.of('a')[0]?.body.tool_choice, 'none')
  })
})
