/** Adds a person's message to a live run. */
import { WitanError } from '@witan/protocol'
import type { ToolMode } from '@witan/protocol/entries'
import type { ConversationLog } from '../conversation/log.ts'
import { type Accepted, type CommandContext, type Message, messageEntry, refusedError } from './accept.ts'
import { commandEntry, deliver, follow, settlement } from './deliver.ts'
import { readersOf, storableText } from './redact.ts'

/** Adds a prompt to the live run, which reads it at its next step [D12]. Null if the run has ended: the caller then starts a new one. */
export async function joinRun(
  context: CommandContext,
  log: ConversationLog,
  message: Message & { readonly cancelPendingActions: boolean; readonly toolMode: ToolMode | null },
): Promise<Accepted | null> {
  await log.catchUp()
  const { run } = log.state
  if (run === null) return null
  if (message.toolMode !== null && message.toolMode !== run.root.toolMode) throw otherMode(run.root.toolMode)
  const waiting = [...run.toolCalls.values()].flatMap((toolCall) =>
    toolCall.interruptions.flatMap(({ kind, id, path }) => (kind === 'action' ? [{ toolCall, id, path }] : [])),
  )
  if (waiting.length > 0 && !message.cancelPendingActions) {
    throw new WitanError(
      'ACTIONS_PENDING',
      `${waiting.length === 1 ? 'An action waits' : `${waiting.length} actions wait`} for an answer: ${waiting.map(({ path }) => `\`${path}\``).join(', ')}.`,
      {
        hint: 'Send actionResponses, or cancelPendingActions: true to close them.',
      },
    )
  }
  const clean = storableText(context.env, message.text, readersOf(run.root))
  const { text, notices } = clean === null ? { text: message.text, notices: [] } : await clean
  const { place } = run.root
  const at = context.env.clock.now()
  const closed = waiting.map((one) => settlement(context, one, { state: 'cancelled', answer: null, by: null }))
  const entries = [
    ...closed.map((one) => one.entry),
    messageEntry(context.env, { ...message, text }, { place, at, job: place.call }),
    ...notices.map((body) => commandEntry(context, { place, job: place.call }, { type: 'notice', kind: null, body })),
  ]
  const { ifLastSeq, note, files } = message
  const delivery = {
    note: note && { ...note, text: run.root.place.call },
    jobs: [run.root.place.call],
    settle: closed.map((one) => one.settle),
    messageAt: at,
    ifLastSeq,
    ...(files === undefined ? {} : { contents: files }),
  }
  const result = await deliver(context, log, () => ({ ...delivery, entries }))
  if (result.ok) return follow(context, log, result)
  if (result.reason === 'inactive') return null
  throw await refusedError(log, result.reason, message)
}

/** A run keeps the tool mode with which it began; a message for the live run cannot change it. */
function otherMode(mode: ToolMode): WitanError {
  return new WitanError('RUN_ACTIVE', `A run is active, and its tool mode is \`${mode}\`.`, {
    path: 'toolMode',
    hint: 'Leave `toolMode` out, wait for the end of the run, or send `onActive: "interrupt"`.',
  })
}
