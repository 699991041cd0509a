/** Starts conversations, with or without a first message, and deletes them. */
import { conversationRequestSchema, markChecked } from '@witan/protocol/schemas'
import { acceptFirst, refusalError } from '../command/accept.ts'
import { channelOf } from '../identity/channel.ts'
import { selfOf } from './author.ts'
import { parseBody } from './body.ts'
import type { NoteOption, OpenedConversation } from './contract.ts'
import { holdValues, holdUsers } from './repeated-values.ts'
import { filesIn, storeFiles, textOf } from './prompt.ts'
import { interrupt, ignoreEnded, presented, say, sayDefaults } from './runs.ts'
import type { Scope } from './scope.ts'
import { newConversation } from './new-conversation.ts'
import { startingRows } from '../conversation/participant-rows.ts'
import { taskControls } from './tasks.ts'
import { conversationRow } from './reach.ts'
import { showConversation } from './views.ts'

/** Starts a conversation, or continues the one with that id. Throws if the body, the agent or the parameters are refused. */
export async function startConversation(scope: Scope, body: unknown, noting: NoteOption): Promise<OpenedConversation> {
  const { parts, database } = scope
  const request = parseBody(conversationRequestSchema, body)
  await parts.registry.ensure(database)
  const { row, exists } = await newConversation(scope, request)
  const { id, agent } = row
  const prompt = request.prompt
  if (exists) {
    await holdUsers(scope, row, request.users)
    await holdValues(scope, row, request.parameters)
    if (prompt === undefined) {
      await parts.store.confirmStored(database)
      return { id, agent, created: false, run: null }
    }
    const self = { ...selfOf(scope), by: scope.principal }
    const said = { ...sayDefaults, ...self, ...noting, ...filesIn(prompt), text: textOf(prompt) }
    const run = await say(scope, id, said)
    return { id, agent, created: false, run }
  }
  if (prompt === undefined) {
    const stored = await parts.store.append({
      database,
      conversation: id,
      create: row,
      ...startingRows(row),
      entries: [],
      ...(noting.note === undefined ? {} : { note: { ...noting.note, text: id } }),
    })
    if (!stored.ok && stored.reason !== 'exists') throw refusalError(stored.reason, id)
    if (!stored.ok) return startConversation(scope, markChecked(conversationRequestSchema, request), noting)
    parts.warm.drop(database, id) // an expired one may have had this id
    return { id, agent, created: true, run: null }
  }
  const { sent } = filesIn(prompt)
  const message = { ...sayDefaults, ...selfOf(scope), ...noting, by: scope.principal, text: textOf(prompt) }
  const whole = sent === undefined ? message : { ...message, files: await storeFiles(scope, agent, sent) }
  const accepted = await acceptFirst(parts, row, whole)
  if (accepted === null) return startConversation(scope, markChecked(conversationRequestSchema, request), noting)
  return { id, agent, created: true, run: presented(scope, accepted) }
}

/** Deletes a conversation and cancels its active work. Throws `NOT_FOUND`. */
export async function deleteConversation(scope: Scope, id: string): Promise<void> {
  const { parts, database } = scope
  const { activeRunId, tasks } = await showConversation(scope, await conversationRow(scope, id, 'own'))
  const admin = taskControls(scope)
  if (activeRunId !== null) await interrupt(scope, activeRunId, { tasks: true })
  for (const { taskId } of tasks) await admin.cancel(taskId).catch(ignoreEnded)
  await parts.store.deleteConversation(database, id)
  parts.warm.drop(database, id)
  parts.hub.gone(channelOf(database, id))
}
