/** Files that were chosen and not sent yet: they outlive a change of the page, and not a reload. */
import { attach, type FilePart } from '@witan/client'
import { fileLimits } from '@witan/protocol/files'
import { useSyncExternalStore } from 'react'

/** The files of one draft, and why the last one was not taken. */
interface Attachments {
  readonly files: readonly FilePart[]
  readonly problem: string | null
}

const none: Attachments = { files: [], problem: null }
const drafts = new Map<string, Attachments>()
const listeners = new Set<() => void>()

/** The files of the draft of that name. */
export function useAttachments(name: string): Attachments {
  return useSyncExternalStore(subscribe, () => drafts.get(name) ?? none)
}

/** Reads files and adds them to a draft. One that is too large is left out, and the draft says why. */
export async function addFiles(name: string, given: Iterable<File>): Promise<void> {
  for (const file of given) {
    try {
      const part = await attach(file)
      const { files } = drafts.get(name) ?? none
      const problem = tooMany([...files, part])
      put(name, problem === null ? { files: [...files, part], problem } : { files, problem })
    } catch (error) {
      const { files } = drafts.get(name) ?? none
      put(name, { files, problem: error instanceof Error ? error.message : 'The file cannot be read.' })
    }
  }
}

/** The files of a draft, which is empty afterwards. */
export function takeFiles(name: string): readonly FilePart[] {
  const { files } = drafts.get(name) ?? none
  putFiles(name, [])
  return files
}

/** Sets the files of a draft. */
export function putFiles(name: string, files: readonly FilePart[]): void {
  put(name, { files, problem: null })
}

const keys = new WeakMap<FilePart, number>()
let lastKey = 0

/** Tells a chosen file from others with the same name and content. */
export function keyOf(part: FilePart): number {
  const key = keys.get(part) ?? ++lastKey
  keys.set(part, key)
  return key
}

/** How many bytes a file has. */
export function bytesOf({ data }: FilePart): number {
  return Math.floor((data.length * 3) / 4) - (data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0)
}

function tooMany(files: readonly FilePart[]): string | null {
  if (files.length > fileLimits.files) return `A message has at most ${fileLimits.files} files.`
  const sum = files.reduce((bytes, part) => bytes + bytesOf(part), 0)
  return sum > fileLimits.messageBytes ? 'The files of a message have at most 10 MiB together.' : null
}

function put(name: string, attachments: Attachments): void {
  drafts.set(name, attachments)
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
