/** Reads the beginning of a file that an agent made. */
import type { TextStart } from './artifacts.ts'
import { witan } from './witan.ts'

/** How much of a text is read, in bytes. */
const mostRead = 100_000

/** Reads the beginning of an artifact, and no more than that. */
export async function readStart(id: string, signal: AbortSignal): Promise<TextStart> {
  const { body } = await witan.artifacts.content(id, { signal })
  const reader = (body as ReadableStream<Uint8Array> | null)?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let left = mostRead
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    text += decoder.decode(part.value.subarray(0, left), { stream: true })
    left -= part.value.byteLength
    if (left >= 0) continue
    await reader?.cancel()
    return { text, isCut: true }
  }
  return { text: text + decoder.decode(), isCut: false }
}
