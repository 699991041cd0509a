/** What the one that answers by a protocol may send: its tools follow the exchange, whatever comes in between. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { exchangesIn, initiates, invitation, noticesIn, responds, saveAll, send } from './support/peers.ts'
import { agent, createStage, type Stage } from './support/stage.ts'
import { offeredNames, spoken, toolContents } from './support/transcript.ts'

let stage: Stage
beforeEach(async () => {
  stage = await createStage({ store: 'file', hosted: true })
})
afterEach(() => stage?.close())

test('[T20] a responder may write to the initiator, only while their exchange is open', async () => {
  const offer = invitation({ invited: { clarify: 'done' } })
  await saveAll(
    stage,
    [offer],
    [agent('host', { speaks: [initiates('offer', 'guest')] }), agent('guest', { speaks: [responds('offer')] })],
  )
  stage.model.script('host', { calls: [send('guest', 'invite', {})] }, { text: 'At noon.' }, { text: 'Agreed.' })
  stage.model.script(
    'guest',
    { calls: [send('host', 'clarify', {})] },
    { calls: [send('host', 'clarify', {})] },
    { text: 'I come.' },
    { text: 'Nobody asks.' },
  )
  const run = await stage.ask('host', 'Invite.', { id: 'chats/guest' })
  assert.equal(run.text, 'Agreed.')
  assert.deepEqual(offeredNames(stage.model.of('guest')[0]), ['host_clarify'])
  assert.deepEqual(spoken(stage.model.of('host')[1]), [
    { user: '[from @host to @guest] invite {}\n\n[from @guest to @host] clarify {}' },
  ])
  assert.match(toolContents(stage.model.of('guest')[2])[1] ?? '', /clarify is not allowed in state done of offer/)
  await stage.ask('guest', 'Hello.')
  assert.deepEqual(offeredNames(stage.model.of('guest').at(-1)), [])
})

test('[T20] a message that closes its exchange leaves the responder nothing to send', async () => {
  const close = { name: 'close', from: 'initiator', schema: { type: 'object' } }
  const offer = invitation({ invited: { clarify: 'invited', close: 'done' } }, close)
  await saveAll(
    stage,
    [offer],
    [agent('host', { speaks: [initiates('offer', 'guest')] }), agent('guest', { speaks: [responds('offer')] })],
  )
  const [invite, end] = [send('guest', 'invite', {}), send('guest', 'close', {})]
  stage.model.script('host', { calls: [invite] }, { calls: [end] }, { calls: [invite] }, { text: 'Done.' })
  stage.model.script('guest', { text: 'I come.' }, { text: 'Bye.' }, { text: 'Again?' })
  const { runId } = await stage.ask('host', 'Invite.', { id: 'chats/closed' })
  assert.deepEqual(stage.model.of('guest').map(offeredNames), [['host_clarify'], [], ['host_clarify']])
  assert.deepEqual(
    (await exchangesIn(stage, runId)).map(({ state, messages: said }) => [state, said.length]),
    [
      ['done', 4],
      ['invited', 2],
    ],
  )
  assert.deepEqual(noticesIn(await stage.events('chats/closed')), ['PROTOCOL_UNFINISHED'])
})

test('[T20] [I16] a responder keeps its tools over a wait, and hears which message is out of order', async () => {
  const offer = invitation({ invited: { clarify: 'done' } })
  await saveAll(
    stage,
    [offer],
    [
      agent('host', { speaks: [initiates('offer', 'guest')] }),
      agent('guest', { speaks: [responds('offer')], actions: [{ name: 'Look', parametersSample: {} }] }),
    ],
  )
  const clarify = send('host', 'clarify', {})
  stage.model.script('host', { calls: [send('guest', 'invite', {})] }, { text: 'At noon.' }, { text: 'Agreed.' })
  stage.model.script(
    'guest',
    { calls: [clarify] },
    { calls: [{ name: 'Look', args: {} }] },
    { calls: [clarify] },
    { text: 'I come.' },
  )
  const waiting = await stage.ask('host', 'Invite.', { id: 'chats/wait' })
  assert.equal(waiting.status, 'waiting')
  const [asked] = waiting.interruptions
  const run = await stage.run('chats/wait', { actionResponses: [{ id: asked?.id, response: 'seen' }] })
  assert.equal(run.text, 'Agreed.')
  assert.deepEqual(stage.model.of('guest').map(offeredNames), [['Look', 'host_clarify'], ['Look'], ['Look'], ['Look']])
  assert.match(toolContents(stage.model.of('guest')[3]).at(-1) ?? '', /clarify is not allowed in state done of offer/)
  const [exchange] = await exchangesIn(stage, run.runId)
  assert.deepEqual(
    exchange?.violations.map(({ code }) => code),
    ['PROTOCOL_VIOLATION'],
  )
})
