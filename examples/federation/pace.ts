/** A scripted model that takes a moment, so that the tree can be watched while it grows. `FEDERATION_PACE_MS=0` is for tests. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Model } from '@witan/core'
import { type Rule, scriptedModel } from '@witan/core/testing'

const paceMs = Number(process.env['FEDERATION_PACE_MS'] ?? 400)

export function played(agent: string, rule: Rule): Model {
  const paced: Rule = async (request, turn) => {
    const answer = await rule(request, turn)
    if (answer === undefined || answer instanceof Error) return answer
    return typeof answer === 'string' ? { text: answer, delayMs: paceMs } : { delayMs: paceMs, ...answer }
  }
  return scriptedModel(paced, { id: `script/${agent}`, sleep: (ms, signal) => sleep(ms, undefined, { signal }) })
}
