/** Reads what events say of hooks. */
import type { EventOf } from '@witan/protocol'
import type { HookUse } from './conversation-view.ts'
import { text } from './read-value.ts'

const effects: readonly HookUse['effect'][] = ['refused', 'rewritten', 'failed']

/** What a hook decided. */
export function readHook({ seq, at, content }: EventOf<'hook'>, lastSeq: number): HookUse {
  const { hook, at: point, effect, reason } = content
  return {
    seq: seq ?? lastSeq,
    at: text(at),
    hook: text(hook),
    point: text(point),
    effect: effects.find((one) => one === effect) ?? 'failed',
    reason: typeof reason === 'string' ? reason : null,
  }
}
