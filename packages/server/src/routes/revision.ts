/** The revision of an agent as HTTP has it: an ETag that a change may ask for. */
import type { Witan } from '@witan/core'
import { isWitanError, WitanError } from '@witan/protocol'

/** The header of an answer. */
export function etag(revision: number): Record<string, string> {
  return { etag: `"${revision}"` }
}

/** Whether `If-Match` asks for no more than that the agent is there. */
function isAnyRevision(given: string): boolean {
  return given.trim() === '*'
}

/** Refuses to create an agent if `If-Match: *` requires that it exists. */
export async function refuseNew(call: { readonly headers: Headers; readonly witan: Witan }, id: string): Promise<void> {
  if (!isAnyRevision(call.headers.get('if-match') ?? '')) return
  await call.witan.agents.get(id).catch((error: unknown) => {
    if (!isWitanError(error) || error.code !== 'NOT_FOUND') throw error
    const hint = 'Leave `If-Match` out to create it.'
    throw new WitanError('REVISION_MISMATCH', `There is no agent \`${id}\`, and \`If-Match: *\` wants one.`, { hint })
  })
}

/** The revision of `If-Match`, or null without one. What cannot be a revision of ours matches none. */
export function ifMatch(headers: Headers, id: string): number | null {
  const given = headers.get('if-match')
  if (given === null || isAnyRevision(given)) return null
  const revision = /^\s*"(\d{1,15})"\s*$/.exec(given)?.[1]
  if (revision !== undefined) return Number(revision)
  const hint = 'Send the ETag of the agent as you read it, such as `"3"`.'
  throw new WitanError('REVISION_MISMATCH', `\`If-Match\` names no revision of agent \`${id}\`.`, { hint })
}
