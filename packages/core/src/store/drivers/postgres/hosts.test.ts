/** Addresses with several hosts: the one that can be written is found, and found again after a promotion. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { promote, repeat, startPair } from '../../../../../../test/postgres/support/pair.ts'
import { asAdmin } from '../../../../../../test/postgres/support/stores.ts'
import { begin, by, entry, textsOf } from '../../../testing/conformance/store-fixtures.ts'
import { isWitanError } from '@witan/protocol'
import { postgresStore } from '../postgres.ts'
import { readAddress } from './url.ts'

const both = (hosts: readonly string[], rest = '') => `postgres://postgres@${hosts.join(',')}/postgres${rest}`

test('an address names one host or several, shown without password and options', () => {
  const rows: [url: string, shown: string, hosts: string[]][] = [
    ['postgres://h/db', 'postgres://h/db', ['postgres://h/db']],
    ['postgresql://me:pw@h:1/db?a=b', 'postgres://me@h:1/db', ['postgresql://me:pw@h:1/db?a=b']],
    [
      'postgres://me:p%40w@a:1,b:2,[::1]:3/db?target_session_attrs=read-write',
      'postgres://me@a:1,b:2,[::1]:3/db',
      ['a:1', 'b:2', '[::1]:3'].map((host) => `postgres://me:p%40w@${host}/db?target_session_attrs=read-write`),
    ],
    ['postgres://a,b/db', 'postgres://a,b/db', ['postgres://a/db', 'postgres://b/db']],
    ['postgres:///db?host=/run/pg', 'postgres:///run/pg/db', ['postgres:///db?host=/run/pg']],
  ]
  for (const [url, shown, hosts] of rows)
    assert.deepEqual([url, readAddress(url)], [url, { ...readAddress(url), shown, hosts }])
  for (const url of ['postgres://me:secret@a,,b/db', 'postgres://me:secret@a:x,b/db', 'postgres://me:se/cret@a,b/db'])
    assert.throws(
      () => readAddress(url),
      (error: Error) => /cannot be read/.test(error.message) && !error.message.includes('secret'),
    )
})

test('what a session must be is read from the address: a store writes, so it refuses what cannot be written', () => {
  for (const wanted of ['any', 'read-write', 'primary']) readAddress(`postgres://a,b/db?target_session_attrs=${wanted}`)
  for (const wanted of ['standby', 'read-only', 'prefer-standby', 'x'])
    assert.throws(
      () => readAddress(`postgres://a/db?target_session_attrs=${wanted}`),
      /target_session_attrs.*read-write/,
    )
})

test('of several hosts the primary is used, and the other one after its promotion; a standby is reported as one', {
  timeout: 120_000,
}, async (context) => {
  const { primary, standby } = await startPair(context)
  const hosts = [`127.0.0.1:${standby.port}`, `127.0.0.1:${primary.port}`]
  const store = postgresStore({ url: both(hosts, '?target_session_attrs=read-write'), timeouts: { replyMs: 2_000 } })
  await store.open()
  context.after(() => store.close())
  const job = await begin(store, { id: 'j1' })
  await repeat(primary.url, 'select from pg_stat_replication where replay_lsn = pg_current_wal_lsn()')
  for (const rest of ['', '?target_session_attrs=read-write'])
    await assert.rejects(postgresStore({ url: both(hosts.slice(0, 1), rest) }).open(), (error) => {
      assert.ok(isWitanError(error))
      assert.deepEqual([error.code, /is a standby/.test(error.message)], ['STORE_UNREACHABLE', true])
      assert.match(error.hint ?? '', /primary/)
      return true
    })
  await primary.stop('immediate')
  await promote(standby)
  await store.append({ ...by(job), entries: [entry('after')] })
  assert.deepEqual(await textsOf(store, job.conversation), ['hello', 'after'])
})

test('a server that became a standby while a process was at work is named so when its patience is over', {
  timeout: 120_000,
}, async (context) => {
  const { primary, standby } = await startPair(context)
  const store = postgresStore({ url: both([`127.0.0.1:${primary.port}`]), unavailableAfterMs: 1_000 })
  await store.open()
  context.after(() => store.close())
  const job = await begin(store, { id: 'j1' })
  await asAdmin(primary.url, (client) => client.query('alter system set default_transaction_read_only = on'))
  await asAdmin(primary.url, (client) => client.query('select pg_reload_conf()'))
  // Nobody is told when every connection has read the new settings: what comes before is stored.
  let error: unknown = null
  for (let at = 0; error === null; at += 1)
    error = await store.append({ ...by(job), entries: [entry(`more ${at}`)] }).then(
      () => null,
      (one: unknown) => one,
    )
  assert.ok(isWitanError(error))
  assert.match(`${error.message} ${error.hint}`, /accepts no writes.*primary/s)
  assert.equal(error.code, 'STORE_UNAVAILABLE')
  await standby.stop('immediate')
})
