/** Family G: two databases with the same ids, every route, every set of roles, and every tie to a conversation. What is not reached is missing. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore, postgresStore, sqliteStore, type Store } from '@witan/core'
import { apiRoutes } from '@witan/server'
import { mayReach, roles, routeAccess } from '@witan/protocol/access'
import { createTestDatabase } from '../../postgres/support/database.ts'
import { forgettingDatabases } from '../../postgres/support/forgetting.ts'
import { canary, scannerOf } from '../support/canary.ts'
import type { Ledger } from '../support/ledger.ts'
import { answers, type Caller, lists, type Row, rows, ties } from '../support/reach-table.ts'
import { createWorlds, missing, principalOf, type World, type Worlds } from '../support/reach-world.ts'

/** Every set of roles. */
const sets = Array.from({ length: 2 ** roles.length }, (_, bits) => roles.filter((_role, place) => bits & (1 << place)))
const callers: readonly Caller[] = ties.flatMap((tie) => sets.map((one) => ({ tie, roles: one })))
/** Callers of every tie without a role and as `run`; and somebody else in each role. */
const some = callers.filter(({ tie, roles: held }) =>
  tie === 'eve' ? held.length <= 1 : held.length === 0 || held.join() === 'run',
)
const nameOf = ({ tie, roles: held }: Caller): string => `${tie} as ${held.join(' and ') || 'nobody'}`

const [mine, other, hidden] = [scannerOf(['reachshop']), scannerOf(['reachother']), scannerOf(['reachbound'])]

interface Told {
  readonly status: number
  readonly text: string
  /** Without what the request itself said: what it must not tell apart. */
  readonly masked: string
}

/** Plays every cell of the table, on a store in memory and on one of SQLite. */
export async function playReach(ledger: Ledger): Promise<void> {
  ledger.begin('the table')
  claimWhole(ledger)
  const folder = mkdtempSync(join(tmpdir(), 'witan-reach-'))
  try {
    await playOn(memoryStore(), ledger)
    await playOn(sqliteStore({ file: join(folder, 'reach.db'), synchronous: 'normal' }), ledger)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * Plays the table on PostgreSQL, for fewer sets of roles; then the other databases once more, with statements that forget their
 * database: there row-level security alone keeps them apart.
 */
export async function playReachOnPostgres(ledger: Ledger): Promise<void> {
  const database = await createTestDatabase('')
  try {
    await playOn(postgresStore({ url: database.adminUrl }), ledger, some)
    const forgotten = await forgettingDatabases(async () => {
      const worlds = await createWorlds(postgresStore({ url: database.adminUrl, schema: 'forgetful' }))
      try {
        await playOtherDatabase(worlds, ledger)
        await playRepeats(worlds, ledger)
      } finally {
        await worlds.close()
      }
    })
    ledger.begin('the statements')
    ledger.control(`${forgotten} statements forget their database`, forgotten >= 40)
  } finally {
    await database.drop()
  }
}

async function playOn(store: Store, ledger: Ledger, asked = callers): Promise<void> {
  const worlds = await createWorlds(store)
  try {
    await playCells(worlds, ledger, asked)
    await playOtherMethods(worlds, ledger)
    await playOtherDatabase(worlds, ledger)
    await playLookalikes(worlds, ledger)
    await playRepeats(worlds, ledger)
  } finally {
    await worlds.close()
  }
}

/** Every route of the server is asked, and the server's own table has no row too many. */
function claimWhole(ledger: Ledger): void {
  const asked = new Set(rows.map(({ route }) => route))
  for (const { method, path } of apiRoutes)
    ledger.claim(`${method} ${path} is asked`, asked.has(`${method} ${path.replace('+}', '}')}`))
  const served = new Set([...asked, 'GET /metrics'])
  for (const { method, path } of routeAccess)
    ledger.claim(`${method} ${path} is served`, served.has(`${method} ${path}`))
}

async function playCells(worlds: Worlds, ledger: Ledger, asked: readonly Caller[]): Promise<void> {
  const quiet = await worlds.create('shop')
  const before = await worlds.snapshot(quiet.database)
  const reached = new Map<string, boolean>()
  let world = await worlds.create('shop')
  for (const row of rows) {
    for (const caller of asked) {
      const name = `${row.route} for ${nameOf(caller)}`
      ledger.begin(name)
      if (!row.right(caller)) {
        await playRefusal(worlds, quiet, { row, caller, ledger })
        reached.set(keyOf(row, caller), false)
        continue
      }
      const told = await ask(worlds, world, { row, caller })
      ledger.claim(`it is reached, not ${told.status}`, told.status !== 404 && told.status !== 401 && told.status < 500)
      reached.set(keyOf(row, caller), told.status !== 404)
      ledger.deny('leak', 'a database of somebody else', other(told.text))
      const isSaid = mine(told.text).size > 0 || told.text.includes(world.ids.task)
      if (row.shows === true) ledger.control('an answer', isSaid)
      const isFound = lists[row.route]
      if (isFound?.(caller) === true) ledger.control('a list', isSaid)
      if (isFound?.(caller) === false) ledger.deny('leak', 'a list', isSaid ? [row.route] : [])
      if (row.route.startsWith('GET ') && !answers(caller)) ledger.deny('leak', 'a bound value', hidden(told.text))
      if (row.isDone === true && told.status < 300) world = await worlds.create('shop')
    }
  }
  ledger.begin('what was refused changed nothing')
  ledger.claim('everything is as it was', (await worlds.snapshot(quiet.database)) === before)
  claimGrowth(reached, ledger)
}

/** A method that a path does not have is named to those who reach some route of the path; to others it is a path where there is nothing. */
async function playOtherMethods(worlds: Worlds, ledger: Ledger): Promise<void> {
  const world = await worlds.create('shop')
  const paths = new Map(rows.map((row) => [row.route.split(' ')[1] ?? '', row]))
  for (const [path, row] of paths) {
    const reaches = routeAccess.filter((one) => one.path === path).map(({ reach }) => reach)
    for (const caller of some) {
      ledger.begin(`PATCH ${path} for ${nameOf(caller)}`)
      const isReached = reaches.some((reach) => mayReach(reach, principalOf(caller, world.database)))
      const { body: _, ...bare } = row
      const patch = { ...bare, route: `PATCH ${path}` }
      const told = await ask(worlds, world, { row: patch, caller })
      const nothing = await ask(worlds, world, { row: { ...patch, path: () => '/api/v1/nothing-here' }, caller })
      ledger.claim(
        `it is ${isReached ? 'named' : 'missing'}, not ${told.status}`,
        told.status === (isReached ? 405 : 404),
      )
      if (!isReached) ledger.claim(`${told.masked} is ${nothing.masked}`, told.masked === nothing.masked)
    }
  }
}

const keyOf = (row: Row, { tie, roles: held }: Caller): string => `${rows.indexOf(row)} ${tie} ${held.join()}`

/** What is not reached is told like what is not there, and tells nothing. */
async function playRefusal(
  worlds: Worlds,
  world: World,
  { row, caller, ledger }: { readonly row: Row; readonly caller: Caller; readonly ledger: Ledger },
): Promise<void> {
  const told = await ask(worlds, world, { row, caller })
  const nothing = row.isAbout
    ? await ask(worlds, { ...world, ids: missing }, { row, caller })
    : await ask(worlds, world, { row: { ...row, path: () => '/api/v1/nothing-here' }, caller })
  ledger.claim(`it is missing, not ${told.status}`, told.status === 404)
  ledger.claim(`${told.masked} is ${nothing.masked}`, told.masked === nothing.masked)
  ledger.deny('leak', 'a refusal', [...mine(told.text), ...other(told.text), ...hidden(told.text)])
}

/** One request, and its answer. */
async function ask(
  worlds: Worlds,
  { database, ids }: World,
  { row, caller }: { readonly row: Row; readonly caller: Caller },
): Promise<Told> {
  const path = row.path(ids)
  const method = row.route.split(' ')[0] ?? ''
  const { headers = {} } = row
  const body = row.body?.(ids)
  const who = principalOf(caller, database)
  const response = await worlds.fetch(who, { method, path, headers, ...(body === undefined ? {} : { body }) })
  const text = await response.text()
  const requestId = response.headers.get('x-request-id') ?? ''
  const said = [...response.headers].filter(([name]) => name !== 'x-request-id' && name !== 'content-length')
  let masked = `${response.status} ${JSON.stringify(said)} ${text}`.replaceAll(requestId, '<request>')
  masked = masked.replaceAll(path.split('?')[0] ?? '', '<path>')
  const names = new Set(Object.values(ids).flatMap((id: string) => [id, id.replace(':', '/')]))
  for (const id of [...names].sort((a, b) => b.length - a.length)) masked = masked.replaceAll(`\`${id}`, '`<id>')
  return { status: response.status, text, masked }
}

/** A role more never takes anything away. */
function claimGrowth(reached: ReadonlyMap<string, boolean>, ledger: Ledger): void {
  for (const row of rows) {
    for (const caller of callers) {
      for (const role of roles.filter((one) => !caller.roles.includes(one))) {
        const more = { ...caller, roles: roles.filter((one) => one === role || caller.roles.includes(one)) }
        if (reached.get(keyOf(row, caller)) === true && reached.get(keyOf(row, more)) === false)
          ledger.claim(`${row.route}: ${nameOf(more)} reaches less than ${nameOf(caller)}`, false)
      }
    }
  }
}

/** The same ids elsewhere lead to what stands there; where nothing stands, an admin finds as much as nobody. */
async function playOtherDatabase(worlds: Worlds, ledger: Ledger): Promise<void> {
  await worlds.create('shop')
  const elsewhere = await worlds.create('other')
  const empty = { database: 'empty', ids: elsewhere.ids }
  for (const row of rows.filter(({ route }) => route.startsWith('GET '))) {
    for (const caller of ties.map((tie) => ({ tie, roles }))) {
      ledger.begin(`${row.route} in another database for ${nameOf(caller)}`)
      const told = await ask(worlds, elsewhere, { row, caller })
      ledger.deny('leak', 'another database', mine(told.text))
      const isSaid = other(told.text).size > 0 || told.text.includes(elsewhere.ids.task)
      if (row.shows === true) ledger.control('another database', isSaid)
      const nothing = await ask(worlds, empty, { row, caller })
      ledger.deny('leak', 'an empty database', [...mine(nothing.text), ...other(nothing.text), ...hidden(nothing.text)])
      if (!row.isAbout || /\/agents\/|subject=/.test(row.path(empty.ids))) continue
      const same = await ask(worlds, { ...empty, ids: missing }, { row, caller })
      ledger.claim(`${nothing.masked} is ${same.masked}`, nothing.status === 404 && nothing.masked === same.masked)
    }
  }
}

/** Names that only look like a role or like a person give nothing. */
async function playLookalikes(worlds: Worlds, ledger: Ledger): Promise<void> {
  const world = await worlds.create('shop')
  const odd = ['Admin', 'ADMIN', ' admin', 'admin ', 'role:admin', 'Read', 'reader', 'run,read', '*', '']
  const ids = [
    'user:Maker',
    'user:maker ',
    'maker',
    'key:maker',
    'user:user:maker',
    'user:bob ',
    'key:bob',
    '@bob',
    'bob',
    '',
  ]
  for (const row of rows) {
    if (row.right({ tie: 'eve', roles: ['run'] })) continue
    for (const id of ids) {
      ledger.begin(`${row.route} for the id ${id}`)
      const method = row.route.split(' ')[0] ?? ''
      const who = { ...principalOf({ tie: 'eve', roles: ['run', ...odd] }, world.database), id }
      const body = row.body?.(world.ids)
      const request = { method, path: row.path(world.ids), headers: row.headers ?? {} }
      const response = await worlds.fetch(who, { ...request, ...(body === undefined ? {} : { body }) })
      ledger.claim(`it is missing, not ${response.status}`, response.status === 404)
      ledger.deny('leak', 'a refusal', mine(await response.text()))
    }
  }
  ledger.claim(
    'the mark stands in what is there',
    (await worlds.snapshot(world.database)).includes(canary('reachshop')),
  )
}

/** A reply that is remembered under a key is repeated to nobody else: in no other database, and to no other principal. */
async function playRepeats(worlds: Worlds, ledger: Ledger): Promise<void> {
  const [here, there] = [await worlds.create('shop'), await worlds.create('other')]
  const maker: Caller = { tie: 'maker', roles: ['run'] }
  const start = async (caller: Caller, { database }: World) => {
    const body = { agent: 'root', id: 'keyed/1', prompt: canary('reachshop') }
    const request = { method: 'POST', path: '/api/v1/conversations', body, headers: { 'idempotency-key': 'k' } }
    const response = await worlds.fetch(principalOf(caller, database), request)
    return { isRepeated: response.headers.has('idempotency-replayed'), text: await response.text() }
  }
  ledger.begin('a reply under a key')
  const first = await start(maker, here)
  const again = await start(maker, here)
  ledger.control('a repeat', again.isRepeated && again.text === first.text)
  const { runId } = JSON.parse(first.text).run as { runId: string }
  for (const [caller, world] of [
    [maker, there],
    [{ tie: 'eve', roles: ['run'] }, here],
    [{ tie: 'bob', roles: ['run', 'answer', 'read'] }, here],
  ] as const) {
    ledger.begin(`a reply under a key of somebody else, for ${nameOf(caller)}`)
    const told = await start(caller, world)
    ledger.claim('nothing is repeated', !told.isRepeated)
    ledger.deny('leak', 'a repeat', told.text.includes(runId) ? [runId] : [])
  }
}
