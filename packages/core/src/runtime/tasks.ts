/** The tasks of one principal's database: list, send messages, ask for progress, cancel. */
import { createHash } from 'node:crypto'
import { isWitanError, WitanError } from '@witan/protocol'
import { plainDetail } from '@witan/protocol/entries'
import { taskMessageSchema, taskQuestionSchema } from '@witan/protocol/schemas'
import { ModelCallError } from '../model/model.ts'
import { cancelJob } from '../command/cancel.ts'
import { progressOf, messageTask } from '../command/steer.ts'
import { parseBody } from './body.ts'
import type { TaskControls } from './contract.ts'
import { taskOf } from './jobs.ts'
import { jobRow, reached, refuseForeignCursor } from './reach.ts'
import { errorFor } from './reader-errors.ts'
import type { Scope } from './scope.ts'
import { rowPage } from './page.ts'
import { readLimitOf, readsAll } from '../identity/rights.ts'
import type { Principal } from '../identity/principal.ts'

/** The task methods of one principal; every method waits until the runtime is ready. */
export function taskControls(scope: Scope): TaskControls {
  const { parts, principal, database, ready } = scope
  const refuseForeign = (id: string) => jobRow(scope, id, { kind: 'task', deed: 'own' })
  const admin: TaskControls = {
    async list(options = {}) {
      await ready()
      await refuseForeignCursor(scope, options, async (id) => {
        const task = await parts.store.getJob(database, id)
        return task !== null && (await reached(scope, task.conversation, 'read')) !== null
      })
      const wanted = { live: options.live ?? null, of: readLimitOf(principal) }
      return rowPage(options, (page) => parts.store.listTasks(database, { ...page, ...wanted }), {
        item: (job) => errorFor(principal, taskOf(job)),
        id: ({ id }) => id,
      })
    },
    async get(id) {
      await ready()
      return errorFor(scope.principal, taskOf(await jobRow(scope, id, { kind: 'task', deed: 'read' })))
    },
    async message(id, message, { note } = {}) {
      await ready()
      const { text, mode, timeoutSeconds } = parseBody(taskMessageSchema, message)
      await refuseForeign(id)
      const waitMs = mode === 'send' ? null : timeoutSeconds * 1000
      const from = principal.id.replace(/^user:/, '')
      const key = note === undefined ? parts.env.ids.call() : sameWords(note.key)
      return messageTask(parts, database, { id, from, text, written: false, key, waitMs, note, signal: null })
    },
    async progress(id, question) {
      await ready()
      const signal = new AbortController().signal
      const asked = { id, ...parseBody(taskQuestionSchema, question), signal }
      await refuseForeign(id)
      const { text, asOfSeq } = await progressOf(parts, database, asked).catch((error: unknown) =>
        modelTrouble(principal, error),
      )
      return { text, asOfSeq }
    },
    async cancel(id) {
      await ready()
      await refuseForeign(id)
      await cancelJob(parts, database, { id, kind: 'task', by: principal.id, tasks: true })
    },
  }
  return admin
}

/** A message repeated under one idempotency key is the same message, even if its first reply was lost. */
function sameWords(key: string): string {
  return `k_${createHash('sha256').update(key).digest('base64url')}`
}

function modelTrouble(principal: Principal, error: unknown): never {
  if (isWitanError(error) || !(error instanceof ModelCallError)) throw error
  const hint = 'Try again, or look at the connection.'
  const code = 'MODEL_CALL_FAILED'
  const detail = `The model could not be asked: ${error.message}`
  const shown = readsAll(principal) ? detail : plainDetail({ code, detail })
  throw new WitanError(code, shown, { hint, cause: error })
}
