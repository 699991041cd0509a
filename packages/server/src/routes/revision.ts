/** The revision of an agent or protocol as HTTP has it: an ETag that a change may ask for. */
import { plainTag } from '../encoding.ts'
import { isWitanError, WitanError } from '@witan/protocol'

/** The header of an answer. */
export function etag(revision: number): Record<string, string> {
  return { etag: `"${revision}"` }
}

/** Whether `If-Match` asks for no more than that the agent is there. */
function isAnyRevision(given: string): boolean {
  return given.trim() === '*'
}

/** What an error calls an agent. */
export function agentCalled(id: string): string {
  return `agent \`${id}\``
}

/** Refuses to create what does not exist if `If-Match: *` requires that it exists. */
export async function refuseNew(headers: Headers, called: string, read: () => Promise<unknown>): Promise<void> {
  if (!isAnyRevision(headers.get('if-match') ?? '')) return
  await read().catch((error: unknown) => {
    if (!isWitanError(error) || error.code !== 'NOT_FOUND') throw error
    const hint = 'Leave `If-Match` out to create it.'
    throw new WitanError('REVISION_MISMATCH', `There is no ${called}, and \`If-Match: *\` wants one.`, { hint })
  })
}

/** The revision of `If-Match`, or null without one. What cannot be a revision of ours matches none. */
export function ifMatch(headers: Headers, called: string): number | null {
  const given = headers.get('if-match')
  if (given === null || isAnyRevision(given)) return null
  const revision = /^"(\d{1,15})"$/.exec(plainTag(given.trim()))?.[1]
  if (revision !== undefined) return Number(revision)
  const hint = 'Send the ETag as you read it, such as `"3"`.'
  throw new WitanError('REVISION_MISMATCH', `\`If-Match\` names no revision of ${called}.`, { hint })
}
