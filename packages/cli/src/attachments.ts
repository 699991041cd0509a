/** Files that a command sends with a message: read, typed by their content or name, and checked before anything is sent. */
import { readFile, stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { attach, type FilePart } from '@witan/client'
import type { Prompt } from '@witan/protocol'
import { fileLimits, sizeText } from '@witan/protocol/files'
import { UsageError } from './exit.ts'
import { oneLine } from './tree/width.ts'

/** The files of `--attach`, in order; paths are relative to the folder. Throws `UsageError` for one that is missing, empty, too large or no file. */
export async function readAttachments(paths: readonly string[], folder: string): Promise<readonly FilePart[]> {
  const { files, fileBytes, messageBytes } = fileLimits
  if (paths.length > files)
    throw new UsageError(`${paths.length} files are attached.`, `A message has at most ${files} files.`)
  let sum = 0
  for (const path of paths) {
    const size = await sizeOf(path, folder)
    if (size > fileBytes) {
      throw new UsageError(`"${path}" has ${size} bytes.`, `A file has at most ${fileBytes} bytes.`)
    }
    sum += size
  }
  if (sum > messageBytes) {
    const hint = `The files of a message have at most ${messageBytes} bytes together.`
    throw new UsageError(`The files have ${sum} bytes together.`, hint)
  }
  return Promise.all(paths.map(async (path) => attach(await readFile(resolve(folder, path)), { name: basename(path) })))
}

/** A message with its files. */
export function promptOf(message: string, files: readonly FilePart[]): Prompt {
  if (files.length === 0) return message
  return [...(message.trim() === '' ? [] : [{ type: 'text' as const, text: message }]), ...files]
}

/** A file in words: its name, type and size. */
export function attachedText({ name = 'a file', mediaType, data }: FilePart): string {
  return `${oneLine(name)}, ${mediaType}, ${sizeText(Buffer.byteLength(data, 'base64'))}`
}

async function sizeOf(path: string, folder: string): Promise<number> {
  const found = await stat(resolve(folder, path)).catch((error: unknown) => {
    throw new UsageError(`"${path}" cannot be read${reason(error)}.`, 'Write --attach with the path of a file.')
  })
  if (!found.isFile()) throw new UsageError(`"${path}" is not a file.`, 'Write --attach with the path of a file.')
  if (found.size === 0) throw new UsageError(`"${path}" is empty.`, 'Attach a file with content.')
  return found.size
}

function reason(error: unknown): string {
  const { code } = error as { readonly code?: string }
  if (code === 'ENOENT') return ': there is no such file'
  return code === 'EACCES' ? ': this user may not read it' : ''
}
