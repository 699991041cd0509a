/** The address of an agent: where it may be, in which form it is kept, and whose it is alone. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRuntime } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import type { DatabaseId } from '@witan/protocol'
import type { Principal } from '@witan/core'
import { agent, createStage } from '../support/stage.ts'

const domains = { 'bots.example.com': 'default', 'xn--bcher-kva.example': 'default', 'acme.example': 'acme' }
const stage = () => createStage({ agents: [], plays: {}, options: { domains } }).runtime
const admin = (database: string): Principal => ({
  database: database as DatabaseId,
  id: 'user:root',
  roles: ['admin'],
  address: null,
})

describe('an address', () => {
  test('[M01] [Mb01] [E70] [C28] is read in any form, kept whole and in canonical form, and leads to its agent', async () => {
    const runtime = stage()
    for (const [address, kept] of [
      ['docs', '@docs@bots.example.com'],
      ['Docs', '@docs@bots.example.com'],
      ['@Docs@BOTS.example.com', '@docs@bots.example.com'],
      ['acct:docs@bots.example.com', '@docs@bots.example.com'],
      ['docs@Bücher.example', '@docs@xn--bcher-kva.example'],
      [null, null],
    ] as const) {
      const saved = await runtime.agents.save(agent('helper', { address }))
      assert.equal(saved.agent.address, kept)
      assert.equal((await runtime.agents.get('helper')).address, kept)
      if (kept === null) continue
      assert.equal((await runtime.agents.get(kept.toUpperCase())).id, 'helper')
      const domain = kept.slice(kept.lastIndexOf('@') + 1)
      const found = await runtime.published.find({ local: 'docs', domain })
      assert.deepEqual([found?.address.text, found?.data.id, found?.database], [kept, 'helper', 'default'])
      assert.deepEqual(
        (await runtime.published.list(domain)).map(({ data }) => data.id),
        ['helper'],
      )
    }
    assert.equal(await runtime.published.find({ local: 'docs', domain: 'bots.example.com' }), null)
  })

  test('all who look for published agents after a change wait for one look at them', async () => {
    const runtime = stage()
    const domain = 'bots.example.com'
    for (const address of ['docs', 'shop']) {
      await runtime.agents.save(agent('helper', { address }))
      const found = await Promise.all(Array.from({ length: 20 }, () => runtime.published.list(domain)))
      assert.equal(new Set(found.map(([one]) => one)).size, 1)
      assert.equal(found[0]?.[0]?.address.local, address)
    }
  })

  test('[M01] is stored once: the same address in another form is no change', async () => {
    const runtime = stage()
    await runtime.agents.save(agent('helper', { address: 'docs' }))
    const again = await runtime.agents.save(agent('helper', { address: 'acct:DOCS@bots.example.com' }))
    assert.equal(again.agent.revision, 1)
  })

  test('[Mb01] [E70] that is malformed or of another domain is ADDRESS_INVALID, in a save and in a check', async () => {
    const runtime = stage()
    for (const [address, said] of [
      ['@docs@localhost', /two labels/],
      ['docs@bots.example.com.', /dot at its end/],
      ['docs@bots.example.com:443', /port/],
      ['docs@127.0.0.1', /IP address/],
      ['docs@acme.example', /`acme.example` is no domain of this database/],
      ['docs@elsewhere.example', /no domain of this database/],
      ['v1', /reserved/],
      ['do cs', /local part/],
      ['döcs', /local part/],
    ] as const) {
      const draft = agent('helper', { address })
      const wanted = { code: 'ADDRESS_INVALID', path: 'address', message: said }
      await assert.rejects(runtime.agents.save(draft), wanted, address)
      await assert.rejects(runtime.agents.saveAll([agent('other'), draft]), wanted, address)
      const { errors } = await runtime.agents.check([draft])
      assert.deepEqual(
        errors.map(({ code, agent: of, path }) => [code, of, path]),
        [['ADDRESS_INVALID', 'helper', 'address']],
      )
      assert.match(errors[0]?.hint ?? '', /bots\.example\.com, xn--bcher-kva\.example/)
    }
    assert.deepEqual((await runtime.agents.list()).items, [])
    const none = createStage({ agents: [], plays: {} }).runtime
    await assert.rejects(none.agents.save(agent('helper', { address: 'docs' })), {
      code: 'ADDRESS_INVALID',
      message: /this database has no domain/,
      hint: /server\.domain/,
    })
  })

  test('[M01] [C28] belongs to one agent, key or person: another one is NAME_TAKEN, whichever comes first', async () => {
    const first = stage()
    await first.agents.save(agent('helper', { address: 'docs', users: [{ id: 'anna' }] }))
    await first.agents.save(agent('sales'))
    const { id } = await first.start({ agent: 'sales', users: [{ id: 'bob' }] })
    await first.keys.create({ address: '@Kay@bots.example.com', roles: ['run'] })
    for (const [draft, path, said] of [
      [agent('other', { address: 'docs' }), 'address', /`helper` has the address/],
      [agent('other', { address: 'docs@bücher.example' }), null, null],
      [agent('docs'), 'id', /whose local part is the id `docs`/],
      [agent('other', { address: 'sales' }), 'address', /is the id of agent `sales`/],
      [agent('other', { address: 'anna' }), 'id', /name of a person/],
      [agent('other', { address: 'bob' }), 'address', /`bob` takes part/],
      [agent('other', { address: 'kay' }), 'address', /API key/],
      [agent('other', { users: [{ id: 'docs' }] }), 'users.0.id', /is an agent/],
      [agent('other', { users: [{ id: 'd0cs' }] }), 'users.0.id', /looks like `docs`/],
    ] as const) {
      if (path === null) {
        await first.agents.save(draft)
        await first.agents.delete('other')
        continue
      }
      await assert.rejects(first.agents.save(draft), { code: 'NAME_TAKEN', path, message: said }, JSON.stringify(draft))
    }
    await assert.rejects(first.addParticipant(id, { id: 'docs' }), {
      code: 'NAME_TAKEN',
      message: /address of an agent/,
    })
    await assert.rejects(first.keys.create({ address: '@DOCS@bots.example.com' }), {
      code: 'NAME_TAKEN',
      path: 'address',
      message: /address of agent `helper`/,
    })
    // Its own local part may be its id, and a batch is checked as one.
    await first.agents.save(agent('legal', { address: 'legal' }))
    await assert.rejects(first.agents.saveAll([agent('one', { address: 'same' }), agent('two', { address: 'same' })]), {
      code: 'NAME_TAKEN',
    })
  })

  test('[D17] is looked up in the database of its domain alone, and not while the agent is disabled', async () => {
    const runtime = stage()
    const acme = runtime.as(admin('acme'))
    await acme.agents.save(agent('helper', { address: 'docs' }))
    await runtime.agents.save(agent('docs-agent', { address: 'docs' }))
    const at = (domain: string) => runtime.published.find({ local: 'docs', domain })
    assert.deepEqual([(await at('acme.example'))?.database, (await at('acme.example'))?.data.id], ['acme', 'helper'])
    assert.equal((await at('bots.example.com'))?.data.id, 'docs-agent')
    assert.equal(await at('xn--bcher-kva.example'), null)
    assert.equal(await at('elsewhere.example'), null)
    assert.equal(await at('__proto__'), null)
    await acme.agents.save(agent('helper', { address: 'docs', disabled: true }))
    assert.equal(await at('acme.example'), null)
    assert.deepEqual(await runtime.published.list('acme.example'), [])
  })

  test('[D17] [F10] of an agent in code is that of the database: elsewhere it has the local part there, or none', async () => {
    const options = { domains, models: { 'play/model': scriptedModel(() => 'x', { id: 'play/model' }) } }
    const runtime = createRuntime({
      ...options,
      agents: [agent('one', { address: 'one' }), agent('two', { address: '@two@bots.example.com' })],
    })
    const addresses = async (database: string) =>
      (await runtime.as(admin(database)).agents.list()).items.map(({ id, address }) => [id, address])
    assert.deepEqual(await addresses('default'), [
      ['one', '@one@bots.example.com'],
      ['two', '@two@bots.example.com'],
    ])
    assert.deepEqual(await addresses('acme'), [
      ['one', '@one@acme.example'],
      ['two', null],
    ])
    assert.deepEqual(await addresses('third'), [
      ['one', null],
      ['two', null],
    ])
    await runtime.close()
    const wrong = createRuntime({ ...options, agents: [agent('one', { address: '@one@acme.example' })] })
    await assert.rejects(wrong.ready, { code: 'ADDRESS_INVALID' })
    await wrong.close().catch(() => undefined)
  })

  test('[C31] an access entry for addresses is kept in canonical form, and refused if it is none', async () => {
    const runtime = stage()
    const { agent: saved } = await runtime.agents.save(
      agent('helper', {
        access: {
          call: ['@A@B.test', '@*@Bücher.test', '@*', 'anonymous', ['@*@B.test', '@c@b.test']],
          tools: {},
        },
      }),
    )
    assert.deepEqual(saved.access.call, [
      '@a@b.test',
      '@*@xn--bcher-kva.test',
      '@*',
      'anonymous',
      ['@*@b.test', '@c@b.test'],
    ])
    for (const entry of ['@a@localhost', '@*@localhost', '@*@*', '@v1@b.test', ['@a@b.test', '@*@127.0.0.1']]) {
      const wanted = { code: 'AGENT_INVALID', path: Array.isArray(entry) ? 'access.call.0.1' : 'access.call.0' }
      await assert.rejects(runtime.agents.save(agent('wrong', { access: { call: [entry] } })), wanted, String(entry))
      const { errors } = await runtime.agents.check([agent('wrong', { access: { call: [entry] } })])
      assert.deepEqual([errors[0]?.code, errors[0]?.path], [wanted.code, wanted.path])
    }
    for (const entry of ['@**', 'anonymous2', '@*@', 'for:mailto:a@b.test', 'from:@a@b.test', ['@*', 'for:x']])
      await assert.rejects(runtime.agents.save(agent('wrong', { access: { call: [entry] } })), {
        code: 'AGENT_INVALID',
      })
  })

  test('a domain of the options that is none is refused with its place', () => {
    for (const [wrong, path] of [
      [{ localhost: 'default' }, 'domains.localhost'],
      [{ 'Bots.example.com': 'default' }, 'domains.Bots.example.com'],
      [{ 'bots.example.com': 'No Database' }, 'domains.bots.example.com'],
    ] as const)
      assert.throws(() => createRuntime({ domains: wrong }), { code: 'CONFIG_INVALID', path })
  })
})
