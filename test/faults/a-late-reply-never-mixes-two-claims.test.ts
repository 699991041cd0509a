/** The reply to an accept comes so late that its worker has claimed the job anew: only one of the two claims writes the log. */
import { test } from 'node:test'
import { createRuntime, memoryStore, type Store } from '@witan/core'
import type { RunResult } from '@witan/protocol'
import { scriptedModel } from '@witan/core/testing'
import { assertEpochs, assertSound, assertUsage, storedEntries } from '../support/claims.ts'
import { fakeClock } from '../support/clock.ts'
import { outliving } from '../support/reopen.ts'
import { agent, allEvents, cast, createGate, settle, until } from '../support/stage.ts'

const leaseMs = 3_000

test('[I6] [I7] [I11] [D5] a job claimed anew before its accept was told goes on from the log alone', async () => {
  const clock = fakeClock()
  const inner = outliving(memoryStore({ now: clock.now }))
  const [reply, reading, writing] = [createGate(), createGate(), createGate()]
  let accepted = false
  let isHeld = false
  const store = new Proxy(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      const method = member.bind(target)
      if (name === 'append') {
        return async (append: Parameters<Store['append']>[0]) => {
          // What the first claim writes comes too late, and learns of it late.
          if (append.fence?.epoch === 1) await writing.opened
          const result = await inner.append(append)
          const isAccept = append.jobs?.some(({ kind }) => kind === 'create') ?? false
          if (isAccept && !accepted) {
            accepted = true
            await reply.opened
          }
          return result
        }
      }
      if (name !== 'readEntries') return method
      return async (...args: Parameters<Store['readEntries']>) => {
        const entries = await inner.readEntries(...args)
        if (accepted && !isHeld) {
          isHeld = true
          await reading.opened
        }
        return entries
      }
    },
  })
  const model = scriptedModel(
    cast({ root: [{ toolCalls: [{ name: 'leaf', arguments: { message: 'look' } }] }, 'done'], leaf: ['looked'] }),
  )
  const runtime = createRuntime({
    store,
    clock,
    leaseMs,
    models: { 'play/model': model },
    agents: [agent('root', { subAgents: [{ agent: 'leaf' }] }), agent('leaf')],
    retry: { tries: 1 },
    report: () => {},
  })
  await runtime.start({ agent: 'root', id: 'chats/1' })
  const said = runtime.run('chats/1', { prompt: 'go' })
  await until(() => accepted)
  clock.advance(leaseMs + 1)
  await until(() => isHeld)
  reply.open()
  await said
  await settle()
  reading.open()
  await settle()
  writing.open()
  await until(async () => {
    clock.advance(leaseMs / 3)
    return (await runtime.getConversation('chats/1')).status === 'idle'
  })
  const events = await allEvents(runtime, 'chats/1')
  assertSound(events)
  const { runId } = await said
  // What was answered stands in the log, call by call.
  assertUsage((await runtime.getRun(runId)).result as RunResult, events)
  assertEpochs(await storedEntries(inner, 'chats/1'))
  await runtime.close()
})
