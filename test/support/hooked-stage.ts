/** A stage on which the hooks of one name are asked, and what they left in its events. */
import { defineHooks, defineTool, type HooksDefinition, type ModelRequest } from '@witan/core'
import { call, type Rule, type ScriptedAnswer } from '@witan/core/testing'
import type { AnyEvent } from '@witan/protocol'
import { z } from 'zod'
import { type AgentDraft, createStage, type Play, type Stage } from './stage.ts'

/** The amounts that the tool `pay` was called with on the last stage. */
export const paid: number[] = []

export const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  parameters: z.object({ amount: z.number() }),
  execute: ({ amount }) => {
    paid.push(amount)
    return { paid: amount }
  },
})

/** One answer after the other, whoever has spoken last. */
export function inTurn(...answers: readonly ScriptedAnswer[]): Rule {
  let at = 0
  return () => answers[at++]
}

/** A stage with the tool `pay` and hooks named `audit`. */
export function hookedStage(
  hooks: Omit<HooksDefinition, 'name'>,
  agents: readonly AgentDraft[] = [{ id: 'root', tools: ['pay'] }],
  plays: Readonly<Record<string, Play>> = {},
): Stage {
  paid.length = 0
  return createStage({ agents, plays, options: { tools: [pay], hooks: [defineHooks({ name: 'audit', ...hooks })] } })
}

/** What the hooks decided, as events show it. */
export const decided = (events: readonly AnyEvent[]) =>
  events.flatMap(({ type, content, agentPath }) => {
    const { hook, at, effect, reason } = content as Readonly<Record<'hook' | 'at' | 'effect' | 'reason', unknown>>
    return type === 'hook' ? [{ hook, at, effect, reason, of: agentPath }] : []
  })

/** A model that pays once and is done. */
export const paying = (amount = 5): readonly ScriptedAnswer[] => [call('pay', { amount }), 'Done.']

/** The last words that a model read in a request. */
export const lastRead = ({ messages }: ModelRequest): string => String(messages.at(-1)?.content)
