/** The revision of an agent as HTTP has it: an ETag that a change may ask for. */
import { WitanError } from '@witan/protocol'

/** The header of an answer. */
export function etag(revision: number): Record<string, string> {
  return { etag: `"${revision}"` }
}

/** The revision of `If-Match`, or null without one. What cannot be a revision of ours matches none. */
export function ifMatch(headers: Headers, id: string): number | null {
  const given = headers.get('if-match')
  if (given === null || given.trim() === '*') return null
  const revision = /^\s*"(\d{1,15})"\s*$/.exec(given)?.[1]
  if (revision !== undefined) return Number(revision)
  const hint = 'Send the ETag of the agent as you read it, such as `"3"`.'
  throw new WitanError('REVISION_MISMATCH', `\`If-Match\` names no revision of agent \`${id}\`.`, { hint })
}
