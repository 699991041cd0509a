/** Reads what events say of memory. */
import type { EventOf } from '@witan/protocol'
import type { MemoryUse } from './conversation-view.ts'
import { number, records, text } from './read-value.ts'

/** Which blocks were read, written or erased. */
export function readMemory({ seq, at, content }: EventOf<'memory'>, lastSeq: number): MemoryUse {
  const { op, agent, scope, subject } = content
  const blocks = records(content.blocks).map(({ key, revision }) => ({
    key: text(key),
    revision: number(revision) ?? 0,
  }))
  return {
    seq: seq ?? lastSeq,
    at: text(at),
    op: op === 'write' || op === 'erase' ? op : 'read',
    agent: text(agent),
    scope: typeof scope === 'string' ? scope : null,
    subject: typeof subject === 'string' ? subject : null,
    blocks,
  }
}
