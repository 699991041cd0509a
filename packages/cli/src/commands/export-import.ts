/** `witan export` and `witan import`: a complete store as a file, from and to SQLite and PostgreSQL. */
import type { Store } from '@witan/core'
import { inspectStoreFile } from '@witan/core/tooling'
import {
  exportStore,
  importItem,
  type ExportItem,
  type MovingLine,
  exportText,
  readExport,
  standingOf,
  takenError,
} from '@witan/core/export'
import { isWitanError, WitanError } from '@witan/protocol'
import { type Config, storeFile, storeOf } from '@witan/server'
import type { Command, Given } from '../command.ts'
import { configOption } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { exitCodes, StartError, UsageError } from '../exit.ts'
import { readConfig } from '../loading.ts'
import { fileLines, openSink } from '../export-file.ts'
import { createProgress } from '../progress.ts'
import type { Terminal } from '../terminal.ts'
import { print } from '../terminal.ts'
import { plural } from '../tree/phrase.ts'

/** The commands that move a store. */
export const movingCommands: readonly Command[] = [
  {
    name: 'export',
    summary:
      'Write the complete store to a file for import. One agent or one conversation: witan agents export, witan conversations export.',
    operands: [{ name: 'FILE', optional: true }],
    options: {
      database: { value: 'NAME', multiple: true, help: 'Only this database of the store; repeatable. All by default.' },
      ...configOption,
    },
    examples: ['witan export backup.jsonl', 'WITAN_STORE_URL=postgres://… witan import backup.jsonl'],
    run: exportAll,
  },
  {
    name: 'import',
    summary: 'Load a file of export into a store of either kind. Items that already exist unchanged are skipped.',
    operands: [{ name: 'FILE' }],
    options: configOption,
    run: importAll,
  },
]

async function exportAll(given: Given, terminal: Terminal): Promise<ExitCode> {
  const config = await readConfig(given, terminal)
  refuseMissing(config)
  return withStore(config, 'export', async (store) => {
    const databases = await databasesOf(store, given.texts('database'))
    const sink = await openSink(given.operands[0], terminal)
    const progress = createProgress(terminal)
    const tally = { agents: 0, conversations: 0, keys: 0, live: 0 }
    try {
      for await (const line of exportStore(store, databases)) {
        count(tally, line)
        await sink.write(exportText(line))
        progress.show(`${plural(tally.agents, 'agent')}, ${plural(tally.conversations, 'conversation')} …`)
      }
      await sink.done()
    } catch (error) {
      await sink.drop()
      throw error
    } finally {
      progress.end()
    }
    print(terminal.errors, `exported ${sum(tally)}`)
    if (tally.live > 0) {
      const [what, it] = tally.live === 1 ? ['1 run or task has', 'it'] : [`${tally.live} runs and tasks have`, 'them']
      const next = `the store that imports this file continues ${it}. Do not use this store any more.`
      print(terminal.errors, `! ${what} not ended: ${next}`)
    }
    return exitCodes.done
  })
}

function count(tally: { agents: number; conversations: number; keys: number; live: number }, line: MovingLine): void {
  if (line.kind === 'agent') tally.agents += 1
  else if (line.kind === 'key') tally.keys += 1
  else if (line.kind === 'conversation') tally.conversations += 1
  else if (line.kind === 'job' && line.job.endedAt === null) tally.live += 1
}

async function databasesOf(store: Store, wanted: readonly string[]): Promise<readonly string[]> {
  const known = await store.listDatabases()
  const unknown = wanted.find((name) => !known.includes(name))
  if (unknown === undefined) return wanted.length === 0 ? known : known.filter((name) => wanted.includes(name))
  const names = known.length === 0 ? 'It holds nothing.' : `It holds: ${known.join(', ')}.`
  throw new WitanError('NOT_FOUND', `The store holds no database \`${unknown}\`.`, { hint: names })
}

/** Opening makes a file; exporting must not. */
function refuseMissing(config: Config): void {
  const file = storeFile(config)
  if (file === null) {
    if (config.store.url === 'memory:') throw nothingInMemory('export')
  } else if (inspectStoreFile(file).state === 'missing') {
    throw new StartError(
      new WitanError('CONFIG_INVALID', `There is no store ${file}.`, {
        path: 'store.url',
        hint: 'Set store.url, WITAN_STORE_URL or --config to the store that is to be exported.',
      }),
    )
  }
}

function nothingInMemory(what: string): UsageError {
  return new UsageError(
    `The store is in memory and ends with this command: there is nothing to ${what}.`,
    'Set store.url or WITAN_STORE_URL to file:… or postgres://….',
  )
}

interface Imported {
  stored: number
  same: number
  agents: number
  conversations: number
  keys: number
}

async function importAll(given: Given, terminal: Terminal): Promise<ExitCode> {
  const config = await readConfig(given, terminal)
  if (config.store.url === 'memory:') throw nothingInMemory('import into')
  const lines = await fileLines(given.operands[0] as string, terminal)
  return withStore(config, 'import', async (store) => {
    const progress = createProgress(terminal)
    const done: Imported = { stored: 0, same: 0, agents: 0, conversations: 0, keys: 0 }
    try {
      const total = await lookThrough(store, lines(), (seen) => progress.show(`looking through: ${seen} …`))
      for await (const item of readExport(lines())) {
        await take(store, item, done)
        progress.show(`${done.stored + done.same} of ${total} …`)
      }
    } catch (error) {
      progress.end()
      print(terminal.errors, broken(done))
      throw error
    }
    progress.end()
    print(terminal.errors, `imported ${sum(done)}${done.same > 0 ? `; ${done.same} were there already` : ''}`)
    return exitCodes.done
  })
}

/** Everything is held against the form and the store before anything is stored. */
async function lookThrough(store: Store, lines: AsyncIterable<string>, told: (seen: number) => void): Promise<number> {
  let seen = 0
  for await (const item of readExport(lines)) {
    if ((await standingOf(store, item)) === 'other') throw takenError(item)
    seen += 1
    told(seen)
  }
  return seen
}

async function take(store: Store, item: ExportItem, done: Imported): Promise<void> {
  if (!(await importItem(store, item))) {
    done.same += 1
    return
  }
  done.stored += 1
  if (item.kind === 'agent') done.agents += 1
  else if (item.kind === 'key') done.keys += 1
  else done.conversations += 1
}

function sum({ agents, conversations, keys }: Pick<Imported, 'agents' | 'conversations' | 'keys'>): string {
  const withKeys = keys === 0 ? '' : `, ${plural(keys, 'API key')}`
  return `${plural(agents, 'agent')}, ${plural(conversations, 'conversation')}${withKeys}`
}

function broken(done: Imported): string {
  if (done.stored === 0) return 'Nothing was imported.'
  return `Imported completely before the error: ${sum(done)}. Run the same import again to continue after them.`
}

/** Opens the store of the configuration for this one command. */
async function withStore(config: Config, what: string, work: (store: Store) => Promise<ExitCode>): Promise<ExitCode> {
  const store = storeOf(config)
  try {
    await store.open().catch((error: unknown) => {
      throw new StartError(locked(error, what))
    })
    return await work(store)
  } finally {
    await store.close()
  }
}

/** A store file has one process: the command cannot do it beside a server. */
function locked(error: unknown, what: string): unknown {
  if (!isWitanError(error) || error.code !== 'STORE_LOCKED') return error
  const hint = `Stop that process (a server releases its runs when it stops), ${what}, and start it again.`
  return new WitanError('STORE_LOCKED', error.message, { hint, cause: error })
}
