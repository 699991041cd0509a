/** The file of a moved store: written whole or not at all, and read line by line. */
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { access, rename, rm, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { UsageError } from './exit.ts'
import { type Output, type Terminal, writeData } from './terminal.ts'

/** Where lines go; `done` makes them a file, `drop` leaves nothing behind. */
interface LineSink {
  write(line: string): Promise<void>
  done(): Promise<void>
  drop(): Promise<void>
}

/** A sink for a new file that only this user may read; without a name, standard output. Throws `UsageError` where the file exists. */
export async function openSink(name: string | undefined, terminal: Terminal): Promise<LineSink> {
  if (name === undefined) return toOutput(terminal.output)
  const file = resolve(terminal.folder, name)
  const exists = await access(file).then(
    () => true,
    () => false,
  )
  if (exists) throw new UsageError(`"${name}" already exists.`, 'Name another file, or remove that one.')
  const part = `${file}.part`
  await rm(part, { force: true })
  const stream = createWriteStream(part, { mode: 0o600, flags: 'wx' })
  await once(stream, 'open').catch((error: unknown) => {
    throw new UsageError(`"${name}" cannot be written: ${codeOf(error)}.`, 'Name a file in a folder that exists.')
  })
  const end = () => new Promise<void>((settle) => stream.end(() => settle()))
  return {
    async write(line) {
      if (!stream.write(`${line}\n`)) await once(stream, 'drain')
    },
    async done() {
      await end()
      await rename(part, file)
    },
    async drop() {
      await end()
      await rm(part, { force: true })
    },
  }
}

function toOutput(output: Output): LineSink {
  return {
    async write(line) {
      if (!writeData(output, line) && 'once' in output) await once(output as unknown as NodeJS.WritableStream, 'drain')
    },
    done: () => Promise.resolve(),
    drop: () => Promise.resolve(),
  }
}

/**
 * Returns a function that reads the lines of a file; it may be called several times. Throws `UsageError` if there is no such file, which
 * says by which command one is written.
 */
export async function fileLines(
  name: string,
  terminal: Terminal,
  writtenBy: string,
): Promise<() => AsyncIterable<string>> {
  const file = resolve(terminal.folder, name)
  const found = await stat(file).catch(() => null)
  if (found?.isFile() !== true)
    throw new UsageError(
      `There is no file "${name}".`,
      `Name the file that ${writtenBy} wrote; it may be read twice, so a pipe will not do.`,
    )
  return () => linesOf(createReadStream(file))
}

/** The lines of a stream of bytes. Only a line feed ends one: U+2028 may stand in the text of a line. */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const parts: string[] = []
  for await (const chunk of bytes) {
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n')
    parts.push(first)
    for (const next of others) {
      yield parts.splice(0).join('').replace(/\r$/, '')
      parts.push(next)
    }
  }
  const last = parts.join('') + decoder.decode()
  if (last !== '') yield last
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'it was refused'
}
