/** The answer of a task that has ended well, as it stands in the log here. */
import { isWitanError } from '@witan/protocol'
import { emptyCounters, type NoticeBody } from '@witan/protocol/entries'
import { jsonLength } from '../identity/json-length.ts'
import { cutTo } from '../parameter/scrub.ts'
import type { CallArtifacts } from '../tool/artifact.ts'
import { MOST_RESULT_CHARACTERS, result, type ResultOutcome } from '../tool/outcome.ts'
import { partsOf, type RemotePart, type RemoteTask, textOf } from './remote-task.ts'

/** The most characters of a text, or of an output as JSON. */
const most = MOST_RESULT_CHARACTERS

/** The outcome of a task that has ended well. `taken` is how many of the messages for the call it was told; `isCounted`: what it cost stands in the log. */
export function answerOf(
  task: RemoteTask,
  { taken, isCounted }: { readonly taken: number; readonly isCounted: boolean },
): ResultOutcome {
  const parts = partsOf(task)
  const [data, ...others] = parts.flatMap((part) => (part.kind === 'data' ? [part.data] : []))
  const output = data === undefined || others.length > 0 || isLong(data) ? null : data
  const text = cutTo(textOf(parts), most)
  return { ...result(null), answered: { text, output, taken, usage: isCounted ? emptyCounters() : null } }
}

/** The most files of one task that are stored. */
const mostFiles = 100

/** Long values are not written: that alone would take long. */
function isLong(data: unknown): boolean {
  return jsonLength(data, most) > most || JSON.stringify(data).length > most
}

/** Stores the files of a task as artifacts of the call. What cannot be stored, and what is over 100 files, is left out and named in `dropped`. */
export async function keepFiles(
  parts: readonly RemotePart[],
  artifacts: CallArtifacts,
  dropped: Set<string>,
): Promise<void> {
  const files = parts.flatMap((part) => (part.kind === 'raw' ? [part] : []))
  if (files.length > mostFiles) dropped.add('part.raw')
  for (const { name, mediaType, raw } of files.slice(0, mostFiles)) {
    try {
      await artifacts.save({ name: name ?? 'file', mediaType, bytes: Buffer.from(raw, 'base64') })
    } catch (error) {
      if (!isWitanError(error) || !unfit.has(error.code)) throw error
      dropped.add('part.raw')
    }
  }
}

/** What is wrong with a file itself. Anything else is a fault of ours. */
const unfit: ReadonlySet<string> = new Set(['ARTIFACT_TOO_LARGE', 'BODY_INVALID'])

/** What a person reads of fields that are not taken; null for none. */
export function droppedNotice(remote: string, dropped: ReadonlySet<string>): NoticeBody | null {
  if (dropped.size === 0) return null
  const fields = [...dropped]
  const detail = `${remote} sent what it may not set here: ${fields.join(', ')}. It was left out.`
  return { code: 'REMOTE_FIELD_DROPPED', detail, remote, fields }
}
