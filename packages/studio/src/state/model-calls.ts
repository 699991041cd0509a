/** Model calls in the tree of a run: their rows and their words. */
import type { ConversationView } from '@witan/client'
import type { ModelCallLine } from '@witan/protocol/schemas'
import { formatElapsed, formatNumber } from './format.ts'

/** What a model call is for, in words. */
export const purposes: Readonly<Record<ModelCallLine['purpose'], string>> = {
  answer: 'its answer',
  output: 'the form of its answer',
  summary: 'a summary',
  progress: 'a question of progress',
  critique: 'a critique',
}

/** The id of its row, which stands in the address. */
export function modelRowId({ id, callId }: Pick<ModelCallLine, 'id' | 'callId'>): string {
  return `model-${id === callId ? `of-${callId}` : id}`
}

/** The id of the model call of a row; null for the row of another call. */
export function modelOfRow(row: string | null): string | null {
  if (row === null || !row.startsWith('model-')) return null
  const id = row.slice('model-'.length)
  return id.startsWith('of-') ? id.slice('of-'.length) : id
}

/** The id of the row of a model call that is not read yet. */
export function unreadRowId(callId: string, number: number): string {
  return `unread-${callId}-${number}`
}

/** How many model calls a run has, by its events and by what is read of them. */
export function countModelCalls(
  view: Pick<ConversationView, 'calls'>,
  runId: string,
  { lines, isPart }: { readonly lines: readonly ModelCallLine[]; readonly isPart: boolean },
): number {
  if (!isPart) return lines.length
  let told = 0
  for (const call of view.calls.values()) if (call.rootCallId === runId) told += call.modelCalls
  return Math.max(told, lines.length)
}

/** They by the calls of their agents. */
export function modelsByCall(lines: readonly ModelCallLine[]): ReadonlyMap<string, readonly ModelCallLine[]> {
  const byCall = new Map<string, ModelCallLine[]>()
  for (const line of lines) {
    const known = byCall.get(line.callId)
    if (known === undefined) byCall.set(line.callId, [line])
    else known.push(line)
  }
  return byCall
}

/** How long it took or has been going on, in ms. */
export function modelMs({ startedAt, endedAt }: ModelCallLine, nowMs: number): number {
  if (startedAt === null) return 0
  return Math.max(0, (endedAt === null ? nowMs : Date.parse(endedAt)) - Date.parse(startedAt))
}

/** `Model call 2, local/big, 100 tokens, 1.2 s`. */
export function modelWords(line: ModelCallLine, nowMs: number): string {
  const { number, model, usage, status, error } = line
  const tokens = usage === null ? [] : [`${formatNumber((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0))} tokens`]
  const end = status === 'failed' ? [`failed: ${error?.code ?? 'unknown'}`] : status === 'running' ? ['running'] : []
  return [`Model call ${number}`, model, ...tokens, formatElapsed(modelMs(line, nowMs)), ...end].join(', ')
}
