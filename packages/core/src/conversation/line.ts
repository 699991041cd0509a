/** Lines of the runtime that one agent reads, and no other: what it knows, remembers and plans, and what is wrong with its answer. */
import { attributed, jsonForModel } from '../model/attribution.ts'

/** The words by which a line says what it holds. */
type LineWord = 'knowledge' | 'memory' | 'plan' | 'critique' | 'note'

/** A line for an agent, as its model reads it. */
export function lineFor(agent: string, word: LineWord, value: unknown) {
  const text = attributed('witan', agent, `${word}: ${jsonForModel(value)}`)
  return { author: 'witan', text, isAttributed: true, isScrubbed: true, only: agent } as const
}
