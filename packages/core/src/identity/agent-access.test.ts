/** Access lists, held against every kind of caller: people and programs of the database, agents elsewhere, and nobody known. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DatabaseId } from '@witan/protocol'
import { addressOf } from '@witan/protocol/names'
import { renewed } from './on-behalf-of.ts'
import { mayCall, mayUseTool } from './agent-access.ts'
import { anonymousPrincipal, isOutside, localPrincipal, type Principal, remotePrincipal } from './principal.ts'
import { addresseesOf, isAddressed, mayDo, readLimitOf, readsAll } from './rights.ts'

const database = 'default' as DatabaseId
const local = (id: string, roles: readonly string[], address: string | null = null): Principal => ({
  database,
  id,
  roles,
  address,
})
const callers = {
  here: localPrincipal,
  anna: local('user:anna', ['run', 'staff'], '@anna@b.test'),
  key: local('key:k1', ['run']),
  odd: local('somebody', ['run']),
  a: remotePrincipal(database, addressOf('a', 'b.test')),
  other: remotePrincipal(database, addressOf('a', 'evil-b.test')),
  below: remotePrincipal(database, addressOf('a', 'x.b.test')),
  user: remotePrincipal(database, addressOf('user', 'anna.test')),
  nobody: anonymousPrincipal(database),
}
type Name = keyof typeof callers
const inside: readonly Name[] = ['here', 'anna', 'key', 'odd']
const outside: readonly Name[] = ['a', 'other', 'below', 'user', 'nobody']

type Entries = readonly (string | readonly string[])[]
const table: readonly (readonly [entries: Entries | null, who: readonly Name[]])[] = [
  [null, inside],
  [[], []],
  [['user:anna'], ['anna']],
  [['key:k1'], ['key']],
  [['role:staff'], ['anna']],
  [['role:run'], inside],
  [['role:admin'], ['here']],
  [['@a@b.test'], ['a']],
  [['@*@b.test'], ['a']],
  [['@*@test'], []],
  [['@*@anna.test'], ['user']],
  [['@*'], ['a', 'other', 'below', 'user']],
  [['anonymous'], ['nobody']],
  [['anonymous', '@*'], outside],
  [['@A@b.test', '@a@B.test', '@a@b.test.'], []],
  [[['@*', '@a@b.test']], ['a']],
  [[['@*', 'anonymous']], []],
  [[['@a@b.test', 'role:run']], []],
  [[['@a@b.test', 'user:anna']], []],
  [[['role:run', 'role:staff']], ['anna']],
  [[[]], []],
  [['somebody'], ['odd']],
]

describe('access', () => {
  test('[C31] each entry holds for exactly those whom it names, as callers and for tools', () => {
    for (const [entries, who] of table)
      for (const [name, caller] of Object.entries(callers)) {
        const isHeld = who.includes(name as Name)
        assert.equal(mayCall({ call: entries }, caller), isHeld, `call ${JSON.stringify(entries)} for ${name}`)
        if (entries !== null)
          assert.equal(
            mayUseTool({ call: null, tools: { pay: entries } }, 'pay', caller),
            isHeld,
            `tool ${JSON.stringify(entries)} for ${name}`,
          )
      }
  })

  test('[C31] `call: null` lets nobody in from outside, whatever roles and forms the id has', () => {
    const ids = ['@a@b.test', '@A@B.TEST', '@', '@*', '@user:anna', '@@', 'anonymous']
    const roles = [[], ['run'], ['admin'], ['admin', 'run', 'answer', 'read'], ['role:admin'], ['user:anna']]
    for (const id of ids)
      for (const held of roles) {
        const caller = local(id, held)
        assert.ok(isOutside(caller), id)
        assert.equal(mayCall({ call: null }, caller), false, `${id} ${held.join()}`)
        for (const entry of ['role:admin', 'role:run', 'user:local', 'key:k1'])
          assert.equal(mayCall({ call: [entry] }, caller), false, `${entry} for ${id}`)
      }
    for (const name of inside) assert.equal(isOutside(callers[name]), false, name)
  })

  test('[M01] an address that a person or a key has is no proof of it', () => {
    for (const entry of ['@anna@b.test', '@*@b.test', '@*'])
      assert.equal(mayCall({ call: [entry] }, callers.anna), false, entry)
  })
})

describe('access by evidence', () => {
  const piece = (subject: string, ...onBehalfOf: readonly string[]) => ({
    ...{ subject, onBehalfOf, issuer: 'https://b.test', digest: 'sha256:x', expiresAt: 0 },
  })
  const [mail, boss] = ['mailto:u@example.com', '@boss@c.test']
  type Piece = ReturnType<typeof piece>
  const rows: readonly (readonly [entries: Entries, evidence: readonly Piece[], isHeld: boolean])[] = [
    [[['@a@b.test', `for:${mail}`]], [piece('@a@b.test', mail)], true],
    [[['@*@b.test', `from:${mail}`]], [piece('@a@b.test', mail)], true],
    [[['@a@b.test', `for:${boss}`, `from:${mail}`]], [piece('@a@b.test', boss, mail)], true],
    [[['@a@b.test', `for:${mail}`]], [piece('@a@b.test', boss, mail)], false],
    [[['@a@b.test', `from:${boss}`]], [piece('@a@b.test', boss, mail)], false],
    [[['@a@b.test', `for:${mail}`]], [], false],
    [[['@a@b.test', 'for:@a@b.test']], [piece('@a@b.test')], false],
    [[['@a@b.test', 'for:undefined', 'from:undefined']], [piece('@a@b.test')], false],
    // Somebody else vouches for the one that the caller acts for.
    [[['@a@b.test', `for:${mail}`, `from:${mail}`]], [piece(mail)], true],
    [[['@a@b.test', `for:${mail}`]], [piece(mail, boss)], false],
    [['@x@x.test'], [piece('@x@x.test')], true],
    [['@*@x.test'], [piece('@x@x.test')], true],
    [[mail], [piece(mail)], false],
    // One piece must do for the whole list.
    [[['@x@x.test', `for:${mail}`]], [piece('@x@x.test', boss), piece('@y@y.test', mail)], false],
    [[['@x@x.test', `for:${mail}`]], [piece('@y@y.test', mail), piece('@x@x.test', mail)], true],
    [[['@a@b.test', `for:${boss}`, `from:${mail}`]], [piece('@a@b.test', boss), piece('@a@b.test', mail)], false],
    // Alone they hold for nobody, and a subject is no principal of the database.
    [[`for:${mail}`, `from:${mail}`], [piece('@a@b.test', mail)], false],
    [['user:anna'], [piece('user:anna')], false],
    [['role:run'], [piece('role:run')], false],
  ]

  test('[M24] [E67] entries of a list hold with one piece of evidence, for calls and for tools', () => {
    for (const [entries, evidence, isHeld] of rows) {
      const caller: Principal = { ...callers.a, incoming: { evidence } }
      const words = `${JSON.stringify(entries)} with ${JSON.stringify(evidence.map((one) => [one.subject, ...one.onBehalfOf]))}`
      assert.equal(mayCall({ call: entries }, caller), isHeld, words)
      assert.equal(mayUseTool({ call: null, tools: { pay: entries } }, 'pay', caller), isHeld, words)
    }
    assert.equal(mayCall({ call: null }, { ...callers.a, incoming: { evidence: [piece('@a@b.test', mail)] } }), false)
  })

  test('[M24] [E22] evidence that is renewed gives no right that the first did not give', () => {
    const first = { ...callers.a, incoming: { evidence: [piece('@a@b.test', boss)] } }
    const later = renewed(first, piece('@a@b.test', mail))
    assert.equal(mayUseTool({ call: null, tools: { pay: [['@a@b.test', `for:${mail}`]] } }, 'pay', later), false)
    assert.equal(mayUseTool({ call: null, tools: { pay: [['@a@b.test', `for:${boss}`]] } }, 'pay', later), true)
  })
})

describe('a caller from outside', () => {
  test('[C31] [D20] reads nothing but its own, and what is addressed to somebody is not addressed to it', () => {
    for (const name of outside) {
      const caller = callers[name]
      assert.equal(readsAll(caller), false)
      assert.deepEqual(addresseesOf(caller), [null])
      for (const addressee of ['role:run', 'run', 'anna', caller.id, caller.id.slice(1)])
        assert.equal(isAddressed(caller, addressee), false, `${addressee} for ${name}`)
      assert.equal(isAddressed(caller, null), true)
      assert.equal(mayDo(caller, 'read', { isCreator: false, takesPart: false }), false)
    }
  })

  test('[C31] owns what it began if it has an address, and nothing without one', () => {
    for (const deed of ['read', 'speak', 'own'] as const) {
      assert.equal(mayDo(callers.a, deed, { isCreator: true, takesPart: false }), true)
      assert.equal(mayDo(callers.nobody, deed, { isCreator: true, takesPart: false }), false)
    }
    assert.deepEqual(readLimitOf(callers.a), { createdBy: '@a@b.test', participant: null })
    assert.deepEqual(readLimitOf(callers.nobody), { createdBy: null, participant: null })
  })
})
