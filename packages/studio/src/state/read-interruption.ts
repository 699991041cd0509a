/** An interruption out of the event that tells of it. */
import type { Event, Interruption, Question } from '@witan/protocol'
import { isRecord, recordOf, textOf } from './content.ts'

/** Null for a kind that this Studio does not know, or an event that lacks what it needs. */
export function interruptionOf(event: Event): Interruption | null {
  const { content } = event
  const id = textOf(content, 'id')
  if (id === '') return null
  const base = {
    id,
    path: textOf(content, 'path'),
    agent: textOf(content, 'agent'),
    callId: textOf(content, 'callId') || event.callId,
    addressee: textOf(content, 'addressee') || null,
    state: 'open' as const,
    expiresAt: textOf(content, 'expiresAt') || null,
  }
  const args = { ...recordOf(content, 'arguments') }
  switch (event.type) {
    case 'action_required':
      return { ...base, kind: 'action', name: textOf(content, 'name') || 'action', arguments: args }
    case 'approval_required': {
      const digest = textOf(content, 'digest')
      return { ...base, kind: 'approval', tool: textOf(content, 'tool') || 'tool', arguments: args, digest }
    }
    case 'question_required':
      return { ...base, kind: 'question', questions: questionsOf(content.questions) }
    case 'message_required':
      return { ...base, kind: 'message', prompt: textOf(content, 'prompt') }
    case 'policy_required':
      return { ...base, kind: 'policy', issuer: textOf(content, 'issuer'), policy: { ...recordOf(content, 'policy') } }
    default:
      return null
  }
}

/** The tool that waits, and what it was given. */
export function toolOf(open: Interruption): { readonly name: string; readonly arguments: unknown } {
  if (open.kind === 'action') return { name: open.name, arguments: open.arguments }
  if (open.kind === 'approval') return { name: open.tool, arguments: open.arguments }
  return { name: open.path.split('/').at(-1) ?? open.kind, arguments: null }
}

function questionsOf(value: unknown): Question[] {
  if (!Array.isArray(value)) return []
  return value.filter(isRecord).map((one) => ({
    id: textOf(one, 'id'),
    text: textOf(one, 'text'),
    options: (Array.isArray(one.options) ? one.options : [])
      .filter(isRecord)
      .map((option) => ({ id: textOf(option, 'id'), label: textOf(option, 'label') })),
    multiple: one.multiple === true,
    freeText: one.freeText === true,
    required: one.required === true,
  }))
}
