/**
 * The folder of an archive: a file for each conversation, in a folder for each database. What is being written ends with `.part`. A
 * file that is whole and on disk ends with `.moving` until its conversation is deleted from the store, and with `.jsonl` from then on.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { ConversationPlace } from '@witan/core/export'
import { WitanError } from '@witan/protocol'
import { StartError, UsageError } from './exit.ts'

/** A whole file whose conversation may still be in the store. */
export interface MovingFile {
  readonly path: string
  /** The conversation is deleted: the file gets its name, and stays. A file of the same content that is there already stays instead. */
  keep(): Promise<void>
  /** The conversation stays in the store. */
  drop(): Promise<void>
}

/** The folder of an archive, which one process has. */
export interface ArchiveFolder {
  /** What a process left that was ended between a file and its deletion. Parts of files are removed. */
  leftOver(): Promise<readonly MovingFile[]>
  /** Writes the agents that conversations of the database name, over those of an earlier archive: revisions only get more. */
  writeAgents(database: string, lines: AsyncIterable<string>): Promise<void>
  /** Writes a file and waits until it is on disk. If the lines fail, nothing of it stays. */
  write(of: ConversationPlace, lines: AsyncIterable<string>): Promise<MovingFile>
  close(): void
}

/** Opens the folder and makes it if necessary. Throws `StartError` while another process has it. */
export async function openArchive(folder: string): Promise<ArchiveFolder> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new UsageError(`"${folder}" cannot be made: ${codeOf(error)}.`, 'Name a folder that can be written.')
  })
  const lock = lockFolder(folder)
  return {
    leftOver: () => leftOver(folder),
    async writeAgents(database, lines) {
      await writeWhole(folder, { database, name: agentsFile }, lines)
    },
    write: async ({ database, id }, lines) =>
      movingFile(await writeWhole(folder, { database, name: `${fileName(id)}${moving}` }, lines)),
    close: () => lock.close(),
  }
}

/** No id gives such a name. */
const agentsFile = '@agents.jsonl'
const moving = '.moving'

/** Writes a file of a database. It has its name only when it is whole and on disk. Returns its path. */
async function writeWhole(
  folder: string,
  { database, name }: { readonly database: string; readonly name: string },
  lines: AsyncIterable<string>,
): Promise<string> {
  const inside = join(folder, fileName(database))
  await mkdir(inside, { recursive: true, mode: 0o700 })
  const path = join(inside, name)
  const part = `${path}.part`
  await rm(part, { force: true })
  try {
    await writeSynced(part, lines)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
  await rename(part, path)
  for (const one of [inside, folder]) await syncFolder(one)
  return path
}

/** SQLite's code for a lock of somebody else. */
const busy = 5

/** The operating system gives the lock back when the process ends, however that happens. */
function lockFolder(folder: string): DatabaseSync {
  const lock = new DatabaseSync(join(folder, '.lock'))
  try {
    lock.exec('pragma locking_mode = exclusive; begin exclusive')
    return lock
  } catch (error) {
    lock.close()
    const isHeld = error instanceof Error && 'errcode' in error && error.errcode === busy
    if (!isHeld) throw new UsageError(`"${folder}" has a file .lock of something else.`, 'Name another folder.')
    const detail = `Another process archives into ${folder}.`
    throw new StartError(
      new WitanError('STORE_LOCKED', detail, { hint: 'Wait until it ends, or name another folder.' }),
    )
  }
}

async function leftOver(folder: string): Promise<readonly MovingFile[]> {
  const names = await readdir(folder, { recursive: true })
  for (const name of names) if (name.endsWith('.part')) await rm(join(folder, name), { force: true })
  return names.filter((name) => name.endsWith(moving)).map((name) => movingFile(join(folder, name)))
}

function movingFile(path: string): MovingFile {
  const name = path.slice(0, -moving.length)
  return {
    path,
    async keep() {
      const free = await freeName(name, path)
      if (free === null) await rm(path)
      else await rename(path, free)
    },
    drop: () => rm(path, { force: true }),
  }
}

/** A name that no file has; null if one of these has the same content. An id may be used again after its conversation has moved. */
async function freeName(name: string, path: string): Promise<string | null> {
  for (let count = 1; ; count += 1) {
    const wanted = `${name}${count === 1 ? '' : `.${count}`}.jsonl`
    if (!existsSync(wanted)) return wanted
    if (await haveSameBytes(wanted, path)) return null
  }
}

async function haveSameBytes(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => readFile(path)))
  return a !== undefined && b !== undefined && a.equals(b)
}

async function writeSynced(path: string, lines: AsyncIterable<string>): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await writeAll(file, lines)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** How many characters are written at once. */
const bufferLength = 65_536

async function writeAll(file: FileHandle, lines: AsyncIterable<string>): Promise<void> {
  let text = ''
  for await (const line of lines) {
    text += `${line}\n`
    if (text.length < bufferLength) continue
    await file.writeFile(text)
    text = ''
  }
  await file.writeFile(text)
}

async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return // it has no such thing
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}

const longest = 120

/** A file name for an id: letters, digits, `-` and `_` as they are, all else as `%XX`. Of a long one the end is a digest. */
function fileName(id: string): string {
  const plain = id.replaceAll(/[^\w-]/gu, (one) =>
    [...Buffer.from(one)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  )
  if (plain.length <= longest) return plain
  return `${plain.slice(0, longest - 44)}~${createHash('sha256').update(id).digest('base64url')}`
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'it was refused'
}
