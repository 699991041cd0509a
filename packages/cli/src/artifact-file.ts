/** The content of an artifact on this machine: read with its limits and its digest checked, and written to one new file. */
import { createHash } from 'node:crypto'
import { open, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { WitanError } from '@witan/protocol'
import { type Artifact, artifactLimits } from '@witan/protocol/entries'
import { fileNameProblem } from '@witan/protocol/files'
import { UsageError } from './exit.ts'
import { oneLine } from './tree/width.ts'

/**
 * The bytes of a response, which must be the artifact's: as many as it says, at most 16 MiB, and with its digest. Reads no further
 * than that, whatever a server sends.
 */
export async function checkedBytes(response: Response, { id, bytes: size, digest }: Artifact): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    parts.push(part)
    length += part.byteLength
    if (length > Math.min(size, artifactLimits.bytes)) break
  }
  const bytes = Buffer.concat(parts)
  if (bytes.byteLength === size && `sha256:${createHash('sha256').update(bytes).digest('hex')}` === digest) return bytes
  throw new WitanError('INTERNAL', `The server sent other bytes than artifact ${oneLine(id)} has.`, {
    hint: 'Try again; if it happens again, look at what is between here and the server.',
  })
}

/** Where `--out` leads: a file of that name, or in a folder the artifact's own name, which can never lead out of it. */
export async function targetOf(out: string, name: string, folder: string): Promise<string> {
  const path = resolve(folder, out)
  const isFolder = /[/\\]$/.test(out) || ((await stat(path).catch(() => null))?.isDirectory() ?? false)
  return isFolder ? join(path, plainName(name)) : path
}

/** The name as that of a visible file on any system: a server may send any text as a name. */
function plainName(name: string): string {
  if (fileNameProblem(name) !== null)
    throw new UsageError(
      `"${oneLine(name)}" cannot be the name of a file here.`,
      'Name the file too: --out FOLDER/FILE.',
    )
  return name.replace(/[<>:"|?*]/g, '_').replace(/^[. ]+|[. ]+$/g, '_')
}

/** Writes a file whole or not at all. One that is there stays as it is, unless it is to be replaced. Throws `UsageError`. */
export async function writeWhole(path: string, bytes: Uint8Array, { replace }: { replace: boolean }): Promise<void> {
  const part = replace ? `${path}.${process.pid}.part` : path
  const file = await open(part, 'wx', 0o600).catch((error: unknown) => {
    throw refused(path, error)
  })
  try {
    await file.writeFile(bytes).finally(() => file.close())
    if (replace) await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw refused(path, error)
  }
}

function refused(path: string, error: unknown): UsageError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'it was refused'
  const shown = `"${oneLine(path)}"`
  if (code === 'EEXIST')
    return new UsageError(`${shown} already exists.`, 'Name another file, or add --force to replace it.')
  const hint =
    code === 'ENAMETOOLONG' ? 'Give it a shorter name: --out FOLDER/FILE.' : 'Name a file in a folder that exists.'
  return new UsageError(`${shown} cannot be written: ${code}.`, hint)
}
