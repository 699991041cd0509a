/** Submitted definitions: parsed, and the errors that a save and a check share. */
import { type AgentData, WitanError } from '@witan/protocol'
import { withoutStoredBase } from '@witan/protocol/knowledge'
import { withoutStored } from '@witan/protocol/schemas'
import type { Pausable } from '../../identity/pausable.ts'
import { readingOnce } from '../../identity/read-once.ts'
import { parsingAgent } from '../parse.ts'
import type { PatternAllowance } from '../../model/pattern.ts'
import { type ReadBase, readingBase } from '../knowledge/parse-base.ts'
import { type ReadProtocol, readingOf } from '../protocol/parse-protocol.ts'

/** Reads a submitted agent in pieces. Fields that a read adds are ignored. */
export function* readAgent(input: unknown): Pausable<AgentData> {
  return yield* parsingAgent(yield* readingOnce(withoutStored(input)))
}

/** Reads a submitted protocol in pieces, in the same way. */
export function* readProtocol(input: unknown, patterns: PatternAllowance): Pausable<ReadProtocol> {
  return yield* readingOf(yield* readingOnce(withoutStored(input)), patterns)
}

/** Reads a submitted knowledge base in pieces, in the same way. */
export function* readBase(input: unknown): Pausable<ReadBase> {
  return yield* readingBase(yield* readingOnce(withoutStoredBase(input)))
}

/** A definition of a batch. */
export interface Listed {
  readonly name: string
  readonly what: string
  readonly path: string
}

/** The error for a definition that a batch has twice. */
export function doubleError({ name, what, path }: Listed): WitanError {
  return new WitanError('NAME_TAKEN', `${what} \`${name}\` is in the batch twice.`, {
    path,
    hint: `Send each ${what.toLowerCase()} once.`,
  })
}

/** The error for a change of a definition that is at another revision. */
export function staleError(called: string, at: number, expected: number): WitanError {
  const hint = 'Read it again and repeat the change.'
  return new WitanError('REVISION_MISMATCH', `${called} is at revision ${at}, not ${expected}.`, { hint })
}
