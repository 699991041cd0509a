/** The artifacts of a job as files that are brought to a server with its trace [T31]. */
import type { Entry } from '@witan/protocol/entries'
import { traceIdOf } from '../identity/trace.ts'
import type { Scrubber } from '../parameter/scrub.ts'
import { scrubbedBytes } from '../parameter/scrub-bytes.ts'
import type { EndedJob } from './collector.ts'

/** One file. Its content is read when it is sent, and not kept. */
export interface TraceFile {
  readonly id: string
  readonly traceId: string
  /** `<agentPath>/<callId>/<name>`, with a name that every file system takes. */
  readonly path: string
  /** The content without what is hidden anywhere in the trace; null if it is gone. */
  read(): Promise<Uint8Array | null>
}

/** Where content is read, and what may not be in it. */
export interface FileSource {
  readonly scrub: Scrubber
  readonly content: (of: {
    readonly database: string
    readonly conversation: string
    readonly digest: string
  }) => Promise<Uint8Array | null>
}

/** The most files of one job: a tool may save any number. */
const mostFiles = 500

/** The artifacts among the entries of a job, in order. */
export function filesOf(job: EndedJob, entries: readonly Entry[], { scrub, content }: FileSource): TraceFile[] {
  const { database, conversation } = job
  const files = new Map<string, TraceFile>()
  for (const entry of entries) {
    if (entry.type !== 'artifact' || files.size >= mostFiles) continue
    const { place, body } = entry
    const { id, digest, mediaType } = body
    const folder = `${place.agentPath}/${place.call}`
    const name = plainName(scrub === null ? body.name : scrub(body.name), id)
    // One call may save two contents under one name.
    const path = files.has(`${folder}/${name}`) ? `${folder}/${id}/${name}` : `${folder}/${name}`
    files.set(path, {
      id,
      traceId: traceIdOf(database, place.run),
      path,
      async read() {
        const bytes = await content({ database, conversation, digest })
        return bytes === null ? null : scrubbedBytes(bytes, mediaType, scrub)
      },
    })
  }
  return [...files.values()]
}

/** The most bytes of a name; file systems take 255. */
const longestName = 200

/** A name without what servers and file systems refuse or read as something else. */
function plainName(name: string, id: string): string {
  const plain = name.replace(/[\p{Cc}\p{Cs}#%?*:;"<>|/\\]/gu, '_').replace(/^[. ]+|[. ]+$/g, '_')
  return plain === '' || Buffer.byteLength(plain) > longestName ? id : plain
}
