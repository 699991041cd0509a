/** `witan archive`: moves conversations that ended out of the store, each into a file that `witan import` takes back. */
import type { Store } from '@witan/core'
import {
  type ConversationPlace,
  endedIds,
  exportAgents,
  exportText,
  type MovingLine,
  readEnded,
  readExport,
} from '@witan/core/export'
import { WitanError } from '@witan/protocol'
import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { type ArchiveFolder, type MovingFile, openArchive } from '../archive-folder.ts'
import { type Command, configOption, type Given } from '../command.ts'
import { type ExitCode, exitCodes, UsageError } from '../exit.ts'
import { linesOf } from '../export-file.ts'
import { readConfig } from '../loading.ts'
import { databasesOf, refuseMemory, refuseMissing, withStore } from '../opened-store.ts'
import { createProgress } from '../progress.ts'
import { print, type Terminal } from '../terminal.ts'
import { plural } from '../tree/phrase.ts'

/** Moves what ended. */
export const archiveCommand: Command = {
  name: 'archive',
  summary:
    'Move conversations that ended into a folder, each as a file for import. Run it again to go on after a break.',
  options: {
    before: { value: 'DATE', help: 'Those that ended before this day, or this time, in UTC: 2026-01-31.' },
    to: { value: 'DIR', help: 'The folder; made if it is missing.' },
    database: { value: 'NAME', multiple: true, help: 'Only this database of the store; repeatable. All by default.' },
    ...configOption,
  },
  examples: [
    'witan archive --before 2026-01-01 --to archive/2025',
    'witan import archive/2025/default/chats%2F7.jsonl',
  ],
  run: archive,
}

async function archive(given: Given, terminal: Terminal): Promise<ExitCode> {
  const before = timeOf(given.text('before'))
  const to = given.text('to')
  if (to === undefined) throw new UsageError('--to is missing.', 'Name the folder of the archive: --to DIR.')
  const config = await readConfig(given, terminal)
  refuseMemory(config, 'archive')
  refuseMissing(config, 'is to be archived')
  return withStore(config, 'archive', async (store) => {
    const databases = await databasesOf(store, given.texts('database'))
    const folder = await openArchive(resolve(terminal.folder, to))
    const progress = createProgress(terminal)
    const tally = { moved: 0, kept: 0 }
    try {
      for (const file of await folder.leftOver()) if (await finish(store, file)) tally.moved += 1
      for (const database of databases) {
        const ids = await endedIds(store, database, before)
        if (ids.length > 0) await folder.writeAgents(database, textsOf(exportAgents(store, database)))
        for (const [index, id] of ids.entries()) {
          progress.show(`${database}: ${index} of ${ids.length} …`)
          if (await move({ store, folder, before }, { database, id })) tally.moved += 1
          else tally.kept += 1
        }
      }
    } finally {
      progress.end()
      folder.close()
      print(terminal, summary(tally), terminal.errors)
    }
    return exitCodes.done
  })
}

function summary({ moved, kept }: { readonly moved: number; readonly kept: number }): string {
  const rest = kept === 0 ? '' : `; ${plural(kept, 'other')} had not ended`
  return `archived ${plural(moved, 'conversation')}${rest}`
}

interface Archiving {
  readonly store: Store
  readonly folder: ArchiveFolder
  readonly before: number
}

/** Moves one conversation; false if it has not ended, or went on while it was read. */
async function move({ store, folder, before }: Archiving, place: ConversationPlace): Promise<boolean> {
  const { database, id } = place
  const ended = await readEnded(store, place, before)
  if (ended === null) return false
  const file = await folder.write(place, textsOf(ended.lines)).catch((error: unknown) => {
    if (isGone(error)) return null
    throw error
  })
  if (file === null) return false
  const isMoved = await store.deleteConversation(database, id, ended.as)
  await (isMoved ? file.keep() : file.drop())
  return isMoved
}

async function* textsOf(lines: AsyncIterable<MovingLine>): AsyncGenerator<string> {
  for await (const line of lines) yield exportText(line)
}

/** Somebody deleted it while it was read. */
function isGone(error: unknown): boolean {
  return error instanceof WitanError && error.code === 'NOT_FOUND'
}

/** Ends what was begun: the file stays if its conversation is no longer in the store, else it is written again later. True if it stays. */
async function finish(store: Store, file: MovingFile): Promise<boolean> {
  for await (const item of readExport(linesOf(createReadStream(file.path)), { stored: store })) {
    if (item.kind !== 'conversation') continue
    const { row } = item.snapshot
    const now = await store.getConversation(item.database, row.id)
    if (now === null || now.createdAt !== row.createdAt) {
      await file.keep()
      return true
    }
  }
  await file.drop()
  return false
}

const dayOrTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z)?$/

function timeOf(given: string | undefined): number {
  const hint = 'Write a day or a time in UTC: --before 2026-01-31, or --before 2026-01-31T12:00Z.'
  if (given === undefined) throw new UsageError('--before is missing.', hint)
  const time = dayOrTime.test(given) ? Date.parse(given) : Number.NaN
  const isReal = !Number.isNaN(time) && new Date(time).toISOString().startsWith(given.slice(0, 10))
  if (!isReal) throw new UsageError(`--before "${given}" is no date.`, hint)
  return time
}
