/** Hand-overs that are refused: what the model reads, and that the run goes on. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { assertEvents, notices } from './support/claims.ts'
import { hand, lookUp, refused, saveTwo, story, transfer } from './support/handing.ts'
import { agent, createStage, type Stage, sub } from './support/stage.ts'
import { spoken, toolContents, transcript } from './support/transcript.ts'

let stage: Stage
beforeEach(async () => {
  stage = await createStage({ store: 'file', hosted: true })
})
afterEach(() => stage?.close())

describe('what is refused', () => {
  test('[K06] [K10] [C12] an unknown, an unreachable and the own name, broken arguments: errors, and the run goes on', async () => {
    await saveTwo(stage)
    await stage.save(agent('stranger'))
    const names = ['nobody', 'stranger', 'desk']
    stage.model.script(
      'desk',
      { calls: names.map(hand) },
      {
        calls: [
          { name: 'transfer_to_agent', args: {} },
          { name: 'transfer_to_agent', rawArgs: '["billing"' },
        ],
      },
      { text: 'I stay.' },
    )
    const run = await stage.ask('desk', 'hello', { id: 'chats/no' })
    assert.deepEqual([run.status, run.agent, run.text], ['completed', 'desk', 'I stay.'])
    assert.deepEqual(toolContents(stage.model.of('desk')[1]), [
      refused('unknown agent nobody'),
      refused('agent stranger is not reachable from desk'),
      refused('desk is you'),
    ])
    const events = await stage.events('chats/no')
    const codes = events
      .filter(({ type, kind }) => type === 'error' && kind === 'tool')
      .map(({ content }) => content['code'])
    assert.deepEqual(codes, Array(5).fill('TRANSFER_REFUSED'))
    assertEvents(events)
  })

  test('[E35] the first valid one of a reply counts, any further one is refused', async () => {
    await stage.save(
      agent('desk', { transfers: [transfer('billing'), transfer('orders')] }),
      agent('billing'),
      agent('orders'),
    )
    stage.model.script('desk', { calls: [hand('nobody'), hand('billing'), hand('orders')] })
    stage.model.script('billing', { text: 'Paid.' })
    assert.equal((await stage.ask('desk', 'hello', { id: 'chats/two' })).agent, 'billing')
    const [line] = spoken(stage.model.of('billing')[0])
    const tell = '[from @transfer_to_agent to @desk]'
    for (const words of [
      `${tell} ${refused('unknown agent nobody')}`,
      `${tell} {"status":"ok"}`,
      `${tell} ${refused('another transfer of this reply was taken')}`,
    ])
      assert.ok((line as { user: string }).user.includes(words), words)
  })

  test('[E40] [Kb29] an agent may hand back once; the same hand-over again is refused until somebody has said something', async () => {
    await stage.save(
      agent('a', { transfers: [transfer('b')], actions: [lookUp] }),
      agent('b', { transfers: [transfer('a')] }),
    )
    const ask = { calls: [{ name: 'look-up', args: { order: 'A-1' } }] }
    stage.model.script('a', { calls: [hand('b')] }, { calls: [hand('b')] }, ask, { calls: [hand('b')] })
    stage.model.script('b', { calls: [hand('a')] }, { text: 'b it is' })
    const waiting = await stage.ask('a', 'hello', { id: 'chats/pong' })
    const why = 'you handed over to b before and no person or tool has said anything since'
    assert.equal(toolContents(stage.model.of('a')[2]).at(-1), refused(why))
    const run = await stage.run('chats/pong', {
      actionResponses: [{ id: waiting.interruptions[0]?.id, response: 'news' }],
    })
    assert.deepEqual([run.agent, run.text], ['b', 'b it is'])
    assert.deepEqual(
      story(await stage.events('chats/pong')).filter((line) => line.includes('→')),
      ['a → b', 'b → a', 'a → b'],
    )
  })

  test('[D13] `maxTransfers` of the root bounds a job', async () => {
    await stage.save(
      agent('a', { transfers: [transfer('b')], limits: { maxTransfers: 1 } }),
      agent('b', { transfers: [transfer('a')], limits: { maxTransfers: 9 } }),
    )
    stage.model.script('a', { calls: [hand('b')] })
    stage.model.script('b', { calls: [hand('a')] }, { text: 'b it is' })
    const run = await stage.ask('a', 'hello')
    assert.deepEqual([run.agent, run.text], ['b', 'b it is'])
    assert.deepEqual(toolContents(stage.model.of('b')[1]).at(-1), refused('1 of 1 transfers are used'))
  })

  test('[E42] [K12] an agent with `disableTransfer` has neither tool nor roster; its call is refused with a notice', async () => {
    await stage.save(agent('desk', { transfers: [transfer('billing')], disableTransfer: true }), agent('billing'))
    stage.model.script('desk', { calls: [hand('billing')] }, { text: 'I stay.' })
    await stage.ask('desk', 'hello', { id: 'chats/off' })
    const [first, second] = stage.model.of('desk')
    assert.deepEqual(transcript(first)[0], { system: 'You are desk.' })
    assert.equal(first?.body.tools, undefined)
    assert.deepEqual(toolContents(second), [refused('agent billing is not reachable from desk')])
    assert.equal(notices(await stage.events('chats/off'), 'TRANSFER_IGNORED').length, 1)
  })

  test('[K02] [C11] [E42] `acceptTransfer: false` and a foreign `parents` take an agent out of every roster', async () => {
    await stage.save(
      agent('desk', { transferReach: 'tree', subAgents: [sub('shy'), sub('open')] }),
      agent('shy', { acceptTransfer: false }),
      agent('open'),
    )
    stage.model.script('desk', { calls: [hand('shy')] }, { text: 'I stay.' })
    await stage.ask('desk', 'hello')
    assert.match((transcript(stage.model.of('desk')[0])[0] as { system: string }).system, /agent:\n- open$/)
    assert.deepEqual(toolContents(stage.model.of('desk')[1]), [refused('agent shy is not reachable from desk')])
  })

  test('[E41] [C16] a target without its value or without itself is in no roster; named all the same, the run goes on', async () => {
    const needs = { parameters: [{ name: 'customerId', type: 'string', policy: 'forbidModelGeneration' }] }
    await stage.save(
      agent('desk', { transfers: [transfer('billing'), transfer('orders'), transfer('gone')] }),
      agent('billing', needs),
      agent('orders'),
      agent('gone'),
    )
    await stage.save(agent('gone', { disabled: true }))
    stage.model.script('desk', { calls: [hand('billing'), hand('gone')] }, { text: 'I stay.' })
    const run = await stage.ask('desk', 'hello', { id: 'chats/lack' })
    assert.equal(run.status, 'completed')
    const { system } = transcript(stage.model.of('desk')[0])[0] as { system: string }
    assert.match(system, /agent:\n- orders: Takes orders matters\.$/)
    assert.deepEqual(toolContents(stage.model.of('desk')[1]), [
      refused('billing is not available'),
      refused('gone is not available'),
    ])
    const [notice] = notices(await stage.events('chats/lack'), 'DELEGATE_UNAVAILABLE')
    assert.match(String(notice?.content['detail']), /desk\/billing.*customerId/)
  })
})
