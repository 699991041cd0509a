/** `witan export` and `witan import`: a complete store as a file, from and to SQLite and PostgreSQL. */
import type { Store } from '@witan/core'
import {
  exportStore,
  importInto,
  knownOf,
  type ExportItem,
  exportText,
  readExport,
  standingOf,
  takenError,
} from '@witan/core/export'
import type { Command, Given } from '../command.ts'
import { configOption } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { exitCodes } from '../exit.ts'
import { readConfig } from '../loading.ts'
import { fileLines, openSink } from '../export-file.ts'
import { countMoved, type Moved, movedNothing, movedWords } from '../moved.ts'
import { databasesOf, refuseMemory, refuseMissing, withStore } from '../opened-store.ts'
import { createProgress } from '../progress.ts'
import type { Terminal } from '../terminal.ts'
import { print } from '../terminal.ts'

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
    summary: 'Load a file of witan export into any store. Items that already exist unchanged are skipped.',
    operands: [{ name: 'FILE' }],
    options: {
      database: {
        value: 'NAME',
        multiple: true,
        help: 'A database that the file may hold; repeatable. All that its first line names by default.',
      },
      ...configOption,
    },
    run: importAll,
  },
]

async function exportAll(given: Given, terminal: Terminal): Promise<ExitCode> {
  const config = await readConfig(given, terminal)
  refuseMemory(config, 'export')
  refuseMissing(config, 'is to be exported')
  return withStore(config, 'export', async (store) => {
    const databases = await databasesOf(store, given.texts('database'))
    const sink = await openSink(given.operands[0], terminal)
    const progress = createProgress(terminal)
    const moved = movedNothing()
    let live = 0
    try {
      for await (const line of exportStore(store, databases)) {
        countMoved(moved, line)
        if (line.kind === 'job' && line.job.endedAt === null) live += 1
        await sink.write(exportText(line))
        progress.show(`${movedWords(moved)} …`)
      }
      await sink.done()
    } catch (error) {
      await sink.drop()
      throw error
    } finally {
      progress.end()
    }
    print(terminal, `exported ${movedWords(moved)}`, terminal.errors)
    if (live > 0) {
      const [what, it] = live === 1 ? ['1 run or task has', 'it'] : [`${live} runs and tasks have`, 'them']
      print(
        terminal,
        `! ${what} not ended. This store continues ${it}, so the file may stay a backup.`,
        terminal.errors,
      )
      const move = `a store that imports it continues ${it} too, so then do not use this one any more.`
      print(terminal, `  To move, import it elsewhere: ${move}`, terminal.errors)
    }
    return exitCodes.done
  })
}

interface Imported {
  stored: number
  same: number
  readonly moved: Moved
}

async function importAll(given: Given, terminal: Terminal): Promise<ExitCode> {
  const config = await readConfig(given, terminal)
  refuseMemory(config, 'import into')
  const lines = await fileLines(given.operands[0] as string, terminal, 'witan export')
  const allowed = given.texts('database')
  return withStore(config, 'import', async (store) => {
    const items = () => readExport(lines(), { databases: allowed.length === 0 ? null : allowed, stored: store })
    const progress = createProgress(terminal)
    const done: Imported = { stored: 0, same: 0, moved: movedNothing() }
    try {
      const total = await lookThrough(store, items(), (seen) => progress.show(`looking through: ${seen} …`))
      const take = importInto(store)
      for await (const item of items()) {
        countItem(done, item, await take(item))
        progress.show(`${done.stored + done.same} of ${total} …`)
      }
    } catch (error) {
      progress.end()
      print(terminal, broken(done), terminal.errors)
      throw error
    }
    progress.end()
    print(
      terminal,
      `imported ${movedWords(done.moved)}${done.same > 0 ? `; ${done.same} were there already` : ''}`,
      terminal.errors,
    )
    if (done.moved.documents > 0) print(terminal, pending, terminal.errors)
    return exitCodes.done
  })
}

/** Cutting and placing documents is work, which an import leaves to those that do it. */
const pending = `  Documents wait to be read: they are found once a process that takes work runs, such as witan serve.`

/** Everything is held against the form and the store before anything is stored. */
async function lookThrough(
  store: Store,
  items: AsyncIterable<ExportItem>,
  told: (seen: number) => void,
): Promise<number> {
  let seen = 0
  const known = knownOf(store)
  for await (const item of items) {
    if ((await standingOf(store, item, known)) === 'other') throw takenError(item)
    seen += 1
    told(seen)
  }
  return seen
}

function countItem(done: Imported, item: ExportItem, isNew: boolean): void {
  if (!isNew) {
    done.same += 1
    return
  }
  done.stored += 1
  countMoved(done.moved, item)
}

function broken(done: Imported): string {
  if (done.stored === 0) return 'Nothing was imported.'
  return `Imported completely before the error: ${movedWords(done.moved)}. Run the same import again to continue after them.`
}
