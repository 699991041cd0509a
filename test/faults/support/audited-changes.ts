/**
 * One change of each kind that the audit knows. As a program it makes the next one for each line that it reads, and prints what it
 * made. Its arguments are a place, as JSON, and the name of the agent and of the protocol.
 */
import assert from 'node:assert/strict'
import { createInterface } from 'node:readline'
import { createRuntime, type Runtime } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { type Place, storeAt } from './held-loop.ts'

/** A runtime that only changes definitions and keys. */
export function openAdmin(place: Place): Runtime {
  const model = scriptedModel(() => 'hello', { id: 'play/root' })
  return createRuntime({ store: storeAt(place), models: { [model.id]: model }, report: () => {} })
}

type Change = (runtime: Runtime) => Promise<unknown>

/** The changes in the order in which they can be made. */
export function changesOf(name: string): Readonly<Record<string, Change>> {
  let keyId = ''
  const agent = (instructions: string): Change => {
    return ({ agents }) => agents.save({ id: name, model: 'play/root', instructions })
  }
  const protocol = (purpose: string): Change => {
    return ({ protocols }) => protocols.save({ name, purpose, messages: [{ name: 'ask', from: 'initiator' }] })
  }
  return {
    'create agent': agent('one'),
    'create protocol': protocol('one'),
    'create key': async ({ keys }) => {
      keyId = (await keys.create({ roles: ['read'] })).keyId
    },
    'change agent': agent('two'),
    'change protocol': protocol('two'),
    'delete agent': ({ agents }) => agents.delete(name),
    'delete protocol': ({ protocols }) => protocols.delete(name),
    'revoke key': ({ keys }) => keys.revoke(keyId),
  }
}

/** What stands in a store, by kind and name: a revision, or null for a key. */
type Standing = Readonly<Record<string, number | null>>

async function standing({ agents, protocols, keys }: Runtime): Promise<Standing> {
  const page = { limit: 200 }
  return Object.fromEntries([
    ...(await agents.list(page)).items.map((one) => [`agent ${one.id}`, 'revision' in one ? one.revision : 0]),
    ...(await protocols.list(page)).items.map((one) => [`protocol ${one.name}`, one.revision]),
    ...(await keys.list(page)).items.map((one) => [`key ${one.keyId}`, null]),
  ])
}

/** Fails unless the audit tells of every change that stands, and of no other. Returns how many there are. */
export async function assertTogether(place: Place, what: string): Promise<number> {
  const runtime = openAdmin(place)
  const { items } = await runtime.audit({ limit: 200 })
  const told = new Map<string, number | null>()
  for (const { kind, name, action, before, after } of items.toReversed()) {
    const id = `${kind} ${name}`
    assert.equal(before, told.get(id) ?? null, `${what}: the audit misses a change of ${id}`)
    if (action === 'delete' || action === 'revoke') told.delete(id)
    else told.set(id, after)
  }
  assert.deepEqual(await standing(runtime), Object.fromEntries(told), what)
  await runtime.close()
  return items.length
}

if (import.meta.main) {
  const [place = '', name = ''] = process.argv.slice(2)
  const runtime = openAdmin(JSON.parse(place) as Place)
  await runtime.ready
  const left = Object.entries(changesOf(name))
  for await (const _ of createInterface({ input: process.stdin })) {
    const [what, change] = left.shift() ?? assert.fail('there is no other change')
    await change(runtime)
    console.log(what)
  }
  await runtime.close()
}
