/** `witan keys`: API keys of a database, over a server as an admin, or on the store itself. */
import { type Store, localPrincipal } from '@witan/core'
import { createKey, listKeys, revokeKey, shownKey } from '@witan/core/tooling'
import { WitanError } from '@witan/protocol'
import { type ApiKey, type CreatedKey, databaseNamePattern, type KeyRequest } from '@witan/protocol/keys'
import { keyRequestSchema } from '@witan/protocol/schemas'
import { type Command, connectionOptions, type Given, jsonOption, type Option } from '../command.ts'
import { serverOrConfig } from '../connect.ts'
import { type ExitCode, exitCodes, UsageError } from '../exit.ts'
import { printList } from '../listing.ts'
import { refuseMemory, refuseMissing, withStore } from '../opened-store.ts'
import { print, type Terminal, printJson } from '../terminal.ts'
import { age } from '../tree/phrase.ts'
import { oneLine } from '../tree/width.ts'

const databaseOption: Readonly<Record<string, Option>> = {
  db: { value: 'NAME', help: 'The database; on the store `default` by default, over a server that of its token.' },
}
const where = { ...databaseOption, ...jsonOption, ...connectionOptions }

/** The commands about API keys. */
export const keyCommands: readonly Command[] = [
  {
    name: 'keys create',
    summary: 'Create an API key and print it. It is shown only once.',
    options: {
      id: { value: 'user:PERSON', help: 'The principal that the key acts for; default: a principal of its own.' },
      role: { value: 'ROLE', multiple: true, help: 'admin, run, answer, read, or a role of your own; repeatable.' },
      name: { value: 'TEXT', help: 'A name for the key.' },
      address: { value: '@LOCAL@DOMAIN', help: 'The address of the person.' },
      expires: { value: 'TIME', help: 'When the key expires, such as 90d, 12h, 30m or 45s; default: never.' },
      ...where,
    },
    examples: [
      'witan keys create --db default --role admin',
      'witan keys create --db shop --id user:anna --role run --role buyer --expires 90d',
    ],
    run: create,
  },
  {
    name: 'keys list',
    summary: 'List the API keys of a database, without the keys themselves.',
    options: where,
    run: list,
  },
  {
    name: 'keys revoke',
    summary: 'Revoke an API key: within five seconds every server refuses it.',
    operands: [{ name: 'KEYID' }],
    options: where,
    run: revoke,
  },
]

/** The keys of one database, however they are reached. */
interface KeyDoor {
  readonly database: string
  create(request: KeyRequest): Promise<CreatedKey>
  list(cursor?: string): Promise<{ readonly items: readonly ApiKey[]; readonly nextCursor: string | null }>
  revoke(keyId: string): Promise<void>
}

async function create(given: Given, terminal: Terminal): Promise<ExitCode> {
  const request = requestOf(given)
  return withKeys(given, terminal, async ({ database, create: make }) => {
    const made = await make(request)
    if (given.has('json')) return printJson(terminal, made)
    const roles = made.roles.length === 0 ? 'without a role' : `with ${made.roles.map(oneLine).join(', ')}`
    const end = made.expiresAt === null ? '' : `, until ${made.expiresAt}`
    const about = `${made.keyId} speaks for ${oneLine(made.id)} in the database ${database}, ${roles}${end}.`
    print(terminal, `${about} Keep the key: nothing shows it again.`, terminal.errors)
    print(terminal, made.key)
  })
}

async function list(given: Given, terminal: Terminal): Promise<ExitCode> {
  return withKeys(given, terminal, async ({ database, list: read }) => {
    const items: ApiKey[] = []
    for (let cursor: string | undefined; ; ) {
      const page = await read(cursor)
      items.push(...page.items)
      if (page.nextCursor === null) break
      cursor = page.nextCursor
    }
    const now = Date.now()
    printList(terminal, given, {
      items,
      columns: [
        { title: 'KEY', tone: 'strong' },
        { title: 'SPEAKS FOR' },
        { title: 'ROLES' },
        { title: 'CREATED' },
        { title: 'LAST USED' },
        { title: 'ENDS', tone: 'faint' },
        { title: 'NAME' },
      ],
      cells: (key) => [
        key.keyId,
        oneLine(key.id),
        key.roles.map(oneLine).join(', '),
        age(now - Date.parse(key.createdAt)),
        key.lastUsedAt === null ? 'never' : age(now - Date.parse(key.lastUsedAt)),
        endOf(key, now),
        oneLine(key.name ?? ''),
      ],
      none: `The database ${database} has no keys. witan keys create makes one.`,
    })
  })
}

function endOf({ expiresAt }: ApiKey, now: number): string {
  if (expiresAt === null) return 'never'
  const leftMs = Date.parse(expiresAt) - now
  return leftMs <= 0 ? 'expired' : `in ${age(leftMs)}`
}

async function revoke(given: Given, terminal: Terminal): Promise<ExitCode> {
  const [keyId = ''] = given.operands
  return withKeys(given, terminal, async (door) => {
    await door.revoke(keyId)
    if (given.has('json')) printJson(terminal, { keyId, revoked: true })
    else print(terminal, `${oneLine(keyId)} is revoked`)
  })
}

/** Works on the keys of a server as its admin; else on the store, which no server holds then. */
async function withKeys(given: Given, terminal: Terminal, work: (door: KeyDoor) => Promise<void>): Promise<ExitCode> {
  const named = given.text('db')
  if (named !== undefined && !databaseNamePattern.test(named))
    throw new UsageError(`"${oneLine(named)}" cannot be the name of a database.`, 'Use 1 to 64 of a-z, 0-9 and -.')
  const found = await serverOrConfig(given, terminal)
  if (!('client' in found)) {
    refuseMemory(found, 'keep a key in')
    if (given.operands.length > 0) refuseMissing(found, 'has the key')
    await withStore(found, 'do this', (store) => work(doorOf(store, named ?? localPrincipal.database)))
    return exitCodes.done
  }
  const { client } = found
  try {
    const { database } = await client.principal()
    if (named !== undefined && named !== database)
      throw new UsageError(
        `${oneLine(client.url)} lets this token into the database ${database}, not into ${named}.`,
        `Give --token an admin's key of ${named}, or stop the server and run the command on its store.`,
      )
    const { create: make, list: read, revoke: end } = client.keys
    const page = (cursor?: string) => read({ limit: 200, ...(cursor === undefined ? {} : { cursor }) })
    await work({ database, create: make, list: page, revoke: end })
    return exitCodes.done
  } finally {
    await found.close()
  }
}

function doorOf(store: Store, database: string): KeyDoor {
  const place = { database, principal: localPrincipal }
  return {
    database,
    create: (request) => createKey(store, keyRequestSchema.parse(request), place),
    async list(cursor) {
      const rows = await listKeys(store, database, { limit: 201, after: cursor ?? null })
      const items = rows.slice(0, 200).map(shownKey)
      return { items, nextCursor: rows.length > 200 ? (items.at(-1)?.keyId ?? null) : null }
    },
    async revoke(keyId) {
      if (await revokeKey(store, keyId, place)) return
      const detail = `The database ${database} has no key \`${keyId.slice(0, 200)}\`.`
      throw new WitanError('NOT_FOUND', detail, {
        hint: 'witan keys list shows what there is; --db names another one.',
      })
    },
  }
}

/** What the options ask for, checked before anything is opened. */
function requestOf(given: Given): KeyRequest {
  const [id, name, address] = [given.text('id'), given.text('name'), given.text('address')]
  const request = {
    roles: [...given.texts('role')],
    expiresInSeconds: secondsOf(given.text('expires')),
    ...(id === undefined ? {} : { id }),
    ...(name === undefined ? {} : { name }),
    ...(address === undefined ? {} : { address }),
  }
  const { error } = keyRequestSchema.safeParse(request)
  if (error === undefined) return request
  const [{ path: [field = ''] = [], message } = { path: [], message: 'not valid' }] = error.issues
  const option = { roles: 'role', expiresInSeconds: 'expires' }[String(field)] ?? String(field)
  throw new UsageError(`--${option}: ${message}.`, 'witan keys create --help has examples.')
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

function secondsOf(text: string | undefined): number | null {
  if (text === undefined) return null
  const [, count, unit = 's'] = /^(\d{1,9})([smhd])?$/.exec(text) ?? []
  if (count !== undefined) return Number(count) * (units[unit] ?? 1)
  throw new UsageError(`--expires "${oneLine(text)}" is not a time.`, 'Write --expires 90d, 12h, 30m or 45s.')
}
