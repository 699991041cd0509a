/** Reads an interruption from its event. */
import type { Event, Interruption, InterruptionKind, Question } from '@witan/protocol'
import type { OutsideCaller } from '@witan/protocol/schemas'
import { isRecord, number, records, text } from './read-value.ts'

/** The events that open an interruption. */
export type RequiredEvent = Extract<Event, { readonly type: `${InterruptionKind}_required` }>

/** Null for an event that has no id. */
export function readInterruption(event: RequiredEvent): Interruption | null {
  const { content } = event
  if (text(content.id) === '') return null
  const caller = readCaller(content.caller)
  const base = {
    id: content.id,
    path: text(content.path),
    agent: text(content.agent),
    callId: text(content.callId) || event.callId,
    addressee: text(content.addressee) || null,
    state: 'open' as const,
    expiresAt: text(content.expiresAt) || null,
    ...(caller === null ? {} : { caller }),
  }
  switch (event.type) {
    case 'action_required': {
      const { name, arguments: given } = event.content
      return { ...base, kind: 'action', name: text(name) || 'action', arguments: copyOf(given) }
    }
    case 'approval_required': {
      const { tool, arguments: given, digest } = event.content
      return { ...base, kind: 'approval', tool: text(tool) || 'tool', arguments: copyOf(given), digest: text(digest) }
    }
    case 'question_required': {
      const { questions, server, message } = event.content
      const asked = text(server) === '' ? {} : { server: text(server), message: text(message) }
      return { ...base, kind: 'question', questions: records(questions).map(readQuestion), ...asked }
    }
    case 'message_required':
      return { ...base, kind: 'message', prompt: text(event.content.prompt) }
    case 'policy_required':
      return { ...base, kind: 'policy', issuer: text(event.content.issuer), policy: copyOf(event.content.policy) }
  }
}

/** Who called from another server; null for a value that names nobody. */
export function readCaller(given: unknown): OutsideCaller | null {
  if (!isRecord(given) || text(given.address) === '') return null
  const onBehalfOf = Array.isArray(given.onBehalfOf) ? given.onBehalfOf.map(text).filter((one) => one !== '') : []
  const known = { address: text(given.address), hop: number(given.hop) }
  return onBehalfOf.length === 0 ? known : { ...known, onBehalfOf }
}

/** The tool that waits, and its arguments. */
export function waitingTool(open: Interruption): { readonly name: string; readonly arguments: unknown } {
  if (open.kind === 'action') return { name: open.name, arguments: open.arguments }
  if (open.kind === 'approval') return { name: open.tool, arguments: open.arguments }
  return { name: open.path.split('/').at(-1) ?? open.kind, arguments: null }
}

function copyOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? { ...value } : {}
}

function readQuestion(one: Readonly<Record<string, unknown>>): Question {
  return {
    id: text(one.id),
    text: text(one.text),
    options: records(one.options).map((option) => ({ id: text(option.id), label: text(option.label) })),
    multiple: one.multiple === true,
    freeText: one.freeText === true,
    required: one.required === true,
  }
}
