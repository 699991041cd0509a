/** The answer of a task that has ended well, as it stands in the log here. */
import { usageCountersSchema } from '@witan/protocol/schemas'
import type { NoticeBody } from '@witan/protocol/entries'
import { cutTo } from '../parameter/scrub.ts'
import type { CallArtifacts } from '../tool/artifact.ts'
import { MOST_RESULT_CHARACTERS, result, type ResultOutcome } from '../tool/outcome.ts'
import { partsOf, type RemotePart, type RemoteTask, textOf } from './remote-task.ts'

/** The most characters of a text, or of an output as JSON. */
const most = MOST_RESULT_CHARACTERS

/** The outcome of a task that has ended well. `taken` is how many of the messages for the call it was told. */
export function answerOf(
  task: RemoteTask,
  { taken, trustsUsage }: { readonly taken: number; readonly trustsUsage: boolean },
): ResultOutcome {
  const parts = partsOf(task)
  const [data, ...others] = parts.flatMap((part) => (part.kind === 'data' ? [part.data] : []))
  const output = data === undefined || others.length > 0 || JSON.stringify(data).length > most ? null : data
  const text = cutTo(textOf(parts), most)
  const read = trustsUsage ? usageCountersSchema.safeParse(task.usage) : null
  return { ...result(null), answered: { text, output, taken, usage: read?.success === true ? read.data : null } }
}

/** Stores the files of a task as artifacts of the call. What cannot be stored is left out, and named in `dropped`. */
export async function keepFiles(
  parts: readonly RemotePart[],
  artifacts: CallArtifacts,
  dropped: Set<string>,
): Promise<void> {
  for (const part of parts) {
    if (part.kind !== 'raw') continue
    const { name, mediaType, raw } = part
    try {
      await artifacts.save({ name: name ?? 'file', mediaType, bytes: Buffer.from(raw, 'base64') })
    } catch {
      dropped.add('part.raw')
    }
  }
}

/** What a person reads of fields that are not taken; null for none. */
export function droppedNotice(remote: string, dropped: ReadonlySet<string>): NoticeBody | null {
  if (dropped.size === 0) return null
  const fields = [...dropped]
  const detail = `${remote} sent what it may not set here: ${fields.join(', ')}. It was left out.`
  return { code: 'REMOTE_FIELD_DROPPED', detail, remote, fields }
}
