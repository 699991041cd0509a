/** A reader joins while a run goes on: what is stored during its first look comes once, neither twice nor not at all. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore, type Store } from '@witan/core'
import type { AnyEvent } from '@witan/protocol'
import { createGate, createStage, settle } from '../support/stage.ts'

/** A store whose first read of the log is slow. It returns the entries stored before the wait, or those stored after it too. */
function slowToRead(inner: Store, held: Promise<void>, answers: 'before' | 'after'): Store {
  let isFirst = true
  return new Proxy(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      if (name !== 'readEntries') return member.bind(target)
      return async (...args: Parameters<Store['readEntries']>) => {
        const waits = isFirst
        isFirst = false
        if (waits && answers === 'after') await held
        const page = [...(await target.readEntries(...args))]
        if (waits && answers === 'before') await held
        return page
      }
    },
  })
}

for (const answers of ['before', 'after'] as const) {
  test(`[I2] [P17] a reader whose first look tells what was there ${answers} the wait gets every event once`, async () => {
    const gate = createGate()
    const stage = createStage({
      agents: [{ id: 'root' }],
      plays: { root: ['hi'] },
      options: { store: slowToRead(memoryStore(), gate.opened, answers) },
    })
    await stage.runtime.start({ agent: 'root', id: 'chats/1' })
    const stop = new AbortController()
    const read: AnyEvent[] = []
    const reading = (async () => {
      for await (const event of stage.runtime.followEvents('chats/1', { verbose: true, signal: stop.signal })) {
        if (event.seq !== undefined) read.push(event)
      }
    })()
    await settle()
    await stage.run('chats/1', { prompt: 'hello' })
    gate.open()
    await settle()
    stop.abort()
    await reading
    const stored = await stage.events('chats/1')
    assert.ok(stored.length > 2)
    assert.deepEqual(
      read.map(({ seq }) => seq),
      stored.map(({ seq }) => seq),
    )
  })
}
