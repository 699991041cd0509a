/** Rights, in every combination of roles and ties: they are ordered, and a role more never takes one away. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InterruptionKind } from '@witan/protocol'
import { roles } from '@witan/protocol/access'
import { mayAnswer, mayKnow } from '../interruption/may-answer.ts'
import { addresseesOf, isAddressed, mayDo, personOf, readLimitOf } from './rights.ts'

const sets = Array.from({ length: 2 ** roles.length }, (_, bits) => roles.filter((_role, place) => bits & (1 << place)))
const ids = ['user:anna', 'key:anna', 'anna', '@anna@shop.example', 'user:', '']
const ties = [true, false].flatMap((isCreator) => [true, false].map((takesPart) => ({ isCreator, takesPart })))
const kinds: readonly InterruptionKind[] = ['action', 'question', 'approval', 'message', 'policy']
const addressees = ['anna', 'bob', 'role:buyer', 'role:admin', 'user:anna', '', null]
const callers = sets.flatMap((held) => ids.map((id) => ({ id, roles: [...held] as string[] })))

function waitingIn(tie: (typeof ties)[number]) {
  return kinds.flatMap((kind) => addressees.map((addressee) => ({ kind, addressee, ...tie })))
}

test('[D17] who owns may speak, and who speaks may read', () => {
  for (const caller of callers) {
    for (const tie of ties) {
      const [read, speak, own] = (['read', 'speak', 'own'] as const).map((deed) => mayDo(caller, deed, tie))
      assert.ok(!own || speak, JSON.stringify([caller, tie]))
      assert.ok(!speak || read, JSON.stringify([caller, tie]))
      for (const waiting of waitingIn(tie)) assert.ok(!mayAnswer(caller, waiting) || mayKnow(caller, waiting))
    }
  }
})

test('[D17] rights never grow when a role is taken away', () => {
  for (const caller of callers) {
    for (const lost of caller.roles) {
      const less = { ...caller, roles: caller.roles.filter((role) => role !== lost) }
      for (const tie of ties) {
        for (const deed of ['read', 'speak', 'own'] as const)
          assert.ok(!mayDo(less, deed, tie) || mayDo(caller, deed, tie), JSON.stringify([caller, lost, deed, tie]))
        for (const waiting of waitingIn(tie)) {
          assert.ok(!mayAnswer(less, waiting) || mayAnswer(caller, waiting), JSON.stringify([caller, lost, waiting]))
          assert.ok(!mayKnow(less, waiting) || mayKnow(caller, waiting), JSON.stringify([caller, lost, waiting]))
        }
      }
    }
  }
})

test('[D17] without a role there is only what somebody takes part in, and no name stands for a role', () => {
  for (const id of ids) {
    for (const held of [[], ['Admin', 'RUN', ' read', 'answer ', 'role:admin', '*', '']]) {
      for (const tie of ties) {
        assert.equal(mayDo({ id, roles: held }, 'own', tie), false)
        assert.equal(mayDo({ id, roles: held }, 'read', tie), tie.takesPart)
        for (const waiting of waitingIn(tie)) {
          const may = tie.takesPart && waiting.addressee !== null && personOf({ id }) === waiting.addressee
          assert.equal(mayAnswer({ id, roles: held }, waiting), may, JSON.stringify([id, waiting]))
        }
      }
    }
  }
})

test('[D17] what a list selects by is what a single look decides by', () => {
  for (const caller of callers.map((one) => ({ ...one, roles: [...one.roles, 'buyer'] }))) {
    for (const addressee of addressees)
      assert.equal(
        addresseesOf(caller).includes(addressee),
        isAddressed(caller, addressee),
        JSON.stringify([caller, addressee]),
      )
    const reading = readLimitOf(caller)
    const isRead = (isCreator: boolean, takesPart: boolean) => mayDo(caller, 'read', { isCreator, takesPart })
    assert.equal(reading === null, isRead(false, false))
    if (reading === null) continue
    assert.equal(reading.createdBy, isRead(true, false) ? caller.id : null)
    assert.equal(reading.participant, personOf(caller))
  }
})

test('[C31] a remote caller answers the questions and actions of its own conversations, and nothing that is for anybody', () => {
  for (const held of sets) {
    const remote = { id: '@anna@shop.example', roles: [...held, 'buyer'] as string[] }
    for (const tie of ties) {
      for (const waiting of waitingIn(tie)) {
        const isAsked = ['question', 'action', 'policy'].includes(waiting.kind)
        const may = isAsked && waiting.addressee === null && tie.isCreator && held.includes('run')
        assert.equal(mayAnswer(remote, waiting), may, JSON.stringify([held, waiting]))
        assert.equal(mayKnow(remote, waiting), may, JSON.stringify([held, waiting]))
      }
    }
    for (const addressee of addressees) assert.equal(isAddressed(remote, addressee), addressee === null)
  }
})
