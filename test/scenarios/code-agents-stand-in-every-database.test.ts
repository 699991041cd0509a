/** Databases behind one runtime: the agents and protocols of the code stand in each, and the same names never mix. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, localPrincipal, memoryStore, type Principal, type Runtime, type Witan } from '@witan/core'
import { call, lastUserMessage, scriptedModel } from '@witan/core/testing'
import type { AgentInput, DatabaseId } from '@witan/protocol'
import { agent, settle } from '../support/stage.ts'

const from = (database: string): Principal => ({ ...localPrincipal, database: database as DatabaseId })
const stock = { name: 'stock', messages: [{ name: 'ask', from: 'initiator' as const }] }

/** A store that stays open while several runtimes work on it, one after the other. */
function openStore() {
  const store = memoryStore()
  return { ...store, open: async () => {}, close: async () => {} }
}

function newRuntime(agents: readonly AgentInput[], store = openStore()): { runtime: Runtime; reports: unknown[] } {
  const reports: unknown[] = []
  const model = scriptedModel(
    (request, turn) => {
      const said = lastUserMessage(request)
      return said.includes('ask') && turn === 0 ? call('Ask') : `heard: ${said}`
    },
    { id: 'play/model' },
  )
  const report = (error: unknown) => void reports.push(error)
  return {
    runtime: createRuntime({ store, models: { 'play/model': model }, agents, protocols: [stock], report }),
    reports,
  }
}

const clerk = agent('clerk', { actions: [{ name: 'Ask' }] })
const ids = async (witan: Witan) => (await witan.agents.list()).items.map(({ id, source }) => `${id} ${source}`)

test('[D17] code agents and code protocols are there in a database that nobody has used before', async () => {
  const { runtime } = newRuntime([clerk])
  const fresh = runtime.as(from('fresh'))
  assert.deepEqual(await ids(fresh), ['clerk code'])
  assert.deepEqual(
    (await fresh.protocols.list()).items.map(({ name, source }) => [name, source]),
    [['stock', 'code']],
  )
  const { run } = await runtime.as(from('other')).start({ agent: 'clerk', id: 'chats/1', prompt: 'hello' })
  assert.equal((await run?.result)?.text, 'heard: hello')
  await runtime.close()
})

test('[D17] [F10] changed code reaches every database, whatever was there before, and leaves data agents alone', async () => {
  const store = openStore()
  const first = newRuntime([clerk], store).runtime
  for (const name of ['a', 'b']) await first.as(from(name)).agents.save(agent(`own-${name}`))
  await first.close()
  const { runtime, reports } = newRuntime([{ ...clerk, instructions: 'You are clerk. New.' }, agent('boss')], store)
  for (const name of ['a', 'b', 'default']) {
    const witan = runtime.as(from(name))
    const own = name === 'default' ? [] : [`own-${name} data`]
    assert.deepEqual(await ids(witan), ['boss code', 'clerk code', ...own])
    const { instructions, revision } = await witan.agents.get('clerk')
    assert.deepEqual([instructions, revision], ['You are clerk. New.', 2])
  }
  assert.deepEqual(reports, [])
  await runtime.close()
})

test('[D17] a worker that takes up a job of a database knows the code agents there', async () => {
  const store = openStore()
  const first = newRuntime([clerk], store).runtime
  const { run } = await first.as(from('a')).start({ agent: 'clerk', id: 'chats/1', prompt: 'ask' })
  const waiting = await (run ?? assert.fail()).result
  await first.close()
  const { runtime } = newRuntime([clerk], store)
  const [open] = waiting.interruptions
  const a = runtime.as(from('a'))
  await a.answerInterruption(open?.id ?? '', { answer: 'done' })
  assert.equal((await (await a.followRun(waiting.runId)).result).status, 'completed')
  await runtime.close()
})

test('[D17] code that does not fit into a database is reported, and the database works with what it holds', async () => {
  const store = openStore()
  const first = newRuntime([], store).runtime
  await first.as(from('a')).agents.save(agent('own', { name: 'Clerk' }))
  await first.close()
  const { runtime, reports } = newRuntime([{ ...clerk, name: 'Clerk' }], store)
  assert.deepEqual(await ids(runtime.as(from('b'))), ['clerk code'])
  assert.deepEqual(reports, [])
  assert.deepEqual(await ids(runtime.as(from('a'))), ['own data'])
  assert.match(String(reports), /Clerk/)
  assert.deepEqual(await ids(runtime.as(from('a'))), ['own data'])
  assert.equal(reports.length, 1)
  await runtime.close()
})

test('[D17] [I14] conversations, agents, events and lists of the same names never mix', async () => {
  const { runtime } = newRuntime([clerk])
  const names = ['a', 'b', 'default']
  const run = async (name: string) => {
    const witan = runtime.as(from(name))
    await witan.agents.save(agent('own', { instructions: `You are own of ${name}.` }))
    const streamed: string[] = []
    const stop = new AbortController()
    const opened = await witan.start({ agent: 'clerk', id: 'chats/1', prompt: `first of ${name}` })
    const reading = (async () => {
      for await (const event of witan.followEvents('chats/1', { signal: stop.signal, verbose: true }))
        streamed.push(JSON.stringify(event))
    })()
    await opened.run?.result
    for (let round = 0; round < 5; round += 1)
      await (await witan.run('chats/1', { prompt: `round ${round} of ${name}` })).result
    await settle()
    stop.abort()
    await reading
    return { witan, streamed }
  }
  const all = await Promise.all(names.map(run))
  for (const [index, { witan, streamed }] of all.entries()) {
    const name = names[index] ?? ''
    const foreign = names.filter((one) => one !== name).map((one) => `of ${one}`)
    const document = JSON.stringify(await witan.getDocument('chats/1', { limit: 100 }))
    const seen = [document, ...streamed, JSON.stringify(await witan.listConversations())].join('\n')
    for (const word of foreign) assert.equal(seen.includes(word), false, `${name} sees ${word}`)
    assert.equal(document.includes(`round 4 of ${name}`), true)
    assert.equal((await witan.agents.get('own')).instructions, `You are own of ${name}.`)
    assert.equal((await witan.listRuns('chats/1')).items.length, 6)
    assert.equal(
      (await witan.getConversation('chats/1')).lastSeq,
      streamed.filter((one) => one.includes('"seq"')).length,
    )
  }
  await runtime.close()
})
